// SPDX-License-Identifier: MIT
#include "tools/conformance/party.hpp"

namespace conformance {

void party::make(qp_kind kind)
{
	if (kind == qp_kind::own)
		qp.emplace(id);
	else
		make_qp(id);
}

std::uint32_t party::qp_number() const
{
	return qp ? qp->number() : id->qp->qp_num;
}

rdma_conn_param party::with_qp(rdma_conn_param param) const
{
	if (qp)
		param.qp_num = qp->number();
	return param;
}

id_ptr resolved_id(const channel_ptr &near, const address &where, rdma_port_space space,
		   std::uint16_t port, const preparation &prepare)
{
	id_ptr id = make_id(near, space);
	if (prepare)
		prepare(id.get());
	resolve_address(near, id, where.with_port(port));
	resolve_route(near, id);
	return id;
}

id_ptr requester(const channel_ptr &near, const address &where, rdma_port_space space,
		 std::uint16_t port)
{
	id_ptr id = resolved_id(near, where, space, port);
	make_qp(id);
	rdma_conn_param offer = offered();
	must(::rdma_connect(id.get(), &offer), "rdma_connect");
	return id;
}

connection connect(const place &at, const connection_wishes &wishes)
{
	connection out;
	out.listener = make_listener(out.far, RDMA_PS_TCP, at.where);
	out.active = resolved_id(out.near, at.where, RDMA_PS_TCP, port_of(out.listener),
				 wishes.active);
	make_qp(out.active);
	rdma_conn_param offer = wishes.offer, reply = wishes.reply;
	must(::rdma_connect(out.active.get(), &offer), "rdma_connect");
	out.passive = take_request(out.far);
	if (wishes.passive)
		wishes.passive(out.passive.get());
	make_qp(out.passive);
	must(::rdma_accept(out.passive.get(), &reply), "rdma_accept");
	(void)take_event(out.near, RDMA_CM_EVENT_ESTABLISHED);
	(void)take_event(out.far, RDMA_CM_EVENT_ESTABLISHED);
	return out;
}

} // namespace conformance
