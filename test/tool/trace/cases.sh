# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What host and guest have in common. Sourced; they exit with $status, and
# have $qpattr and $work.
# shellcheck disable=SC2034,SC2154

status=0
held() { printf 'ok - %s\n' "$1"; }
# failed NAME WHY [FILE]...: the files are shown as comments.
failed() {
    printf 'not ok - %s: %s\n' "$1" "$2"
    shift 2
    (($# == 0)) || tail -n 20 -- "$@" | sed 's/^/# /'
    status=1
}

# qp ARGUMENT...: runs qpattr; its status, output and errors are in $result, out, err.
qp() {
    "$qpattr" "$@" > "$work/out" 2> "$work/err"
    result=$?
}

# expect NAME STATUS PATTERN: of the last run; the pattern (ERE) is of a line of its
# errors.
expect() {
    if ((result != $2)); then
        failed "$1" "status $result, not $2" "$work/err"
    elif ! grep -qE -- "$3" "$work/err"; then
        failed "$1" "no line '$3'" "$work/err"
    else
        held "$1"
    fi
}

# refused NAME STATUS PATTERN: and that is the one line.
refused() {
    if (($(wc -l < "$work/err") != 1)) || [[ -s $work/out ]]; then
        failed "$1" "it says more than one line" "$work/err" "$work/out"
    else
        expect "$@"
    fi
}

# holds NAME COMMAND...
holds() {
    local name=$1
    shift
    if "$@" > "$work/held" 2>&1; then held "$name"; else failed "$name" "$*" "$work/held" "$work/err"; fi
}

# shellcheck source=test/support/listening.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../support/listening.sh"

# wait_until COMMAND...: polls, a minute at most.
wait_until() {
    local end=$((SECONDS + 60))
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}
