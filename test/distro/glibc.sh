# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Which glibc a file is. To be sourced.

# glibc_version FILE...: as '2.36', of the last of the C libraries; nothing where none is one.
glibc_version() {
    LC_ALL=C grep -aohE 'GNU C Library .* release version [0-9.]+[0-9]' "$@" 2>/dev/null | sed -n '$s/.* //p'
}
