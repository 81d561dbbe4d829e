# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Who was called, seen from outside of the programs: probes on the entry of
# rdma_init_qp_attr in the preload object and in librdmacm, and in the kernel on
# the function behind the command INIT_QP_ATTR. Nothing in the product takes part.
# Sourced by guest.

tracing=/sys/kernel/tracing
kernel_function=ucma_init_qp_attr

# Where in the file the function begins: its address, less where the segment that
# holds it lies in memory, plus where that lies in the file.
entry_of() {
    local address type offset start file_len _
    address=$(nm -D --defined-only "$1" | awk '$3 ~ /^rdma_init_qp_attr(@|$)/ { print "0x" $1 }')
    [[ $address ]] || return 1
    while read -r type offset start _ file_len _; do
        [[ $type == LOAD ]] && ((address >= start && address < start + file_len)) || continue
        printf '0x%x\n' $((address - start + offset))
        return 0
    done < <(readelf -lW "$1")
    return 1
}

# counters_start PRELOAD STOCK
counters_start() {
    local ours stock event
    ours=$(entry_of "$1") && stock=$(entry_of "$2") || return 1
    {
        echo "p:qpattr/ours $1:$ours" && echo "p:qpattr/stock $2:$stock"
    } >>$tracing/uprobe_events || return 1
    # Of the kernel's own: who asks for attributes, and who begins to listen.
    {
        echo "p:qpattr/kernel $kernel_function" && echo "r:qpattr/listening ucma_listen"
    } >>$tracing/kprobe_events || return 1
    for event in ours stock kernel listening; do
        echo 1 >"$tracing/events/qpattr/$event/enable" || return 1
    done
}

# Takes the probes out of the code again: valgrind translates what it finds there.
counters_stop() {
    local event
    for event in ours stock kernel listening; do
        echo 0 >"$tracing/events/qpattr/$event/enable"
    done
}

# counter NAME...: sets the variables of these names to how often each was hit
# since the start. Starts no process, as this is done in a loop.
counter() {
    local words name i file
    for file in $tracing/uprobe_profile $tracing/kprobe_profile; do
        while read -ra words; do
            # The uprobes have the file's name in front, the kprobes the misses behind.
            for ((i = 0; i + 1 < ${#words[@]}; ++i)); do
                for name in "$@"; do
                    [[ ${words[i]} != "$name" ]] || printf -v "$name" '%s' "${words[i + 1]}"
                done
            done
        done <"$file"
    done
}

# Sets counted_ours, counted_stock, counted_kernel to what the command adds.
counting() {
    local ours stock kernel result
    counter ours stock kernel
    counted_ours=-$ours counted_stock=-$stock counted_kernel=-$kernel
    "$@"
    result=$?
    counter ours stock kernel
    counted_ours=$((counted_ours + ours))
    counted_stock=$((counted_stock + stock))
    counted_kernel=$((counted_kernel + kernel))
    return $result
}
