# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The programs of Debian's rdmacm-utils, both sides in this guest. Sourced by
# guest.

# pair PRELOAD SERVER CLIENT: runs both, each a line of words; PRELOAD may be
# empty. The client starts when the server listens.
pair() {
    local preload=$1 server=$2 client=$3 listening before pid result server_result
    counter listening
    before=$listening
    # shellcheck disable=SC2086 # lines of words
    LD_PRELOAD=$preload timeout 60 $server >"$work/server" 2>&1 &
    pid=$!
    while ((listening == before)) && kill -0 "$pid" 2>/dev/null; do
        sleep 0.05
        counter listening
    done
    # shellcheck disable=SC2086
    LD_PRELOAD=$preload timeout 60 $client >"$work/client" 2>&1
    result=$?
    # The server of cmtime goes on for ever.
    [[ $server != cmtime* ]] || kill "$pid"
    wait "$pid" 2>/dev/null
    server_result=$?
    [[ $server != cmtime* || $server_result != 143 ]] || server_result=0
    ((result == 0 && server_result == 0))
}

# client NAME CALLS SERVER CLIENT: the pair asks for attributes CALLS times, all
# served by ours, and the kernel sees as many commands.
client() {
    local name=$1 calls=$2 server=$3 client=$4
    if ! counting pair "$preload" "$server" "$client"; then
        case_failed "$name" 'it failed' "$work/server" "$work/client"
    elif ((counted_ours != calls || counted_stock != 0 || counted_kernel != calls)); then
        case_failed "$name" "$(counts), not ours $calls, stock 0, kernel $calls"
    else
        case_held "$name ($(counts))"
    fi
}

# The same without the preload object: as many calls, all served by stock. What
# counts stock's calls does count.
control() {
    local name="$1 without preload" calls=$2 server=$3 client=$4
    if ! counting pair '' "$server" "$client"; then
        case_failed "$name" 'it failed' "$work/server" "$work/client"
    elif ((counted_ours != 0 || counted_stock != calls || counted_kernel != calls)); then
        case_failed "$name" "$(counts), not ours 0, stock $calls, kernel $calls"
    else
        case_held "$name ($(counts))"
    fi
    client "$@"
}

# Transitions of a connection: four on the connecting side (INIT of a new QP,
# INIT, RTR and RTS with the response), four on the accepting side. With rping -q
# the program makes the QP itself and asks for the three it needs. A UD QP is
# asked for once.
clients() {
    local a=$QPATTR_VM_IPV4 a6=$QPATTR_VM_IPV6
    control 'rping over IPv4' 8 "rping -s -a $a -C 3 -v -V" "rping -c -a $a -C 3 -v -V"
    client 'rping over IPv6' 8 "rping -s -a $a6 -C 3 -v -V" "rping -c -a $a6 -C 3 -v -V"
    control 'rping -q over IPv4' 6 "rping -q -s -a $a -C 3 -v -V" "rping -q -c -a $a -C 3 -v -V"
    client 'rping -q over IPv6' 6 "rping -q -s -a $a6 -C 3 -v -V" "rping -q -c -a $a6 -C 3 -v -V"
    control 'ucmatose' 8 'ucmatose' "ucmatose -s $a"
    client 'ucmatose -m, ids migrated' 8 'ucmatose -m' "ucmatose -m -s $a"
    control 'udaddy' 2 'udaddy' "udaddy -s $a"
    control 'cmtime -c 100' 800 'cmtime -c 100' "cmtime -c 100 -s $a"
}
