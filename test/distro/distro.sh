# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The one door to whatever differs between distributions. Sourced, never run.
# It picks a directory beside it by /etc/os-release and sources the distro.sh
# in there; README.md lists the functions that one must define.
#
# Whoever sources this has 'set -euo pipefail' on. A function that fails has
# said why, in one line on the standard error, and returns non-zero.

_distro_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Whoever sources this names itself, so that a message tells who speaks.
distro_say() { printf '%s: %s\n' "${QPATTR_TOOL:-run}" "$*" >&2; }

# The directory for downloads and for what is made from them. It is outside
# the tree: a fresh clone must not fetch a kernel again.
distro_cache() {
    local dir=${QPATTR_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/qpattr}
    if [[ $dir != /* ]]; then
        distro_say "the cache directory '$dir' is not an absolute path: set QPATTR_CACHE"
        return 1
    fi
    if ! mkdir -p "$dir" 2>/dev/null || [[ ! -w $dir ]]; then
        distro_say "cannot write to the cache directory '$dir': set QPATTR_CACHE to one that can be written"
        return 1
    fi
    printf '%s\n' "$dir"
}

# Every name that this machine's distribution goes by, its own first.
_distro_names() {
    local file=${QPATTR_OS_RELEASE:-/etc/os-release}
    [[ -r $file ]] || return 0
    # os-release is shell syntax by its specification; the subshell keeps its
    # many variables to itself.
    (
        ID='' ID_LIKE=''
        # shellcheck disable=SC1090
        . "$file"
        printf '%s\n' "$ID"
        # shellcheck disable=SC2086 # a list of words
        printf '%s\n' $ID_LIKE
    )
}

_distro_choose() {
    local names name
    names=$(_distro_names)
    for name in $names; do
        if [[ -r $_distro_here/$name/distro.sh ]]; then
            printf '%s\n' "$_distro_here/$name/distro.sh"
            return 0
        fi
    done
    name=${names%%$'\n'*}
    distro_say "no support for distribution '${name:-unknown}': install the programs listed in test/distro/README.md by hand and set QPATTR_SKIP_SETUP=1, or add a directory for it there"
    return 1
}

# shellcheck source=test/distro/glibc.sh
. "$_distro_here/glibc.sh"
_distro_file=$(_distro_choose) || return 1
# shellcheck source=test/distro/debian/distro.sh
. "$_distro_file"
