# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What only shows from outside of a program: what it prints, which system calls
# it makes, what memcheck says. Sourced by guest.

# The node with the permissions that only root has.
locked_out() {
    chmod 600 /dev/infiniband/rdma_cm
    trap_program credentials locked-out
    chmod 666 /dev/infiniband/rdma_cm
}

# Another object in the place of ours, whose answers are all stock's: right, and
# not what is to be shown.
passed_on_noticed() {
    local lines ours=$preload
    preload=$broken
    lines=$(trap_program first_call plain)
    preload=$ours
    if grep -q "^not ok - .*it says ours 1, stock 0; seen: ours 0, stock 1" <<<"$lines"; then
        case_held 'an object that passes calls on to stock is noticed'
    else
        case_failed 'an object that passes calls on to stock is noticed' "${lines//$'\n'/; }"
    fi
}

# said_with ENVIRONMENT... -- PROGRAM...: what it prints on standard error.
said_with() {
    local environment=()
    while [[ $1 != -- ]]; do environment+=("$1") && shift; done
    shift
    env "${environment[@]}" LD_PRELOAD="$preload" timeout 60 "$programs/preload_$1" "${@:2}" 2>&1 >/dev/null
}

# says_line NAME PATTERN TEXT: exactly one line, and this.
says_line() {
    if [[ $3 =~ ^$2$ && $3 != *$'\n'* ]]; then
        case_held "$1 ($3)"
    else
        case_failed "$1" "it says '$3'"
    fi
}
says_nothing() {
    if [[ $2 ]]; then case_failed "$1" "it says '$2'"; else case_held "$1"; fi
}

diagnostics() {
    local found='qpattr: rdma_init_qp_attr is served by qpattr \(pid [0-9]+; .*\)'
    local stock='qpattr: rdma_init_qp_attr is served by stock librdmacm \(pid [0-9]+\): .+'
    says_nothing 'without QPATTR_DEBUG nothing is printed' "$(said_with -- first_call plain)"
    says_nothing 'with QPATTR_DEBUG empty nothing is printed' "$(said_with QPATTR_DEBUG= -- first_call plain)"
    says_nothing 'with QPATTR_DEBUG=0 nothing is printed' "$(said_with QPATTR_DEBUG=0 -- first_call plain)"
    says_line 'QPATTR_DEBUG=1: one line' "$found" "$(said_with QPATTR_DEBUG=1 -- first_call plain)"
    says_line 'QPATTR_DEBUG=1, 16 threads: one line' "$found" "$(said_with QPATTR_DEBUG=1 -- first_call threads)"
    says_line 'QPATTR_DEBUG=1, found after a shortage: one line' "$found" "$(said_with QPATTR_DEBUG=1 -- shortage descriptors)"
    says_line 'QPATTR_DEBUG=1, a shortage that lasts: one line' "$stock" "$(said_with QPATTR_DEBUG=1 -- shortage for-good)"
}

# The lines of strace between two of the marks that the program makes.
between() {
    awk -v from="close(-100$1)" -v to="close(-100$2)" \
        'index($0, to) { on = 0 } on; index($0, from) { on = 1 }' "$work/strace"
}

commands() {
    local first second
    if ! strace -o "$work/strace" -xx -s 8 -E LD_PRELOAD="$preload" \
        "$programs/preload_commands" marked >"$work/said" 2>&1; then
        case_failed 'two calls under strace' 'they fail' "$work/said"
        return
    fi
    first=$(between 1 2) second=$(between 2 3)
    if (($(wc -l <<<"$first") > 200)) || [[ ! $first ]]; then
        case_failed 'the first call makes at most 200 system calls' "$(wc -l <<<"$first")"
    else
        case_held "the first call makes at most 200 system calls ($(wc -l <<<"$first"))"
    fi
    sed 's/(.*//' <<<"$first" | sort | uniq -c | sort -rn | sed 's/^ */#   /'
    if [[ $second =~ ^write\([0-9]+,\ \"\\x0b.*,\ 24\)\ +=\ 24$ ]]; then
        case_held 'the second call makes one system call, a write of 24 bytes'
    else
        case_failed 'the second call makes one system call, a write of 24 bytes' "$second"
    fi
}

# Prints memcheck's records that match the pattern and have the text in them.
records() {
    sed 's/^==[0-9]*== \?//' "$work/memcheck" | awk -v RS= -v kind="$1" -v text="$2" '$0 ~ kind && index($0, text)'
}

memcheck() {
    counters_stop
    local use='uninitialised|Invalid|points to'
    if ! LD_PRELOAD=$preload timeout 120 valgrind --quiet --leak-check=full --num-callers=20 \
        --log-file="$work/memcheck" "$programs/preload_commands" used >"$work/said" 2>&1; then
        case_failed 'a program under memcheck' 'it fails' "$work/said" "$work/memcheck"
        return
    fi
    cat "$work/said"
    if [[ $(records . "${preload##*/}") ]]; then
        case_failed 'memcheck has no complaint about the preload object' 'it has' "$work/memcheck"
    elif [[ $(records "$use" use_of_answer) ]]; then
        case_failed 'memcheck has no complaint about the use of an answer' 'it has' "$work/memcheck"
    elif [[ ! $(records "$use" use_of_unseen) ]]; then
        case_failed 'memcheck complains about what the kernel filled unseen' 'it does not' "$work/memcheck"
    else
        case_held 'memcheck complains about what the kernel filled unseen, and about nothing of ours'
    fi
}
