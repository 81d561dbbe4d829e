// SPDX-License-Identifier: MIT
#include "lib/cm/qp.hpp"

#include <cerrno>

#include "lib/cm/device.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/uncancelled.hpp"
#include "lib/cm/verbs_error.hpp"
#include "lib/cm/qp_moves.hpp"

namespace qpattr::cm {
namespace {

// A queue of the caller's, or the id's, which is made where there is none yet.
result<void> have_queues(identifier &id, ibv_qp_init_attr_ex &init) noexcept
{
	if (!init.recv_cq && !id.recv_cq)
		if (const auto made = create_receive_cq(id, init.cap.max_recv_wr); !made)
			return made;
	if (!init.send_cq && !id.send_cq)
		if (const auto made = create_send_cq(id, init.cap.max_send_wr); !made)
			return made;
	if (!init.recv_cq)
		init.recv_cq = id.recv_cq;
	if (!init.send_cq)
		init.send_cq = id.send_cq;
	// A QP without a queue: providers crash on it.
	const bool needs = init.qp_type != IBV_QPT_XRC_RECV;
	if (needs && (!init.send_cq || (!init.recv_cq && init.qp_type != IBV_QPT_XRC_SEND)))
		return wrong(EINVAL);
	return {};
}

result<ibv_qp *> make(identifier &id, ibv_qp_init_attr_ex &init) noexcept
{
	// An endpoint that receives by XRC has a domain, whatever QP it is given; on another
	// id a QP that wants one must bring it. As stock.
	if (id.qp_type == IBV_QPT_XRC_RECV &&
	    !((init.comp_mask & IBV_QP_INIT_ATTR_XRCD) && init.xrcd)) {
		const auto domain = default_xrcd(id.verbs);
		if (!domain)
			return domain.why();
		init.xrcd = domain.value();
		init.comp_mask |= IBV_QP_INIT_ATTR_XRCD;
	}
	if (const auto queues = have_queues(id, init); !queues)
		return queues.why();
	if (!init.srq)
		init.srq = id.srq;
	errno = 0;
	ibv_qp *qp = ibv_create_qp_ex(id.verbs, &init);
	if (!qp)
		return nothing_made(EINVAL);
	id.local_ece = ece_of(*qp);
	const auto moved = init.qp_type == IBV_QPT_UD ? to_datagram_ready(id, *qp)
						      : to_init(id, *qp);
	if (!moved) {
		ibv_destroy_qp(qp);
		return moved.why();
	}
	return qp;
}

} // namespace

ibv_pd *usual_pd(const identifier &id) noexcept
{
	const device *dev = id.has(identifier::past_pd) ? device_of(id.verbs) : nullptr;
	return dev ? dev->pd : id.pd;
}

result<void> create_qp(identifier &id, ibv_qp_init_attr_ex &init) noexcept
{
	if (!id.verbs || id.qp)
		return wrong(EINVAL);
	if (!(init.comp_mask & IBV_QP_INIT_ATTR_PD) || !init.pd) {
		init.comp_mask |= IBV_QP_INIT_ATTR_PD;
		init.pd = usual_pd(id);
	} else if (init.pd->context != id.verbs) {
		return wrong(EINVAL);
	}
	if ((init.recv_cq && id.recv_cq_channel) || (init.send_cq && id.send_cq_channel))
		return wrong(EINVAL);
	const uncancelled held;
	const queues_before before{id};
	const auto made = make(id, init);
	if (!made) {
		before.restore(id);
		return made.why();
	}
	id.pd = init.pd;
	id.put(identifier::past_pd, false);
	id.qp = made.value();
	return {};
}

result<void> create_qp(identifier &id, ibv_pd *pd, ibv_qp_init_attr &init) noexcept
{
	ibv_qp_init_attr_ex wide{};
	wide.qp_context = init.qp_context;
	wide.send_cq = init.send_cq;
	wide.recv_cq = init.recv_cq;
	wide.srq = init.srq;
	wide.cap = init.cap;
	wide.qp_type = init.qp_type;
	wide.sq_sig_all = init.sq_sig_all;
	wide.comp_mask = IBV_QP_INIT_ATTR_PD;
	wide.pd = pd;
	const auto made = create_qp(id, wide);
	if (!made)
		return made;
	init.send_cq = wide.send_cq;
	init.recv_cq = wide.recv_cq;
	init.srq = wide.srq;
	init.cap = wide.cap;
	return {};
}

} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_create_qp(rdma_cm_id *id, ibv_pd *pd, ibv_qp_init_attr *qp_init_attr)
{
	const call made;
	if (!usable(id) || !qp_init_attr)
		return refuse(EINVAL);
	return made.finish(create_qp(*own(id), pd, *qp_init_attr));
}

int rdma_create_qp_ex(rdma_cm_id *id, ibv_qp_init_attr_ex *qp_init_attr)
{
	const call made;
	if (!usable(id) || !qp_init_attr)
		return refuse(EINVAL);
	// Where it fails nothing is the caller's: the queues that were made are gone again.
	const ibv_qp_init_attr_ex given = *qp_init_attr;
	const auto created = create_qp(*own(id), *qp_init_attr);
	if (!created)
		*qp_init_attr = given;
	return made.finish(created);
}

void rdma_destroy_qp(rdma_cm_id *id)
{
	if (!known(id) || !id->qp)
		return;
	const uncancelled held;
	detach_all(*own(id));
	ibv_destroy_qp(id->qp);
	id->qp = nullptr;
	own(id)->put(identifier::past_pd, true);
	destroy_cqs(*own(id));
}
