# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Debian: packages of this machine. fetch.sh has the packages of any release,
# unpacked into the cache. Sourced by ../distro.sh.

_debian_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=test/distro/debian/fetch.sh
. "$_debian_here/fetch.sh"
# shellcheck source=test/distro/debian/pieces.sh
. "$_debian_here/pieces.sh"
# shellcheck source=test/distro/debian/rdma.sh
. "$_debian_here/rdma.sh"
# shellcheck source=test/distro/debian/siw.sh
. "$_debian_here/siw.sh"
# shellcheck source=test/distro/debian/toolchain.sh
. "$_debian_here/toolchain.sh"

# The release that this machine runs.
distro_release() {
    # shellcheck disable=SC1091
    (VERSION_CODENAME='' && . /etc/os-release && printf '%s\n' "${VERSION_CODENAME:-sid}")
}

_debian_wanted() { awk '!/^#/ && NF { print $1 }' "$_debian_here/packages.txt"; }

# Prints the packages of packages.txt that are not installed, one a line.
distro_missing() {
    local wanted have
    wanted=$(_debian_wanted) || return 1
    # dpkg-query fails when it knows nothing of a name: that is an answer here.
    # shellcheck disable=SC2016,SC2086
    have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
        awk '$1 == "installed" { print $2 }') || true
    awk 'NR == FNR { have[$1]; next } !($1 in have)' <(printf '%s\n' "$have") <(printf '%s\n' "$wanted")
}

# Installs what distro_missing names. A no-op when it names nothing.
distro_install() {
    local missing log cache status=0
    missing=$(distro_missing) || return 1
    [[ -n $missing ]] || return 0
    missing=${missing//$'\n'/ }
    if (($(id -u) != 0)); then
        distro_say "packages are missing and only root can install them: apt-get install $missing"
        return 1
    fi
    cache=$(distro_cache) || return 1
    log=$cache/apt-install.log
    distro_say "installing: $missing"
    (
        if ! flock -n 9; then
            distro_say "another process is installing packages, waiting for it"
            flock 9
        fi
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086 # a list of names
        _debian_apt_install $missing >"$log" 2>&1 && exit 0
        # The lists may be absent, or name files that the mirror has replaced.
        apt-get -q -o APT::Update::Error-Mode=any update >>"$log" 2>&1 || exit 2
        # shellcheck disable=SC2086
        _debian_apt_install $missing >>"$log" 2>&1 || exit 3
    ) 9>"$cache/apt-install.lock" || status=$?
    case $status in
    0) ;;
    2)
        distro_say "cannot install '$missing': no network, or the mirror in this machine's apt sources does not answer (apt's words: $log)"
        return 1
        ;;
    *)
        distro_say "apt-get install failed for '$missing' (apt's words: $log)"
        return 1
        ;;
    esac
}

_debian_apt_install() {
    # Lock::Timeout: an unattended upgrade may hold dpkg's lock for a while.
    apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "$@" </dev/null
}
