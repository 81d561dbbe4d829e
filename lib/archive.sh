#!/bin/sh
# SPDX-License-Identifier: MIT
# archive.sh OBJECTS.a SYMBOLS.map OUTPUT.a
# Links all objects of an archive into one and keeps only the symbols that the
# version map exports global. Meson's prelink alone leaves the mangled C++ names
# global.
set -eu
objects=$1 map=$2 output=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The names between "global:" and "local:" of every node.
awk '/global:/ { on = 1; next } /local:|}/ { on = 0 } on { gsub(/[ \t;]/, ""); if ($0) print }' \
	"$map" > "$work/keep"
[ -s "$work/keep" ] || { echo "archive.sh: no symbols in $map" >&2; exit 1; }

${LD:-ld} -r --force-group-allocation --whole-archive -o "$work/qpattr.o" "$objects"
${OBJCOPY:-objcopy} --keep-global-symbols="$work/keep" "$work/qpattr.o"

# Nothing else may be global, whatever the compiler was told.
stray=$(${NM:-nm} -g --defined-only "$work/qpattr.o" | awk 'NF == 3 { print $3 }' |
	grep -vxF -f "$work/keep" || true)
[ -z "$stray" ] || { echo "archive.sh: global in the archive: $stray" >&2; exit 1; }
found=$(${NM:-nm} -g --defined-only "$work/qpattr.o" | awk 'NF == 3 { print $3 }' |
	grep -cxF -f "$work/keep" || true)
[ "$found" = "$(wc -l < "$work/keep")" ] ||
	{ echo "archive.sh: not every symbol of $map is in $objects" >&2; exit 1; }

rm -f "$output"
${AR:-ar} Drcs "$output" "$work/qpattr.o"
