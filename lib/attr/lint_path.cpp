// SPDX-License-Identifier: MIT
// The address and what it takes: path MTU, GIDs, traffic class; and what the peer may
// read and write.
#include <cstring>

#include "lib/attr/linter.hpp"
#include "lib/attr/names.hpp"
#include "lib/attr/units.hpp"

namespace qpattr::attr {
namespace {

bool is_zero_gid(const ibv_gid &gid) noexcept
{
	constexpr std::uint8_t zero[sizeof gid.raw] = {};
	return std::memcmp(gid.raw, zero, sizeof zero) == 0;
}

// One that a router can forward to: not fe80::/10, not a multicast group.
bool is_routable(const ibv_gid &gid) noexcept
{
	const bool link_local = gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
	return !link_local && gid.raw[0] != 0xff && !is_zero_gid(gid);
}

void path_mtu(const linter &here) noexcept
{
	const std::uint32_t mtu = value_number(*row("path_mtu"), here.attr);
	const unsigned bytes = mtu_bytes(mtu);
	if (bytes == 0) {
		here.problem("path-mtu-range", row("path_mtu"),
			     "path_mtu is a code: 1 = 256 bytes, 3 = 1024, 5 = 4096")
			.reason.addf("path_mtu %u is none: there are 1 to 5", mtu);
		return;
	}
	if (here.at.interface_bytes && mtu > mtu_of_interface(here.at.interface_bytes)) {
		here.problem("path-mtu-above-link", row("path_mtu"),
			     "a smaller path MTU at both ends, or a larger MTU of every interface "
			     "and switch between: 4200 bytes carry 4096")
			.reason.addf("packets of %u bytes and their headers do not fit into the "
				     "interface's %u: small messages arrive, large ones fail with "
				     "IBV_WC_RETRY_EXC_ERR",
				     bytes, here.at.interface_bytes);
	} else if (const unsigned active = mtu_bytes(here.at.active_mtu)) {
		if (bytes > active)
			here.problem("path-mtu-above-port", row("path_mtu"),
				     "a path MTU of at most the port's active MTU")
				.reason.addf("path MTU %u, and the port's active MTU is %u: "
					     "ibv_modify_qp() refuses it, or packets are dropped",
					     bytes, active);
		else if (bytes < active)
			here.note("path-mtu-below-port", row("path_mtu"),
				  "if both ends and the path between carry it, a larger path_mtu")
				.reason.addf("path MTU %u, and the port carries %u: more packets "
					     "and headers than need be",
					     bytes, active);
	}
}

void route(const linter &here) noexcept
{
	const ibv_ah_attr &to = here.attr.ah_attr;
	const ibv_gid gid = value_gid(*row("ah_attr.grh.dgid"), here.attr);
	if (is_zero_gid(gid)) {
		here.problem("no-destination", row("ah_attr.grh.dgid"),
			     "ask again once connected; the kernel forgets the address after "
			     "rdma_notify() of a migration without alternate path")
			.reason.add("the destination GID is zero: the QP has nobody to send to");
		return;
	}
	if (!is_roce(here.attr, here.mask, here.at))
		return;
	if (to.grh.hop_limit <= 1 && is_routable(gid))
		here.warn("hop-limit-1", row("ah_attr.grh.hop_limit"),
			  "hop_limit=64 where there is a router between")
			.reason.addf("hop_limit %u: the first router drops the packets; it works "
				     "only if the peer is in the same subnet",
				     to.grh.hop_limit);
	if (to.grh.traffic_class >> 2 == 0)
		here.note("traffic-class-0", row("ah_attr.grh.traffic_class"),
			  "if the network has a lossless class, its code point: "
			  "traffic_class=dscp:26, or RDMA_OPTION_ID_TOS before "
			  "rdma_resolve_route()")
			.reason.add("DSCP 0 is the best-effort class, which switches drop packets "
				    "of when they are congested");
	if ((to.grh.traffic_class & 3) == 3)
		here.warn("congestion-marked", row("ah_attr.grh.traffic_class"),
			  "clear the lowest two bits, or set them to 2 (ECT)")
			.reason.addf("traffic_class 0x%02x has both ECN bits set: every packet "
				     "says that it met congestion, and the peer slows us down",
				     to.grh.traffic_class);
	if (here.at.sgid == gid_kind::roce_v1)
		here.warn("gid-not-v2", row("ah_attr.grh.sgid_index"),
			  "an entry of type RoCE v2 with the address of the interface: qpattr "
			  "doctor lists them")
			.reason.addf("entry %u of the GID table is RoCE v1: packets without IP, "
				     "which no router forwards and a peer with RoCE v2 does not "
				     "understand",
				     to.grh.sgid_index);
	else if (here.at.sgid == gid_kind::unknown && to.grh.sgid_index == 0 && is_routable(gid))
		here.note("sgid-index-0", row("ah_attr.grh.sgid_index"),
			  "look at the entry (qpattr doctor): it must be RoCE v2 and of the "
			  "destination's address family")
			.reason.add("entry 0 of the GID table is often the link-local one or RoCE "
				    "v1, and the destination is an IP address");
}

void address(const linter &here) noexcept
{
	const ibv_ah_attr &to = here.attr.ah_attr;
	if (to.is_global) {
		route(here);
	} else if (here.at.link_layer == IBV_LINK_LAYER_ETHERNET) {
		here.problem("no-grh-on-ethernet", row("ah_attr.is_global"),
			     "is_global=1 with dgid, sgid_index and hop_limit")
			.reason.add("is_global 0, and RoCE has no other address than the GIDs: "
				    "ibv_modify_qp() answers EINVAL");
	} else if (to.dlid == 0) {
		here.problem("no-destination", row("ah_attr.dlid"),
			     "ask again once connected, or give a LID or a global route")
			.reason.add("neither a LID nor a global route: the QP has nobody to send "
				    "to");
	}
	if (here.at.gid_count && to.is_global && to.grh.sgid_index >= here.at.gid_count)
		here.problem("sgid-index-range", row("ah_attr.grh.sgid_index"),
			     "an index that is in the table: qpattr doctor lists it")
			.reason.addf("the port's GID table has %u entries, and sgid_index is %u",
				     here.at.gid_count, to.grh.sgid_index);
	if (to.static_rate == IBV_RATE_MAX)
		return;
	if (const unsigned mbps = rate_mbps(to.static_rate); mbps == 0)
		here.problem("static-rate-range", row("ah_attr.static_rate"),
			     "0, the port's own rate")
			.reason.addf("static_rate %u is no enum ibv_rate", to.static_rate);
	else if (is_roce(here.attr, here.mask, here.at)) {
		text &reason = here.warn("static-rate", row("ah_attr.static_rate"),
					 "0, the port's own rate, unless the throttle is meant")
				       .reason;
		reason.addf("static_rate %u holds the QP to ", to.static_rate);
		add_static_rate(reason, to.static_rate);
	}
}

void pkey(const linter &here) noexcept
{
	const unsigned index = here.attr.pkey_index;
	if (here.at.pkey_count && index >= here.at.pkey_count)
		here.problem("pkey-index-range", row("pkey_index"),
			     "an index that is in the table: qpattr doctor lists it")
			.reason.addf("the port's P_Key table has %u entries, and pkey_index is %u",
				     here.at.pkey_count, index);
	else if (index && here.at.link_layer == IBV_LINK_LAYER_ETHERNET)
		here.warn("pkey-on-roce", row("pkey_index"), "pkey_index=0")
			.reason.addf("pkey_index %u on RoCE, which has one partition, at entry 0",
				     index);
}

bool is_connected_type(std::uint32_t type) noexcept
{
	return type == 0 || type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
}

} // namespace

void lint_path(const linter &here) noexcept
{
	if (here.has(IBV_QP_PATH_MTU))
		path_mtu(here);
	if (here.has(IBV_QP_AV))
		address(here);
	if (here.has(IBV_QP_PKEY_INDEX))
		pkey(here);
}

// Access flags are linted beside the read depth only: before the connection they are
// 0 whatever comes, and UC and XRC_INI have none of it.
void lint_access(const linter &here) noexcept
{
	const unsigned answers = here.attr.max_dest_rd_atomic;
	if (here.has(IBV_QP_MAX_DEST_RD_ATOMIC)) {
		const bool flags =
			here.has(IBV_QP_ACCESS_FLAGS) && is_connected_type(here.at.qp_type);
		const bool readable = here.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ;
		if (flags && answers && !readable)
			here.warn("no-remote-read", row("qp_access_flags"),
				  "modify the QP with INIT's attributes again once the connection "
				  "is known (INIT to INIT is allowed): before, they are 0")
				.reason.addf("the QP answers READs (%u at a time), but its access "
					     "flags lack REMOTE_READ: the peer's READs end in "
					     "IBV_WC_REM_ACCESS_ERR",
					     answers);
		if (answers == 0)
			here.note("no-reads-answered", row("max_dest_rd_atomic"),
				  "if the peer is to READ: responder_resources of this end's "
				  "rdma_connect() or rdma_accept(), at most the device's "
				  "max_qp_rd_atom")
				.reason.add("max_dest_rd_atomic 0: READs and atomics of the peer "
					    "are refused");
	}
	if (!here.has(IBV_QP_MAX_QP_RD_ATOMIC))
		return;
	const char *const initiator = "initiator_depth of this end and responder_resources of the "
				      "peer's, up to 16 on most devices";
	if (here.attr.max_rd_atomic == 0)
		here.note("no-reads-sent", row("max_rd_atomic"), initiator)
			.reason.add("max_rd_atomic 0: this end can send no READ and no atomic");
	else if (here.attr.max_rd_atomic == 1)
		here.note("read-depth-1", row("max_rd_atomic"), initiator)
			.reason.add("max_rd_atomic 1: each READ waits until the one before is "
				    "answered, one round trip each");
}

} // namespace qpattr::attr
