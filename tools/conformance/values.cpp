// SPDX-License-Identifier: MIT
#include "tools/conformance/values.hpp"

#include <cstring>

#include "tools/conformance/endpoint.hpp"

namespace conformance {
namespace {

// All that can be learnt about one side.
struct learnt {
	ibv_qp_attr init, rtr, rts;
	bool whole;
};

ibv_qp_attr learn(init_qp_attr_fn *from, rdma_cm_id *id, ibv_qp_state state, bool &whole)
{
	ibv_qp_attr attr;
	std::memset(&attr, 0xa5, sizeof attr);
	attr.qp_state = state;
	int mask = 0;
	if (from(id, &attr, &mask) != 0)
		whole = false;
	return attr;
}

learnt learn_all(init_qp_attr_fn *from, rdma_cm_id *id)
{
	learnt out{};
	out.whole = true;
	out.init = learn(from, id, IBV_QPS_INIT, out.whole);
	out.rtr = learn(from, id, IBV_QPS_RTR, out.whole);
	out.rts = learn(from, id, IBV_QPS_RTS, out.whole);
	return out;
}

class wrong_list {
public:
	void number(const char *what, unsigned got, unsigned wanted)
	{
		if (got != wanted)
			text_ += std::string{text_.empty() ? "" : ", "} + what + " is " +
				 std::to_string(got) + ", not " + std::to_string(wanted);
	}
	[[nodiscard]] const std::string &text() const { return text_; }

private:
	std::string text_;
};

// The numbers that the two sides agree on by what they offer and accept.
struct agreed {
	unsigned max_dest_rd_atomic, max_rd_atomic, rnr_retry;
};

std::string wrong_with(const learnt &here, const learnt &there, const established_side &who,
		       const established_side &peer, const agreed &on)
{
	if (!here.whole || !there.whole)
		return "an answer was refused";
	wrong_list wrong;
	wrong.number("port_num", here.init.port_num, who.id->port_num);
	// Remote write always, remote read and atomics where reads are taken; the two
	// flush flags above them came with later kernels.
	wrong.number("qp_access_flags", here.init.qp_access_flags & 0xff,
		     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			     IBV_ACCESS_REMOTE_ATOMIC);
	wrong.number("dest_qp_num", here.rtr.dest_qp_num, peer.qp_number);
	wrong.number("rq_psn", here.rtr.rq_psn, there.rts.sq_psn);
	wrong.number("sq_psn", here.rts.sq_psn, there.rtr.rq_psn);
	wrong.number("is_global", here.rtr.ah_attr.is_global, 1);
	wrong.number("ah_attr.port_num", here.rtr.ah_attr.port_num, who.id->port_num);
	wrong.number("path_mtu", here.rtr.path_mtu, there.rtr.path_mtu);
	wrong.number("min_rnr_timer", here.rtr.min_rnr_timer, 0);
	wrong.number("max_dest_rd_atomic", here.rtr.max_dest_rd_atomic, on.max_dest_rd_atomic);
	wrong.number("max_rd_atomic", here.rts.max_rd_atomic, on.max_rd_atomic);
	// Both sides' retry count is the active side's.
	wrong.number("retry_cnt", here.rts.retry_cnt, offered().retry_count);
	wrong.number("rnr_retry", here.rts.rnr_retry, on.rnr_retry);
	wrong.number("timeout is none", here.rts.timeout == 0, 0);
	const ibv_gid gid = gid_of(::rdma_get_peer_addr(who.id));
	wrong.number("dgid differs", std::memcmp(&gid, &here.rtr.ah_attr.grh.dgid, sizeof gid) != 0,
		     0);
	return wrong.text();
}

} // namespace

void check_values(report &to, const established_side &active, const established_side &passive)
{
	// The passive side has the last word on both numbers of reads, and the active
	// side takes its own crosswise from there. Each side retries on RNR as often
	// as the other one wants.
	const rdma_conn_param request = offered(), reply = accepted();
	const agreed at_active{reply.initiator_depth, reply.responder_resources,
			       reply.rnr_retry_count};
	const agreed at_passive{reply.responder_resources, reply.initiator_depth,
				request.rnr_retry_count};
	for (const auto &[name, from] : to.implementations()) {
		const learnt a = learn_all(from, active.id), p = learn_all(from, passive.id);
		std::string wrong = wrong_with(a, p, active, passive, at_active);
		to.expect(wrong.empty(), std::string{"values, active, "} + name, wrong);
		wrong = wrong_with(p, a, passive, active, at_passive);
		to.expect(wrong.empty(), std::string{"values, passive, "} + name, wrong);
	}
}

} // namespace conformance
