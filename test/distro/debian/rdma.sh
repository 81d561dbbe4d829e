# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # _debian_here is of distro.sh, which sources this
#
# The RDMA stack of a release in user space, laid out so that it can lie over
# this machine's root. Sourced by distro.sh.

# distro_rdma_root RELEASE[:ARCHITECTURE]: prints a directory with the release's
# librdmacm, libibverbs, the drivers of the software devices, and rdmacm-utils. Where
# the release's C library is newer than this machine's, that and libnl come along;
# an older one stays out, as what was built here would not run with it. With another
# architecture all that it needs comes along.
distro_rdma_root() {
    local release=$1 dir packages=() libc tree root
    dir=$(_debian_dir "$release") || return 1
    if [[ ! -s $dir/rdma-packages ]]; then _debian_rdma_packages "$release" "$dir" || return 1; fi
    read -r -a packages <"$dir/rdma-packages"
    libc=$(distro_unpack "$release" libc6) || return 1
    root=$dir/trees/rdma-root
    if [[ $release == *:* ]]; then packages+=(libstdc++6 libgcc-s1); fi
    if [[ $release == *:* ]] || _debian_libc_is_newer "$libc"; then
        packages+=(libc6 libnl-3-200 libnl-route-3-200)
        root+=-with-libc
    fi
    if ! _debian_tree_whole "$root"; then
        tree=$(distro_unpack "$release" "${packages[@]}") || return 1
        (
            flock 9
            _debian_tree_whole "$root" || _debian_rdma_lay_out "$release" "$tree" "$root"
        ) 9>"$dir/rdma-root.lock" || return 1
    fi
    printf '%s\n' "$root"
}

# librdmacm's package has another name since times have 64 bits; what depends on
# it tells.
_debian_rdma_packages() {
    local release=$1 dir=$2 library
    (
        flock 9
        _debian_configure "$release" "$dir" || exit 1
        compgen -G "$dir/lists/*Packages*" >/dev/null || _debian_update "$release" "$dir" || exit 1
        library=$(_debian_depends "$dir" rdmacm-utils '^librdmacm1' | head -n 1) || true
        if [[ -z $library ]]; then
            distro_say "Debian $release has no rdmacm-utils (apt's words: $dir/apt.log)"
            exit 1
        fi
        printf '%s\n' "$library libibverbs1 ibverbs-providers rdmacm-utils" >"$dir/rdma-packages.new"
        mv "$dir/rdma-packages.new" "$dir/rdma-packages"
    ) 9>"$dir/lock"
}

# The C library of the tree and the machine's, by the versions they say.
_debian_libc_is_newer() {
    local theirs ours
    theirs=$(glibc_version "$1"/lib/*/libc.so.6 "$1"/usr/lib/*/libc.so.6) || true
    # 'glibc 2.36'; another C library than that has no such version.
    ours=$(getconf GNU_LIBC_VERSION 2>/dev/null) || return 1
    [[ -n $theirs ]] && dpkg --compare-versions "$theirs" gt "${ours##* }"
}

# All under usr/, where /lib is a link: a directory lib/ would hide that link.
_debian_rdma_lay_out() {
    local release=$1 tree=$2 root=$3 new=$3.new from to
    rm -rf "$root" "$root.stamp" "$new" || return 1
    mkdir -p "$new/usr" "$new/etc/libibverbs.d" || return 1
    cp -a "$tree/usr/bin" "$new/usr/" || return 1
    for from in "$tree"/lib/*-linux-gnu "$tree"/usr/lib/*-linux-gnu; do
        [[ -d $from ]] || continue
        to=$new/usr/lib/${from##*/}
        mkdir -p "$to" && find "$from" -maxdepth 1 -name '*.so*' -exec cp -a {} "$to" \; || return 1
    done
    # The one at a place of its own, by which programs name it.
    for from in "$tree"/lib/ld-linux*.so*; do
        [[ ! -L $from ]] || cp -a "$from" "$new/usr/lib/" || return 1
    done
    mkdir "$to/libibverbs" || return 1
    if ! cp -a "$tree"/etc/libibverbs.d/{rxe,siw}.driver "$new/etc/libibverbs.d/" ||
        ! cp -a "$tree"/usr/lib/*/libibverbs/lib{rxe,siw}-*.so "$to/libibverbs/"; then
        distro_say "ibverbs-providers of Debian $release has no rxe or no siw"
        return 1
    fi
    if ! compgen -G "$to/librdmacm.so.1.*" >/dev/null; then
        distro_say "librdmacm1 of Debian $release has no librdmacm.so.1"
        return 1
    fi
    _debian_tree_stamp "$new" >"$new.stamp" && mv "$new" "$root" && mv "$new.stamp" "$root.stamp"
}
