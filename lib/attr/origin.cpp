// SPDX-License-Identifier: MIT
// What the kernel fills in was measured on four kernels: see docs/clean-room.md.
#include "lib/attr/origin.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace qpattr::attr {
namespace {

constexpr auto every = IBV_QPS_UNKNOWN;

// By what a bit of the mask selects: all fields of an address go together.
struct transition {
	std::uint32_t mask_bit;
	ibv_qp_state to;
};
constexpr std::array transitions{
	transition{IBV_QP_PKEY_INDEX, IBV_QPS_INIT},
	transition{IBV_QP_PORT, IBV_QPS_INIT},
	transition{IBV_QP_ACCESS_FLAGS, IBV_QPS_INIT},
	transition{IBV_QP_QKEY, IBV_QPS_INIT},
	transition{IBV_QP_AV, IBV_QPS_RTR},
	transition{IBV_QP_PATH_MTU, IBV_QPS_RTR},
	transition{IBV_QP_DEST_QPN, IBV_QPS_RTR},
	transition{IBV_QP_RQ_PSN, IBV_QPS_RTR},
	transition{IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QPS_RTR},
	transition{IBV_QP_MIN_RNR_TIMER, IBV_QPS_RTR},
	transition{IBV_QP_ALT_PATH, IBV_QPS_RTR},
	transition{IBV_QP_TIMEOUT, IBV_QPS_RTS},
	transition{IBV_QP_RETRY_CNT, IBV_QPS_RTS},
	transition{IBV_QP_RNR_RETRY, IBV_QPS_RTS},
	transition{IBV_QP_SQ_PSN, IBV_QPS_RTS},
	transition{IBV_QP_MAX_QP_RD_ATOMIC, IBV_QPS_RTS},
	transition{IBV_QP_PATH_MIG_STATE, IBV_QPS_RTS},
};

struct origin {
	std::string_view name;
	const char *sentence;
};
constexpr const char *alternate =
	"From the alternate path in the connection request; only InfiniBand has one, and a user "
	"of the connection manager cannot ask for it.";
constexpr std::array origins{
	origin{"qp_state", "The state that the program asked for, given back."},
	origin{"path_mtu",
	       "Active side: from the path; on RoCE the largest path MTU that fits into the "
	       "interface's MTU less 96 bytes. Passive side: what the connection request says."},
	origin{"path_mig_state",
	       "REARM wherever the answer has it: when there is an alternate path."},
	origin{"qkey", "The connection manager's own (0x01234567) for port spaces UDP and IB; for "
		       "IPOIB that of the interface's broadcast group."},
	origin{"rq_psn", "A random number that this side's kernel chose with the connection and "
			 "told the peer: the peer's sq_psn."},
	origin{"sq_psn", "The number that the peer's kernel chose and told in the connection "
			 "request or reply: the peer's rq_psn."},
	origin{"dest_qp_num", "The peer's QP number, from the connection request or reply: what "
			      "its program gave to rdma_connect or rdma_accept."},
	origin{"qp_access_flags",
	       "Nothing before rdma_connect; then REMOTE_WRITE always, REMOTE_READ and "
	       "REMOTE_ATOMIC if this side's responder_resources are not 0, and from kernel 6.12 "
	       "on FLUSH where the device has it."},
	origin{"ah_attr.grh.dgid",
	       "On RoCE the peer's IP address in the form of a GID; on InfiniBand that of the path "
	       "or of the connection request."},
	origin{"ah_attr.grh.flow_label",
	       "On RoCE v2 the label of the IPv6 address, else made of the two ports; 0 where "
	       "neither counts. Passive side: from the connection request."},
	origin{"ah_attr.grh.sgid_index",
	       "The entry of the port's GID table for this side's address; on RoCE that of the "
	       "device's default RoCE type (v2 if it can)."},
	origin{"ah_attr.grh.hop_limit",
	       "On RoCE that of the route to the peer in this host (64 as a rule, 1 for AF_IB "
	       "addresses); on InfiniBand that of the path."},
	origin{"ah_attr.grh.traffic_class",
	       "The option TOS, if it was set before rdma_resolve_route, else default_roce_tos of "
	       "configfs. Passive side: what the connection request says."},
	origin{"ah_attr.dlid", "The LID of the path on InfiniBand; 0 on RoCE, which has none."},
	origin{"ah_attr.sl",
	       "On RoCE by the interface's map of priorities from TOS; on InfiniBand that of the "
	       "path. Passive side: what the connection request says."},
	origin{"ah_attr.src_path_bits", "The low bits of this port's LID on InfiniBand, of which "
					"the path uses one; 0 on RoCE."},
	origin{"ah_attr.static_rate",
	       "The rate of the path on InfiniBand; 0, the port's, on RoCE."},
	origin{"ah_attr.is_global",
	       "Always 1 on RoCE; on InfiniBand 1 if the path leads through a router."},
	origin{"ah_attr.port_num", "The port of the device to which the connection is bound."},
	origin{"pkey_index",
	       "On RoCE the entry of 0xffff; on InfiniBand that of the interface's partition, and "
	       "once connected that of the path's or the connection request's."},
	origin{"max_rd_atomic",
	       "Active side: the responder_resources of the peer's reply. Passive side: those of "
	       "the request, and once it called rdma_accept its own initiator_depth."},
	origin{"max_dest_rd_atomic",
	       "This side's responder_resources: of rdma_connect, cut to what the peer's reply "
	       "wants; of rdma_accept, and before it the initiator_depth of the request."},
	origin{"min_rnr_timer", "Always 0, 655.36 ms: no option of the connection manager sets it, "
				"so an override is the way."},
	origin{"port_num", "The port of the device to which the id is bound or on which the "
			   "connection request came."},
	origin{"timeout",
	       "Twice the packet lifetime of the path and the peer's ack delay, in powers of two; "
	       "the lifetime on RoCE is a constant of the kernel (18, from 6.12 on 16), and the "
	       "option ACK_TIMEOUT replaces it. Passive side: what the connection request says."},
	origin{"retry_cnt",
	       "The retry_count of rdma_connect, on both sides; that of rdma_accept is "
	       "ignored."},
	origin{"rnr_retry", "The peer's rnr_retry_count: of its rdma_accept on the active side, of "
			    "its rdma_connect on the passive side."},
	origin{"alt_pkey_index", alternate},
	origin{"alt_port_num", alternate},
	origin{"alt_timeout", alternate},
};

constexpr const origin *find(std::string_view name) noexcept
{
	for (const origin &each : origins)
		if (each.name == name)
			return &each;
	return nullptr;
}

consteval bool whole()
{
	for (const origin &each : origins) {
		bool known = false;
		for (const attribute &what : attributes)
			known |= each.name == what.name;
		if (!known)
			return false;
	}
	return true;
}
static_assert(whole());

} // namespace

ibv_qp_state transition_of(const attribute &what) noexcept
{
	for (const transition &each : transitions)
		if (each.mask_bit == what.mask_bit)
			return each.to;
	return every;
}

const char *origin_of(const attribute &what) noexcept
{
	if (const origin *found = find(what.name))
		return found->sentence;
	return what.mask_bit == IBV_QP_ALT_PATH ? alternate : "";
}

} // namespace qpattr::attr
