// SPDX-License-Identifier: MIT
// Ids of other types and port spaces: UC, XRC, RDMA_PS_IB. The numbers of their QPs
// are made up: not every device has such QPs, and the connection manager does not
// look.
#include <cerrno>
#include <cstring>

#include "tools/conformance/party.hpp"

namespace conformance {
namespace {

using enum side;
using enum standing;

constexpr std::uint32_t made_up_qp = 0x4711;

struct kind_of_id {
	ibv_qp_type type;
	rdma_port_space space;
};

// An id of the type, with its route resolved to `far`; on a channel afterwards.
id_ptr endpoint(const channel_ptr &channel, const kind_of_id &kind, const address &near,
		const address *far)
{
	address from = near.in(kind.space), to = far ? far->in(kind.space) : address{};
	rdma_addrinfo info{};
	info.ai_family = near.family();
	info.ai_qp_type = kind.type;
	info.ai_port_space = kind.space;
	if (far) {
		info.ai_dst_addr = to.get();
		info.ai_dst_len = to.len();
	} else {
		info.ai_flags = RAI_PASSIVE;
		info.ai_src_addr = from.get();
		info.ai_src_len = from.len();
	}
	rdma_cm_id *made = nullptr;
	must(::rdma_create_ep(&made, &info, nullptr, nullptr), "rdma_create_ep");
	id_ptr id{made};
	must(::rdma_migrate_id(made, channel.get()), "rdma_migrate_id");
	return id;
}

void walk_connected(report &to, const place &at, const kind_of_id &kind,
		    const kind_of_id &listening_kind)
{
	if (at.by == manager::iwarp && kind.type != IBV_QPT_RC)
		throw unavailable("iWARP has RC only");
	if (!to.begin({{"bound", listener, simple},
		       {"listening on a device", listener, listening},
		       {"route resolved", active, simple},
		       {"connecting", active, requested},
		       {"request received", passive, connected},
		       {"response sent", passive, connected},
		       {"response received", active, connected},
		       {"established", active, connected},
		       {"established", passive, connected},
		       {"disconnected", active, closed},
		       {"disconnected", passive, closed}},
		      {kind.type, at.by}))
		return;
	const channel_ptr near = make_channel(), far = make_channel();
	const id_ptr one = endpoint(far, listening_kind, at.where, nullptr);
	to.visit("bound", listener, one.get());
	must(::rdma_listen(one.get(), 0), "rdma_listen");
	to.visit("listening on a device", listener, one.get());
	const address goal = at.where.with_port(port_of(one));
	const id_ptr a = endpoint(near, kind, at.where, &goal);
	to.visit("route resolved", active, a.get());

	rdma_conn_param offer = offered(), reply = accepted();
	offer.qp_num = made_up_qp;
	reply.qp_num = made_up_qp + 1;
	must(::rdma_connect(a.get(), &offer), "rdma_connect");
	await_event(far);
	to.visit("connecting", active, a.get());
	const id_ptr p = take_request(far);
	to.visit("request received", passive, p.get());
	must(::rdma_accept(p.get(), &reply), "rdma_accept");
	to.visit("response sent", passive, p.get());
	(void)take_event(near, RDMA_CM_EVENT_CONNECT_RESPONSE);
	to.visit("response received", active, a.get());
	must(::rdma_establish(a.get()), "rdma_establish");
	(void)take_event(far, RDMA_CM_EVENT_ESTABLISHED);
	to.visit("established", active, a.get());
	to.visit("established", passive, p.get());
	must(::rdma_disconnect(a.get()), "rdma_disconnect");
	(void)take_event(far, RDMA_CM_EVENT_DISCONNECTED);
	must(::rdma_disconnect(p.get()), "rdma_disconnect, passive");
	(void)take_event(near, RDMA_CM_EVENT_DISCONNECTED);
	to.visit("disconnected", active, a.get());
	to.visit("disconnected", passive, p.get());
}

} // namespace

void walk_uc(report &to, const place &at)
{
	const kind_of_id uc{IBV_QPT_UC, RDMA_PS_IB};
	walk_connected(to, at, uc, uc);
}

void walk_xrc(report &to, const place &at)
{
	walk_connected(to, at, {IBV_QPT_XRC_SEND, RDMA_PS_IB}, {IBV_QPT_XRC_RECV, RDMA_PS_IB});
}

void walk_ib_rc(report &to, const place &at)
{
	if (at.by == manager::iwarp)
		throw unavailable("RDMA_PS_IB is InfiniBand's");
	const kind_of_id rc{IBV_QPT_RC, RDMA_PS_IB};
	walk_connected(to, at, rc, rc);
}

void walk_ib_ud(report &to, const place &at)
{
	if (at.by == manager::iwarp)
		throw unavailable("iWARP has no UD");
	if (!to.begin({{"bound", listener, datagram},
		       {"listening on a device", listener, datagram},
		       {"route resolved", active, datagram},
		       {"connecting", active, datagram},
		       {"request received", passive, datagram},
		       {"response sent", passive, datagram},
		       {"established", active, datagram}},
		      {IBV_QPT_UD, at.by}))
		return;
	const kind_of_id ud{IBV_QPT_UD, RDMA_PS_IB};
	const channel_ptr near = make_channel(), far = make_channel();
	const id_ptr one = endpoint(far, ud, at.where, nullptr);
	to.visit("bound", listener, one.get());
	must(::rdma_listen(one.get(), 0), "rdma_listen");
	to.visit("listening on a device", listener, one.get());
	const address goal = at.where.with_port(port_of(one));
	const id_ptr a = endpoint(near, ud, at.where, &goal);
	to.visit("route resolved", active, a.get());
	rdma_conn_param offer{}, reply{};
	must(::rdma_connect(a.get(), &offer), "rdma_connect");
	await_event(far);
	to.visit("connecting", active, a.get());
	const id_ptr p = take_request(far);
	to.visit("request received", passive, p.get());
	reply.qp_num = made_up_qp;
	must(::rdma_accept(p.get(), &reply), "rdma_accept");
	to.visit("response sent", passive, p.get());
	(void)take_event(near, RDMA_CM_EVENT_ESTABLISHED);
	to.visit("established", active, a.get());
}

// RoCE takes no GIDs for addresses: there it ends with the wildcard.
void walk_af_ib(report &to, const place &at)
{
	if (!to.begin({{"created", active, no_device},
		       {"bound to the wildcard", active, no_device},
		       {"listening on the wildcard", active, no_device},
		       {"bound", active, simple}},
		      {IBV_QPT_RC, at.by}))
		return;
	const channel_ptr channel = make_channel();
	const id_ptr any = make_id(channel, RDMA_PS_IB), one = make_id(channel, RDMA_PS_IB);
	const address where = at.where.is_ib() ? at.where : at.where.as_gid();
	to.visit("created", active, any.get());
	bind_to(any, where.wildcard());
	to.visit("bound to the wildcard", active, any.get());
	must(::rdma_listen(any.get(), 0), "rdma_listen");
	to.visit("listening on the wildcard", active, any.get());
	if (::rdma_bind_addr(one.get(), where.in(RDMA_PS_IB).get()) != 0)
		throw unavailable(std::string{"bound to a GID: "} + std::strerror(errno));
	to.visit("bound", active, one.get());
}

} // namespace conformance
