# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # _debian_here is of distro.sh, which sources this
#
# Compilers, C libraries and emulators of other releases and other processors, of
# which nothing is installed. Sourced by distro.sh.

# distro_toolchain RELEASE ARCHITECTURE COMPILER: prints a directory with
#   bin/    cc c++ pkg-config ar ld nm objcopy readelf strip for that architecture
#   root/   the release's C library, libibverbs, librdmacm and what the programs in
#           tools and the tests need, for that architecture
#   run     runs a program of that architecture with the libraries of root/
# ARCHITECTURE and COMPILER are Debian's names (arm64, armhf, ...; gcc, gcc-11, clang).
# The compiler is the release's own, and runs with that release's C library.
distro_toolchain() {
    local release=$1 architecture=$2 compiler=$3 dir tree
    _debian_triplet "$architecture" >/dev/null || return 1
    dir=$(_debian_dir "$release:$architecture") || return 1
    tree=$dir/trees/toolchain-$compiler
    if ! _debian_toolchain_whole "$tree"; then
        (
            if ! flock -n 9; then
                distro_say "another process is laying out $compiler of $release for $architecture, waiting for it"
                flock 9
            fi
            _debian_toolchain_whole "$tree" || _debian_toolchain "$release" "$architecture" "$compiler" "$tree"
        ) 9>"$dir/toolchain.lock" || return 1
    fi
    printf '%s\n' "$tree"
}

# As this file lays it out.
_debian_toolchain_stamp() { sha256sum <"$_debian_here/toolchain.sh"; }
_debian_toolchain_whole() { [[ -r $1/whole && $(<"$1/whole") == "$(_debian_toolchain_stamp)" ]]; }

# The architecture by the name that compilers have for it.
_debian_triplet() {
    case $1 in
    amd64) echo x86_64-linux-gnu ;;
    i386) echo i686-linux-gnu ;;
    arm64) echo aarch64-linux-gnu ;;
    armhf) echo arm-linux-gnueabihf ;;
    ppc64el) echo powerpc64le-linux-gnu ;;
    riscv64 | s390x) echo "$1-linux-gnu" ;;
    *)
        distro_say "no toolchain is known for the architecture '$1'"
        return 1
        ;;
    esac
}

# And by the one that directories of libraries have.
_debian_multiarch() {
    local triplet
    triplet=$(_debian_triplet "$1") && echo "${triplet/i686/i386}"
}

_debian_emulator() {
    case $1 in
    arm64) echo qemu-aarch64-static ;;
    armhf) echo qemu-arm-static ;;
    ppc64el) echo qemu-ppc64le-static ;;
    *) echo "qemu-$1-static" ;;
    esac
}

# Prints those of the packages that the release has.
_debian_known() {
    local release=$1 dir
    dir=$(_debian_dir "$release") || return 1
    shift
    (
        flock 9
        _debian_configure "$release" "$dir" || exit 1
        compgen -G "$dir/lists/*Packages*" >/dev/null || _debian_update "$release" "$dir" || exit 1
        _debian_apt "$dir" apt-cache policy "$@" 2>>"$dir/apt.log" |
            awk '/^[^ ]/ { name = $1 } $1 == "Candidate:" && $2 != "(none)" { sub(":$", "", name); print name }'
    ) 9>"$dir/lock"
}

# What the project is built and tested with, but for the compiler.
_debian_libraries=(libc6-dev linux-libc-dev libibverbs-dev librdmacm-dev rdmacm-utils ibverbs-providers
    libstdc++6 libfmt-dev libtomlplusplus-dev libcli11-dev nlohmann-json3-dev catch2 libcatch2-dev)

_debian_toolchain() {
    local release=$1 architecture=$2 compiler=$3 to=$4 own triplet packages=() known libraries host target
    own=$(dpkg --print-architecture) && triplet=$(_debian_triplet "$architecture") || return 1
    if [[ $architecture != "$own" ]]; then
        packages=("g++-$triplet")
    elif [[ $compiler == gcc-* ]]; then
        packages=("g++-${compiler#gcc-}" binutils)
    else
        packages=(g++ binutils)
    fi
    [[ $compiler != clang* ]] || packages+=("$compiler")
    known=$(_debian_known "$release:$architecture" "${_debian_libraries[@]}") || return 1
    mapfile -t libraries <<<"$known"
    host=$(distro_unpack "$release" --with-dependencies "${packages[@]}") &&
        target=$(distro_unpack "$release:$architecture" --with-dependencies "${libraries[@]}") || return 1
    rm -rf "$to" "$to.new" || return 1
    mkdir -p "$to.new"/{root,bin,parts} && cp -al "$host/." "$to.new/root/" && cp -alf "$target/." "$to.new/root/" &&
        _debian_join_root "$to.new/root" || return 1
    # Scripts say where they will lie; so the tree gets its name first.
    mv "$to.new" "$to" && _debian_tools "$to" "$own" "$triplet" "$compiler" &&
        _debian_pkg_config "$to" "$(_debian_multiarch "$architecture")" &&
        _debian_runner "$to" "$own" "$architecture" || return 1
    "$to/bin/c++" --version >/dev/null || {
        distro_say "$compiler of Debian $release for $architecture does not start"
        return 1
    }
    _debian_toolchain_stamp >"$to/whole"
}

