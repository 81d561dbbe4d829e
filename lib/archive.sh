#!/bin/sh
# SPDX-License-Identifier: MIT
# archive.sh OUTPUT.a SYMBOLS.map MEMBER.o=OBJECTS.a... common=OBJECTS.a
# Links the objects of each member, with the common ones, into one, and keeps only
# the symbols that the version map exports global. Meson's prelink alone leaves the
# mangled C++ names global.
set -eu
output=$1 map=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The names between "global:" and "local:" of every node.
awk '/global:/ { on = 1; next } /local:|}/ { on = 0 } on { gsub(/[ \t;]/, ""); if ($0) print }' \
	"$map" | sort > "$work/keep"
[ -s "$work/keep" ] || { echo "archive.sh: no symbols in $map" >&2; exit 1; }

globals() { ${NM:-nm} -g --defined-only "$1" | awk 'NF == 3 { print $3 }'; }

common=
for part; do
	case $part in common=*) common=${part#common=} ;; esac
done
members=
: > "$work/found"
for part; do
	member=$work/${part%%=*} objects=${part#*=}
	case $part in common=*) continue ;; esac
	${LD:-ld} -r --force-group-allocation -o "$member" \
		--whole-archive "$objects" ${common:+"$common"} --no-whole-archive
	${OBJCOPY:-objcopy} --keep-global-symbols="$work/keep" "$member"
	# Nothing else may be global, whatever the compiler was told.
	stray=$(globals "$member" | grep -vxF -f "$work/keep" || true)
	[ -z "$stray" ] || { echo "archive.sh: global in $objects: $stray" >&2; exit 1; }
	globals "$member" >> "$work/found"
	members="$members $member"
done
# Each exactly once: a name in two members would be a clash at the first link.
sort "$work/found" | diff "$work/keep" - > "$work/difference" ||
	{ echo "archive.sh: not the symbols of $map:" >&2; cat "$work/difference" >&2; exit 1; }

rm -f "$output"
# shellcheck disable=SC2086 # names of our own making
${AR:-ar} Drcs "$output" $members
