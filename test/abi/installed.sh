# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the tests share that look at qpattr as its user has it: installed, and
# found by pkg-config. Sourced with build, work and top set; sets prefix, libdir,
# status and PKG_CONFIG_*.

# shellcheck disable=SC2034 # for whoever sources this
status=0

# try NAME COMMAND...: a test case that passes if the command does.
try() {
	local name=$1
	shift
	if "$@" > "$work/log" 2>&1; then
		echo "ok - $suite: $name"
	else
		echo "not ok - $suite: $name"
		sed 's/^/    /' "$work/log"
		status=1
	fi
}

suite=$(basename "$0")
if ! DESTDIR=$work/root meson install -C "$build" --no-rebuild > "$work/log" 2>&1; then
	echo "not ok - $suite: meson install"
	cat "$work/log"
	exit 1
fi
# Where this build directory installs to.
prefix=$work/root$(meson introspect "$build" --buildoptions |
	/usr/bin/python3 -c 'import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
libdir=$(dirname "$(find "$prefix" -name libqpattr.a)")
system_pc=$(env -u PKG_CONFIG_LIBDIR -u PKG_CONFIG_PATH pkg-config --variable pc_path pkg-config)

# flags OPTION... PACKAGE...: pkg-config's answer. The system's directories stand
# in default places, so that the sysroot means qpattr's alone.
flags() {
	PKG_CONFIG_LIBDIR=$libdir/pkgconfig:$system_pc PKG_CONFIG_SYSROOT_DIR=$work/root \
		pkg-config --cflags --libs "$@"
}