# Later releases have all under usr/, which packages alone do not show; links that
# begin at the root begin at this one.
_debian_join_root() {
    local root=$1 name link to
    for name in lib lib64; do
        [[ -e $root/$name || ! -e $root/usr/$name ]] || ln -s "usr/$name" "$root/$name" || return 1
    done
    while IFS='|' read -r link to; do
        ln -sfnr "$root$to" "$link" || return 1
    done < <(find "$root" -type l -lname '/*' -printf '%p|%l\n')
}

_debian_library_path() {
    local multiarch
    multiarch=$(_debian_multiarch "$2") && printf '%s\n' "$1/lib/$multiarch:$1/usr/lib/$multiarch"
}

# The command that runs a program of the machine's own architecture with the
# libraries of a root.
_debian_with_libraries() {
    local path loader
    path=$(_debian_library_path "$1" "$2") && loader=$(compgen -G "${path%%:*}/ld-linux*.so.*") || return 1
    printf '%s --library-path %s\n' "$loader" "$path"
}

_debian_script() { # PATH COMMAND...
    printf '#!/bin/sh\nexec %s "$@"\n' "${*:2}" >"$1" && chmod +x "$1"
}

# The tools as scripts that run the root's with the root's C library, which need not
# be this machine's. A compiler's driver finds its parts by -B.
_debian_tools() {
    local to=$1 own=$2 triplet=$3 compiler=$4 root=$1/root with version='' parts tool driver name options llvm
    with=$(_debian_with_libraries "$root" "$own") || return 1
    for tool in ar as ld nm objcopy readelf strip; do
        _debian_script "$to/bin/$tool" "$with $root/usr/bin/$triplet-$tool" && ln -s "../bin/$tool" "$to/parts/$tool" || return 1
    done
    [[ $compiler != gcc-* ]] || version=-${compiler#gcc-}
    parts=$(compgen -G "$root/usr/lib*/gcc*/$triplet/*/cc1plus" | head -n 1) || return 1
    for tool in cc1 cc1plus collect2; do
        _debian_script "$to/parts/$tool" "$with $(dirname "$parts")/$tool" || return 1
    done
    for name in cc:gcc:clang c++:g++:clang++; do
        IFS=: read -r name driver llvm <<<"$name"
        options="--sysroot=$root -B$to/parts/"
        driver=$root/usr/bin/$triplet-$driver$version
        if [[ $compiler == clang* ]]; then
            driver=$(compgen -G "$root/usr/lib/llvm-*/bin/$llvm") || return 1
            options="--target=$triplet --sysroot=$root --gcc-toolchain=$root/usr --ld-path=$to/bin/ld"
        fi
        _debian_script "$to/bin/$name" "$with $driver $options" || return 1
    done
}

_debian_pkg_config() {
    local root=$1/root
    _debian_script "$1/bin/pkg-config" "env PKG_CONFIG_LIBDIR=$root/usr/lib/$2/pkgconfig:$root/usr/lib/pkgconfig:$root/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config"
}

_debian_runner() {
    local to=$1 own=$2 architecture=$3 tree with
    if [[ $architecture == "$own" ]]; then
        with=$(_debian_with_libraries "$to/root" "$architecture") || return 1
    else
        # i386 too: not every kernel of 64 bits runs it.
        tree=$(distro_unpack "$(distro_release)" qemu-user-static) || return 1
        # The libraries by their paths: of what a root has, the emulator shows statx(2),
        # which 32-bit loaders ask, nothing. No cache of theirs: it would be this machine's.
        : >"$to/root/etc/ld.so.cache"
        with="$tree/usr/bin/$(_debian_emulator "$architecture") -L $to/root -E LD_LIBRARY_PATH=$(_debian_library_path "$to/root" "$architecture")"
    fi
    _debian_script "$to/run" "$with"
}

# distro_userland RELEASE: prints a root of the release to change to, with rping and all
# that it needs.
distro_userland() {
    local dir tree root
    dir=$(_debian_dir "$1") && tree=$(distro_unpack "$1" --with-dependencies rdmacm-utils ibverbs-providers) || return 1
    root=$dir/trees/userland
    if ! _debian_tree_whole "$root"; then
        (
            flock 9
            _debian_tree_whole "$root" && exit 0
            rm -rf "$root" "$root.new" && cp -al "$tree" "$root.new" && _debian_join_root "$root.new" &&
                _debian_tree_stamp "$root.new" >"$root.stamp" && mv "$root.new" "$root"
        ) 9>"$dir/userland.lock" || return 1
    fi
    printf '%s\n' "$root"
}
