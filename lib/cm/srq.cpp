// SPDX-License-Identifier: MIT
// Shared receive queues on an id.
#include <cerrno>

#include "lib/cm/device.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/uncancelled.hpp"
#include "lib/cm/verbs_error.hpp"
#include "lib/cm/qp.hpp"

#include <rdma/rdma_verbs.h>

namespace qpattr::cm {
namespace {

bool is_xrc(const ibv_srq_init_attr_ex &init) noexcept
{
	return (init.comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && init.srq_type == IBV_SRQT_XRC;
}

// An XRC SRQ has completions of its own, and a domain that its senders name.
result<void> have_xrc_parts(identifier &id, ibv_srq_init_attr_ex &init) noexcept
{
	if (!(init.comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !init.xrcd) {
		const auto domain = default_xrcd(id.verbs);
		if (!domain)
			return domain.why();
		init.xrcd = domain.value();
		init.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
	}
	if (!(init.comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !init.cq) {
		if (!id.recv_cq)
			if (const auto made = create_receive_cq(id, init.attr.max_wr); !made)
				return made;
		if (!id.recv_cq)
			return wrong(EINVAL); // none for no entries
		init.cq = id.recv_cq;
		init.comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	}
	return {};
}

result<void> create(identifier &id, ibv_srq_init_attr_ex &init) noexcept
{
	if (!id.verbs || !(init.comp_mask & IBV_SRQ_INIT_ATTR_TYPE))
		return wrong(EINVAL);
	if (!(init.comp_mask & IBV_SRQ_INIT_ATTR_PD) || !init.pd) {
		init.pd = usual_pd(id);
		init.comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	} else if (!init.pd->context) {
		return wrong(EINVAL);
	}
	const uncancelled held;
	const queues_before before{id};
	if (is_xrc(init))
		if (const auto parts = have_xrc_parts(id, init); !parts)
			return parts;
	errno = 0;
	ibv_srq *srq = ibv_create_srq_ex(id.verbs, &init);
	if (!srq) {
		const failure why = nothing_made(EINVAL);
		before.restore(id);
		return why;
	}
	if (!id.pd)
		id.pd = init.pd;
	id.srq = srq;
	return {};
}

} // namespace
} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_create_srq(rdma_cm_id *id, ibv_pd *pd, ibv_srq_init_attr *attr)
{
	if (!known(id) || !attr)
		return refuse(EINVAL);
	ibv_srq_init_attr_ex wide{};
	wide.srq_context = attr->srq_context;
	wide.attr = attr->attr;
	wide.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	wide.srq_type = IBV_SRQT_BASIC;
	wide.pd = pd;
	const int refused = rdma_create_srq_ex(id, &wide);
	if (refused)
		return refused;
	attr->attr = wide.attr;
	return 0;
}

int rdma_create_srq_ex(rdma_cm_id *id, ibv_srq_init_attr_ex *attr)
{
	const call made;
	if (!known(id) || !attr)
		return refuse(EINVAL);
	const ibv_srq_init_attr_ex given = *attr;
	const auto created = create(*own(id), *attr);
	if (!created)
		*attr = given; // queues that were made for it are gone again
	return made.finish(created);
}

void rdma_destroy_srq(rdma_cm_id *id)
{
	if (!known(id) || !id->srq)
		return;
	const uncancelled held;
	ibv_destroy_srq(id->srq);
	id->srq = nullptr;
	// An XRC SRQ's own queue; a QP's goes with the QP.
	if (!id->qp)
		destroy_cqs(*own(id));
}
