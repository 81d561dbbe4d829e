# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Whether a server of rdma_cm is ready. To be sourced.

# listening PID: all its threads sleep, one of them waiting for the connection manager.
listening() {
    local thread where waits=''
    for thread in /proc/"$1"/task/*/wchan; do
        where=
        read -r where 2> /dev/null < "$thread"
        case ${where-} in
        ucma_get_event) waits=1 ;;
        futex_*) ;;
        *) return 1 ;;
        esac
    done
    [[ -n $waits ]]
}
