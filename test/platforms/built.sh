# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # top, here, dir and jobs are of platforms, which sources this
#
# A platform that qpattr is built for and tested on without its kernel: what
# distro_toolchain has of it, a build directory, the tests.

# meson's names of an architecture: family, processor, order of bytes.
machine_of() {
    case $1 in
    amd64) echo x86_64 x86_64 little ;;
    i386) echo x86 i686 little ;;
    arm64) echo aarch64 aarch64 little ;;
    armhf) echo arm armv7 little ;;
    ppc64el) echo ppc64 ppc64le little ;;
    riscv64) echo riscv64 riscv64 little ;;
    s390x) echo s390x s390x big ;;
    *) die "meson's name of the architecture '$1' is not known: add it to machine_of in built.sh" ;;
    esac
}

# cross_file TOOLCHAIN ARCHITECTURE: what meson is told of it.
cross_file() {
    local tools=$1 family processor order ccache=''
    read -r family processor order < <(machine_of "$2")
    ! command -v ccache >/dev/null || ccache="'ccache', "
    cat <<EOF
[binaries]
c = [$ccache'$tools/bin/cc']
cpp = [$ccache'$tools/bin/c++']
$(for each in ar ld nm objcopy strip; do echo "$each = '$tools/bin/$each'"; done)
pkgconfig = '$tools/bin/pkg-config'
exe_wrapper = '$tools/run'
[properties]
needs_exe_wrapper = true
[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$processor'
endian = '$order'
EOF
}

# prepare RELEASE ARCHITECTURE COMPILER TARGET [MESON-OPTION]...: lays the toolchain out, sets
# $tools, builds the target in $dir. 'compiler:' and 'libc:' are for the table.
prepare() {
    local release=$1 architecture=$2 compiler=$3 target=$4
    shift 4
    tools=$(distro_toolchain "$release" "$architecture" "$compiler")
    case $compiler in
    clang*) printf 'compiler: clang++ %s\n' "$("$tools/bin/c++" -dumpversion)" ;;
    *) printf 'compiler: g++ %s\n' "$("$tools/bin/c++" -dumpfullversion)" ;;
    esac
    printf 'libc: glibc %s\n' "$(grep -aohE 'GNU C Library .* release version [0-9.]+[0-9]' \
        "$tools"/root/lib/*/libc.so.6 | tail -n 1 | sed 's/.* //')"
    # The compiler is a script, whose date says nothing.
    export CCACHE_COMPILERCHECK=content
    cross_file "$tools" "$architecture" >"$dir.ini.new"
    if ! cmp -s "$dir.ini.new" "$dir.ini"; then
        mv "$dir.ini.new" "$dir.ini"
        rm -rf "$dir"
    fi
    [[ -f $dir/build.ninja ]] || meson setup "$dir" "$top" --cross-file "$dir.ini" -Dtests=enabled -Ddebug=false "$@"
    ninja -C "$dir" -j "$jobs" "$target"
}

# case_of NAME COMMAND...: a case that passes if the command does.
case_of() {
    local name=$1
    shift
    if "$@" >"$dir.case" 2>&1; then
        printf 'ok - %s\n' "$name"
    else
        printf 'not ok - %s\n' "$name"
        sed 's/^/    /' "$dir.case"
    fi
}

# tests SUITE...: the cases of meson's suites, one a line.
tests() {
    local suites=("${@/#/--suite=}") log=$dir/meson-logs/platforms.json
    rm -f "$log"
    meson test -C "$dir" --no-rebuild --logbase platforms --timeout-multiplier 10 \
        --num-processes "$jobs" "${suites[@]}" >/dev/null 2>&1 || true
    /usr/bin/python3 "$top/test/tally.py" --cases "$log" || true
}

# no_newer VERSION OBJECT: the object wants no symbol of a later glibc.
no_newer() {
    local newest
    newest=$("$tools/bin/readelf" -VW "$2" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    echo "it wants $newest"
    [[ $newest && $(printf '%s\n' "$newest" "GLIBC_$1" | sort -V | tail -n 1) == "GLIBC_$1" ]]
}

# The newest that is wanted: where dlsym and pthread_sigmask came into libc.so.6, or, of
# compilers that know an older glibc, what that one had for long.
wants_old_glibc() {
    local object most=2.34
    [[ $1 != bullseye ]] || most=2.17
    for object in lib/preload/libqpattr-preload.so lib/audit/libqpattr-audit.so lib/libqpattr.so; do
        case_of "${object##*/} wants no glibc later than $most" no_newer $most "$dir/$object"
    done
}

built() {
    local release=$1 architecture=$2 compiler=$3
    prepare "$release" "$architecture" "$compiler" platform-tests -Dconformance=disabled
    tests unit fuzz
    # With the tools of the platform in front, which read its objects.
    PATH=$tools/bin:$PATH "$top/test/abi/symbols" "$dir/lib/preload/libqpattr-preload.so" \
        "$dir/lib/libqpattr.so.0" "$dir/lib/libqpattr.a" "$top" "$dir/lib/audit/libqpattr-audit.so" || true
    wants_old_glibc "$release"
    case_of 'a static program with libqpattr.a: it links' "$tools/bin/cc" -static -I"$top/include" \
        "$top/test/abi/static_handle.c" "$dir/lib/libqpattr.a" -o "$dir/static_handle"
    case_of 'a static program with libqpattr.a: it runs' "$tools/run" "$dir/static_handle"
    printf 'not run - the suites vm, which want a kernel of %s\n' "$architecture"
    [[ -x $dir/tools/qpattr/qpattr ]] || {
        printf 'not run - the command: %s has no toml++ or CLI11\n' "$release"
        return 0
    }
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$tools/run" "$dir/tools/qpattr/qpattr" >"$dir/qpattr"
    chmod +x "$dir/qpattr"
    "$top/test/tool/explain/host" "$dir/qpattr" || true
}
