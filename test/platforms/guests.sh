# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # top, here, dir and jobs are of platforms, which sources this and built.sh
#
# Platforms that want the kernel: what was built for them, in a virtual machine.

in_vm() { part 'the machine' "$top/test/vm/vm" --timeout "${QPATTR_VM_TIMEOUT:-2000}" "$@"; }

# Programs of 32 bits on the kernel of 64 bits, laid over the guest's root.
guest() {
    local release=$1 architecture=$2 compiler=$3 root
    prepare "$release" "$architecture" "$compiler" guest-programs
    root=$(distro_rdma_root "$release:$architecture")
    in_vm --release "$release" -- "$here/guest" "$root" "$dir"
    printf 'not run - valgrind, whose package is of one architecture\n'
}

# The objects that the oldest release's compiler and C library made, in the user space
# of each release: its C library, librdmacm and rping.
userlands() {
    local release=$1 architecture=$2 compiler=$3 each root roots=()
    prepare "$release" "$architecture" "$compiler" products -Dconformance=disabled -Dtool=disabled
    "$tools/bin/cc" -I"$top/include" "$top/test/abi/static_handle.c" "$dir/lib/libqpattr.so" -Wl,-rpath,/opt -o "$dir/shared_handle"
    wants_old_glibc "$release"
    for each in bullseye bookworm trixie sid; do
        root=$(distro_userland "$each")
        roots+=("$each=$root")
    done
    in_vm -- "$here/userland-guest" "$dir" "${roots[@]}"
}

# Static programs with another C library, by the machine's own compilers.
musl() {
    local loader=(/lib/ld-musl-*.so.1)
    printf 'compiler: gcc %s\nlibc: musl %s\n' "$(gcc -dumpfullversion)" \
        "$("${loader[0]}" 2>&1 | sed -n 's/^Version //p')"
    [[ -f $dir/build.ninja ]] ||
        meson setup "$dir" "$top" -Ddebug=false -Dtests=disabled -Dtool=disabled -Dconformance=disabled
    ninja -C "$dir" -j "$jobs"
    part 'the static programs' "$top/test/abi/static" "$dir" "$top"
    printf 'not run - the connection manager and the unit tests: Debian has no libibverbs and no C++ library for musl\n'
}
