# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Finds in a kernel's log what must not be there. Sourced by vm.

# Extended regular expressions.
kernel_log_bad=(
    'WARNING:'                       # WARN_ON, lockdep
    'BUG:|kernel BUG at'             # KASAN, soft lockup, sleeping in atomic, null pointers
    'Oops'
    'general protection fault'
    'Kernel panic'
    'KASAN|KFENCE|KCSAN|UBSAN'
    'INFO: possible|possible (recursive|circular) locking|inconsistent lock state|suspicious RCU usage'
    'INFO: task .* blocked for more than'
    'rcu.*(detected stalls|self-detected stall|stall on CPU)'
    'unregister_netdevice: waiting'
    'refcount_t:|list_(add|del) corruption|slab.*corruption|bad page state'
    'page allocation failure|Out of memory|invoked oom-killer'
)
# Said by healthy kernels.
kernel_log_fine=(
    'qpattr-vm: '
    '(Spectre V2 ?|RETBleed): WARNING' # of the processor, on KVM
)

# kernel_log_scan FILE...: prints the offending lines, without doubles and
# without time stamps. Succeeds if there are none.
kernel_log_scan() {
    local bad fine
    bad=$(IFS='|' && printf '%s' "${kernel_log_bad[*]}")
    fine=$(IFS='|' && printf '%s' "${kernel_log_fine[*]}")
    local found
    found=$(cat -- "$@" 2>/dev/null | tr -d '\r' | grep -aE -- "$bad" | grep -avE -- "$fine" |
        sed -E 's/^\[ *[0-9]+\.[0-9]+\] *//' | awk '!seen[$0]++') || true
    [[ -z $found ]] && return 0
    printf '%s\n' "$found"
    return 1
}
