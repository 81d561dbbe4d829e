#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The networks of the matrix; runs in the virtual machine, whose init has made
# rxe0 on the link v0 already. Either called, 'network.sh NAME [ARGUMENT]', or
# sourced for its functions, network_NAME.
#
# Each makes its network, if it is not there yet, and prints one line for it:
#   device=rxe0 netdev=v0.7 ipv4=10.78.0.1 ipv6=fd78::1 [namespace=NAME]
# or 'unavailable: WHY', with the status 77. Any other status is trouble.
#
#   plain            what is there already
#   vlan             a VLAN interface on v0
#   link_local       v0's link-local address
#   second           rxe1 on a second link
#   namespace        rxe2 on a link in a network namespace
#   roce_v1          rxe0 in RoCE v1 mode
#   siw MODULE       siw0 on v0 in place of rxe0; MODULE is its siw.ko
#   remove           takes all of these away but rxe0, siw0 and v0

network_ipv4=${QPATTR_VM_IPV4:-10.77.0.1}
network_ipv6=${QPATTR_VM_IPV6:-fd77::1}

_network_say() { printf 'network: %s\n' "$*" >&2; }
_network_unavailable() {
    printf 'unavailable: %s\n' "$*"
    return 77
}

# _network_module NAME: loads what may be a module or built in.
_network_module() { modprobe "$1" 2>/dev/null || [[ -d /sys/module/$1 ]]; }

_network_has() { ip link show dev "$1" >/dev/null 2>&1; }

# _network_addresses LINK IPV4 IPV6 [NAMESPACE]
_network_addresses() {
    local in=()
    [[ -z ${4:-} ]] || in=(-netns "$4")
    printf '%s\n' "addr add $2/24 dev $1" "addr add $3/64 dev $1 nodad" "link set $1 up" |
        ip "${in[@]}" -batch - || {
        _network_say "cannot give $1 its addresses"
        return 1
    }
}

# _network_wait DEVICE LINK COUNT: waits until as many of the device's GIDs are
# the link's. The kernel makes them in its own time.
_network_wait() {
    local device=$1 link=$2 count=$3 found file try gid
    for try in {1..100}; do
        found=0
        for file in "/sys/class/infiniband/$device/ports/1/gid_attrs/ndevs"/{0..15}; do
            # An entry without a GID cannot be read.
            { read -r gid <"$file"; } 2>/dev/null || continue
            [[ $gid != "$link" ]] || ((found += 1))
        done
        ((found < count)) || return 0
        sleep 0.05
    done
    _network_say "$device has $found GIDs of $link after ${try}/20 s, not $count"
    return 1
}

_network_device() {
    local device=$1 type=$2 link=$3 error
    if ! error=$(rdma link add "$device" type "$type" netdev "$link" 2>&1); then
        _network_say "cannot add $device to $link: $error"
        return 1
    fi
}

network_plain() {
    local device=rxe0
    [[ ! -e /sys/class/infiniband/siw0 ]] || device=siw0
    printf 'device=%s netdev=v0 ipv4=%s ipv6=%s\n' "$device" "$network_ipv4" "$network_ipv6"
}

network_vlan() {
    if ! _network_has v0.7; then
        _network_module 8021q || { _network_unavailable "this kernel has no module 8021q"; return; }
        ip link add link v0 name v0.7 type vlan id 7 || return 1
        _network_addresses v0.7 10.78.0.1 fd78::1 || return 1
    fi
    _network_wait rxe0 v0.7 3 || return 1
    printf 'device=rxe0 netdev=v0.7 ipv4=10.78.0.1 ipv6=fd78::1\n'
}

network_link_local() {
    local address
    address=$(ip -6 -o addr show dev v0 scope link | awk '{ sub("/.*", "", $4); print $4; exit }')
    if [[ -z $address ]]; then
        _network_say "v0 has no link-local address"
        return 1
    fi
    printf 'device=rxe0 netdev=v0 ipv6=%s%%v0\n' "$address"
}

