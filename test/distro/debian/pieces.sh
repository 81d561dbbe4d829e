# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Pieces of other releases that tests are built with, by what they are and not
# by the packages that have them. Sourced by distro.sh.

# distro_kernel_headers RELEASE: prints the directory to include <rdma/...> of
# the release's kernel from.
distro_kernel_headers() {
    local tree
    tree=$(distro_unpack "$1" linux-libc-dev) || return 1
    for tree in "$tree/usr/include" "$tree"/usr/*/include; do
        if [[ -r $tree/rdma/rdma_user_cm.h ]]; then
            printf '%s\n' "$tree"
            return 0
        fi
    done
    distro_say "linux-libc-dev of Debian $1 has no rdma/rdma_user_cm.h"
    return 1
}

# distro_catch2_3: prints the root of an unpacked Catch2 3, whose headers are in
# usr/include and whose archives are in usr/lib.
distro_catch2_3() { distro_unpack trixie libcatch2-dev; }
