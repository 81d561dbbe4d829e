// SPDX-License-Identifier: MIT
// UD: ids that look a peer up, of RDMA_PS_IPOIB, and members of multicast groups.
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>

#include "tools/conformance/party.hpp"

namespace conformance {
namespace {

using enum side;
using enum standing;

subject ud(const place &at)
{
	if (at.by == manager::iwarp)
		throw unavailable("iWARP has no UD");
	return {IBV_QPT_UD, at.by};
}

// A group of the family: 239.77.0.1, ff15::77.
address group_beside(const address &where)
{
	return parse_address(where.family() == AF_INET6 ? "ff15::77" : "239.77.0.1");
}

} // namespace

void walk_ud(report &to, const place &at)
{
	const address &where = at.where;
	if (!to.begin({{"listening on the wildcard", listener, no_device},
		       {"listening on a device", listener, datagram},
		       {"created", active, no_device},
		       {"bound", active, datagram},
		       {"address resolved", active, datagram},
		       {"route resolved", active, datagram},
		       {"QP made", active, datagram},
		       {"connecting", active, datagram},
		       {"request received", passive, datagram},
		       {"QP made", passive, datagram},
		       {"response sent", passive, datagram},
		       {"established", active, datagram},
		       {"rejected by the peer", active, datagram},
		       {"rejected by itself", passive, datagram},
		       {"nobody listens", active, datagram}},
		      ud(at)))
		return;
	const channel_ptr near = make_channel(), far = make_channel();
	const id_ptr any = make_listener(far, RDMA_PS_UDP, where.wildcard());
	to.visit("listening on the wildcard", listener, any.get());
	const id_ptr one = make_listener(far, RDMA_PS_UDP, where);
	to.visit("listening on a device", listener, one.get());

	const id_ptr a = make_id(near, RDMA_PS_UDP);
	to.visit("created", active, a.get());
	bind_to(a, where);
	to.visit("bound", active, a.get());
	resolve_address(near, a, where.with_port(port_of(one)));
	to.visit("address resolved", active, a.get());
	resolve_route(near, a);
	to.visit("route resolved", active, a.get());
	make_qp(a);
	to.visit("QP made", active, a.get());
	rdma_conn_param offer{};
	must(::rdma_connect(a.get(), &offer), "rdma_connect");
	await_event(far);
	to.visit("connecting", active, a.get());
	const id_ptr p = take_request(far);
	to.visit("request received", passive, p.get());
	make_qp(p);
	to.visit("QP made", passive, p.get());
	rdma_conn_param reply{};
	reply.qp_num = p->qp->qp_num;
	must(::rdma_accept(p.get(), &reply), "rdma_accept");
	to.visit("response sent", passive, p.get());
	(void)take_event(near, RDMA_CM_EVENT_ESTABLISHED);
	to.visit("established", active, a.get());

	const id_ptr asked = requester(near, where, RDMA_PS_UDP, port_of(one));
	const id_ptr refuser = take_request(far);
	must(::rdma_reject(refuser.get(), nullptr, 0), "rdma_reject");
	(void)take_event(near, RDMA_CM_EVENT_UNREACHABLE);
	to.visit("rejected by the peer", active, asked.get());
	to.visit("rejected by itself", passive, refuser.get());

	const std::uint16_t port = port_of(make_bound_id(far, RDMA_PS_UDP, where));
	const id_ptr alone = requester(near, where, RDMA_PS_UDP, port);
	(void)take_event(near, RDMA_CM_EVENT_UNREACHABLE);
	to.visit("nobody listens", active, alone.get());
}

void walk_ipoib(report &to, const place &at)
{
	if (!to.begin({{"created", active, no_device},
		       {"bound to the wildcard", active, no_device},
		       {"bound", active, any}},
		      ud(at)))
		return;
	const channel_ptr channel = make_channel();
	const id_ptr id = make_id(channel, RDMA_PS_IPOIB), one = make_id(channel, RDMA_PS_IPOIB);
	to.visit("created", active, id.get());
	bind_to(id, at.where.wildcard());
	to.visit("bound to the wildcard", active, id.get());
	if (::rdma_bind_addr(one.get(), at.where.in(RDMA_PS_IPOIB).get()) != 0)
		throw unavailable(std::string{"bound to the device: "} + std::strerror(errno));
	to.visit("bound", active, one.get());
}

void walk_multicast(report &to, const place &at)
{
	if (at.where.is_ib())
		throw unavailable("groups are joined by IP address here");
	if (!to.begin({{"bound", member, datagram},
		       {"QP made", member, datagram},
		       {"joining", member, datagram},
		       {"joined", member, datagram},
		       {"left", member, datagram}},
		      ud(at)))
		return;
	const channel_ptr channel = make_channel();
	const id_ptr id = make_bound_id(channel, RDMA_PS_UDP, at.where);
	to.visit("bound", member, id.get());
	make_qp(id);
	to.visit("QP made", member, id.get());
	address group = group_beside(at.where);
	if (::rdma_join_multicast(id.get(), group.get(), nullptr) != 0)
		throw unavailable("rdma_join_multicast: " + errno_name(errno));
	to.visit("joining", member, id.get());
	(void)take_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	to.visit("joined", member, id.get());
	must(::rdma_leave_multicast(id.get(), group.get()), "rdma_leave_multicast");
	to.visit("left", member, id.get());
}

} // namespace conformance
