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
    printf 'libc: glibc %s\n' "$(glibc_version "$tools"/root/lib/*/libc.so.6)"
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

# part WHAT COMMAND...: a command that prints its cases itself. That it ends before it has
# printed one, or in another way than its cases say, is a case that failed.
part() {
    local what=$1 status=0
    shift
    "$@" 2>&1 | tee "$dir.part" || status=$?
    if ((status == 0)); then
        grep -qE '^(not )?ok - ' "$dir.part" || printf 'not ok - %s: it checked nothing\n' "$what"
    elif ((status != 1)) || ! grep -q '^not ok - ' "$dir.part"; then
        printf 'not ok - %s ended with status %d\n' "$what" "$status"
    fi
}

# suite NAME: the cases of one of meson's suites, one a line.
suite() {
    local log=$dir/meson-logs/platforms.json status=0
    rm -f "$log"
    # How many failed, or what meson's own trouble is; the cases tell which.
    meson test -C "$dir" --no-rebuild --logbase platforms --timeout-multiplier 10 \
        --num-processes "$jobs" --suite "$1" >"$dir.said" 2>&1 || status=1
    /usr/bin/python3 "$top/test/tally.py" --cases "$log" || status=1
    ((status == 0)) || tail -n 20 "$dir.said"
    return "$status"
}

# no_newer VERSION OBJECT: the object wants no symbol of a later glibc.
no_newer() {
    local newest
    newest=$("$tools/bin/readelf" -VW "$2" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    echo "it wants $newest"
    [[ $newest && $(printf '%s\n' "$newest" "GLIBC_$1" | sort -V | tail -n 1) == "GLIBC_$1" ]]
}

# No glibc later than 2.34 is wanted, where dlsym moved into libc.so.6; nor than 2.17 by what
# was built on bullseye, which has 2.31.
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
    part 'the suite unit' suite unit
    part 'the suite fuzz' suite fuzz
    # With the tools of the platform in front, which read its objects.
    part 'the exports' env PATH="$tools/bin:$PATH" "$top/test/abi/symbols" "$dir/lib/preload/libqpattr-preload.so" \
        "$dir/lib/libqpattr.so.0" "$dir/lib/libqpattr.a" "$top" "$dir/lib/audit/libqpattr-audit.so"
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
    part 'qpattr explain' "$top/test/tool/explain/host" "$dir/qpattr"
}