network_second() {
    if ! _network_has v2; then
        ip link add v2 type veth peer name v3 && ip link set v3 up || return 1
        _network_addresses v2 10.79.0.1 fd79::1 || return 1
        _network_device rxe1 rxe v2 || return 1
    fi
    _network_wait rxe1 v2 3 || return 1
    printf 'device=rxe1 netdev=v2 ipv4=10.79.0.1 ipv6=fd79::1\n'
}

# In the mode that every namespace sees every device, which is the default: rxe
# refuses to be moved into a namespace in the other. Kernels before 7.x look for
# rxe's routes in the first namespace whatever namespace the link is in: there
# the twin, a link of the same number and addresses, has them. Without it an id
# gets the device all the same, but no connection.
network_namespace() {
    local number in=(ip netns exec matrix)
    if ! ip netns exec matrix true 2>/dev/null; then
        ip netns add matrix && ip link add v4 type veth peer name v5 &&
            ip link set v4 netns matrix && ip link set v5 netns matrix || return 1
        "${in[@]}" ip link set lo up && "${in[@]}" ip link set v5 up || return 1
        _network_addresses v4 10.80.0.1 fd80::1 matrix || return 1
        number=$("${in[@]}" cat /sys/class/net/v4/ifindex) || return 1
        ip link add twin index "$number" type dummy && _network_addresses twin 10.80.0.1 fd80::1 || return 1
        "${in[@]}" rdma link add rxe2 type rxe netdev v4 || return 1
    fi
    _network_wait rxe2 v4 3 || return 1
    printf 'device=rxe2 netdev=v4 ipv4=10.80.0.1 ipv6=fd80::1 namespace=matrix\n'
}

network_roce_v1() {
    local config=/sys/kernel/config device mode
    if [[ ! -d $config/rdma_cm ]]; then
        _network_module configfs || { _network_unavailable "this kernel has no configfs"; return; }
        mountpoint -q "$config" || mount -t configfs configfs "$config" || return 1
    fi
    device=$config/rdma_cm/rxe0
    mkdir -p "$device" || return 1
    mode=$device/ports/1/default_roce_mode
    if ! { printf 'IB/RoCE v1\n' >"$mode"; } 2>/dev/null; then
        mode=$(<"$mode")
        rmdir "$device"
        _network_unavailable "rxe0 refuses to be made RoCE v1, it stays $mode"
        return
    fi
    printf 'device=rxe0 netdev=v0 ipv4=%s ipv6=%s\n' "$network_ipv4" "$network_ipv6"
}

network_siw() {
    local module=${1:-} name
    if [[ ! -e /sys/class/infiniband/siw0 ]]; then
        if [[ ! -d /sys/module/siw ]]; then
            [[ -r $module ]] || { _network_unavailable "no siw.ko for this kernel"; return; }
            # They are found by name at run time, or are what siw.ko names.
            for name in crc32c_generic crc32c-intel libcrc32c; do _network_module "$name" || true; done
            insmod "$module" || return 1
        fi
        [[ ! -e /sys/class/infiniband/rxe0 ]] || rdma link delete rxe0 || return 1
        _network_device siw0 siw v0 || return 1
    fi
    printf 'device=siw0 netdev=v0 ipv4=%s ipv6=%s\n' "$network_ipv4" "$network_ipv6"
}

# So that a reference to one of these that the kernel has lost shows in its log.
network_remove() {
    local device
    for device in rxe2 rxe1; do
        [[ ! -e /sys/class/infiniband/$device ]] || rdma link delete "$device"
    done
    for device in v0.7 v2 twin; do
        ! _network_has "$device" || ip link delete "$device"
    done
    ! ip netns exec matrix true 2>/dev/null || { ip netns exec matrix ip link delete v4; ip netns delete matrix; }
    [[ ! -d /sys/kernel/config/rdma_cm/rxe0 ]] || rmdir /sys/kernel/config/rdma_cm/rxe0
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    name=${1:-}
    if [[ ${QPATTR_VM:-} != 1 || $name == _* ]] || ! declare -F "network_$name" >/dev/null; then
        printf 'usage, in a virtual machine: network.sh NAME [ARGUMENT]; the file says which names there are\n' >&2
        exit 125
    fi
    shift
    "network_$name" "$@"
fi
