# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The software iWARP driver, which Debian's kernels do not have built: built
# here from the release's kernel source for the release's kernel. Sourced by
# distro.sh.

# distro_siw_module RELEASE: prints the path of siw.ko for the kernel of
# distro_kernel RELEASE.
distro_siw_module() {
    local release=$1 dir kernel version tree
    dir=$(_debian_dir "$release") || return 1
    kernel=$(distro_kernel "$release") || return 1
    version=$(<"$kernel/version")
    tree=$dir/trees/siw-$version
    if ! _debian_tree_whole "$tree"; then
        (
            if ! flock -n 9; then
                distro_say "another process is building siw for $version, waiting for it"
                flock 9
            fi
            _debian_tree_whole "$tree" || _debian_siw_build "$release" "$dir" "$version" "$tree"
        ) 9>"$dir/siw.lock" || return 1
    fi
    printf '%s\n' "$tree/siw.ko"
}

_debian_siw_build() {
    local release=$1 dir=$2 version=$3 tree=$4 work=$4.new headers common
    local source=linux-source-${version%%-*} packages=()
    # 6.1.0 of 6.1.0-50-amd64 is 6.1 to the source package.
    [[ $source =~ ^(linux-source-[0-9]+\.[0-9]+) ]] && source=${BASH_REMATCH[1]}
    rm -rf "$tree" "$tree.stamp" "$work" || return 1
    mkdir -p "$work/headers" "$work/source" || return 1
    # The lock of what fetches; the building below needs no turn at it.
    (
        flock 9
        _debian_configure "$release" "$dir" || exit 1
        compgen -G "$dir/lists/*Packages*" >/dev/null || _debian_update "$release" "$dir" || exit 1
        read -r -d '' -a packages < <(_debian_depends "$dir" "linux-headers-$version" '^linux-(headers|kbuild)-') || true
        if ((${#packages[@]} < 2)); then
            distro_say "Debian $release has no headers of the kernel $version any more: remove $dir from the cache to have its current kernel"
            exit 1
        fi
        _debian_fetch "$release" "$dir" "linux-headers-$version" "${packages[@]}" >"$work/headers.debs" &&
            _debian_fetch "$release" "$dir" "$source" >"$work/source.deb"
    ) 9>"$dir/lock" || return 1
    distro_say "building siw for $version"
    if ! _debian_siw_unpack "$work" "$source" >"$work/log" 2>&1; then
        distro_say "cannot unpack the source of siw: $(tail -n 1 "$work/log")"
        return 1
    fi
    headers=$work/headers/usr/src/linux-headers-$version
    common=$(echo "$work"/headers/usr/src/linux-headers-*-common)
    # Named by -f, as the Makefile in the headers names it where it would be if
    # it were installed. CC: it names the very compiler of the kernel.
    if ! make -s -C "$headers" -f "$common/Makefile" M="$work/source" CC=gcc CONFIG_RDMA_SIW=m modules >"$dir/siw.log" 2>&1 ||
        ! strip --strip-debug "$work/source/siw.ko" 2>>"$dir/siw.log"; then
        distro_say "cannot build siw for $version: $(grep -m 1 -iE 'error|not found' "$dir/siw.log" || tail -n 1 "$dir/siw.log") (more: $dir/siw.log)"
        return 1
    fi
    mkdir "$work/tree" && mv "$work/source/siw.ko" "$work/tree/" &&
        _debian_tree_stamp "$work/tree" >"$tree.stamp" && mv "$work/tree" "$tree" && rm -rf "$work"
}

# Of the source, all of which is more than a gigabyte, no more than is needed.
_debian_siw_unpack() {
    local work=$1 source=$2 deb debs
    mapfile -t debs <"$work/headers.debs"
    for deb in "${debs[@]}"; do dpkg-deb -x "$deb" "$work/headers" || return 1; done
    dpkg-deb --fsys-tarfile "$(<"$work/source.deb")" | tar -xO "./usr/src/$source.tar.xz" | xz -dc |
        tar -x -C "$work/source" --strip-components=5 --wildcards '*/drivers/infiniband/sw/siw/*'
}
