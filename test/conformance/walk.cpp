// SPDX-License-Identifier: MIT
#include "test/conformance/walk.hpp"

#include <cstring>
#include <exception>
#include <fcntl.h>
#include <malloc.h>
#include <optional>
#include <unistd.h>
#include <vector>

#include "test/conformance/values.hpp"

namespace conformance {
namespace {

using enum side;
using enum standing;

template <class Body>
void walk(report &to, const std::string &name, std::span<const stop> stops, Body &&body)
{
	if (!to.begin(name, stops))
		return;
	try {
		body();
	} catch (const report::enough &) {
	} catch (const std::exception &e) {
		to.broken_off(e.what());
		return;
	}
	to.end();
}

std::string named(const char *kind, const address &where)
{
	return std::string{kind} + (where.is_v6() ? " IPv6" : " IPv4");
}

constexpr stop connection_stops[] = {
	{"created", active, no_device},
	{"bound", active, simple},
	{"address resolved", active, simple},
	{"route resolved", active, simple},
	{"QP made", active, simple},
	{"connecting", active, requested},
	{"request received", passive, connected},
	{"QP made", passive, connected},
	{"response sent", passive, connected},
	{"response received", active, connected},
	{"established", active, connected},
	{"established", passive, connected},
	{"disconnect sent", active, closed},
	{"disconnect received", passive, closed},
	{"disconnected", active, closed},
	{"disconnected", passive, closed},
	{"timewait over", active, closed},
	{"timewait over", passive, closed},
};

// One side's id, its QP if it is the program's own, and what it connects with.
struct party {
	id_ptr id;
	std::optional<own_qp> qp{};

	void make(qp_kind kind)
	{
		if (kind == qp_kind::own)
			qp.emplace(id);
		else
			make_qp(id);
	}
	[[nodiscard]] std::uint32_t qp_number() const
	{
		return qp ? qp->number() : id->qp->qp_num;
	}
	[[nodiscard]] rdma_conn_param with_qp(rdma_conn_param param) const
	{
		if (qp)
			param.qp_num = qp->number();
		return param;
	}
};

void disconnect(report &to, const channel_ptr &near, const channel_ptr &far, const party &a,
		const party &p)
{
	must(::rdma_disconnect(a.id.get()), "rdma_disconnect, active");
	to.visit("disconnect sent", active, a.id.get());
	await_event(far);
	to.visit("disconnect received", passive, p.id.get());
	(void)take_event(far, RDMA_CM_EVENT_DISCONNECTED);
	must(::rdma_disconnect(p.id.get()), "rdma_disconnect, passive");
	(void)take_event(near, RDMA_CM_EVENT_DISCONNECTED);
	to.visit("disconnected", active, a.id.get());
	to.visit("disconnected", passive, p.id.get());

	(void)take_event(near, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	(void)take_event(far, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	to.visit("timewait over", active, a.id.get());
	to.visit("timewait over", passive, p.id.get());
}

void connect(report &to, const address &where, qp_kind kind)
{
	const channel_ptr near = make_channel(), far = make_channel();
	const id_ptr listener = make_listener(far, RDMA_PS_TCP, where);

	party a{make_id(near, RDMA_PS_TCP)};
	to.visit("created", active, a.id.get());
	bind(a.id, where);
	to.visit("bound", active, a.id.get());
	resolve_address(near, a.id, where.with_port(port_of(listener)));
	to.visit("address resolved", active, a.id.get());
	resolve_route(near, a.id);
	to.visit("route resolved", active, a.id.get());
	a.make(kind);
	to.visit("QP made", active, a.id.get());

	rdma_conn_param offer = a.with_qp(offered());
	must(::rdma_connect(a.id.get(), &offer), "rdma_connect");
	await_event(far); // the request has arrived, and waits to be read
	to.visit("connecting", active, a.id.get());
	party p{take_request(far)};
	to.visit("request received", passive, p.id.get());
	p.make(kind);
	to.visit("QP made", passive, p.id.get());

	rdma_conn_param reply = p.with_qp(accepted());
	must(::rdma_accept(p.id.get(), &reply), "rdma_accept");
	await_event(near); // the response has arrived
	to.visit("response sent", passive, p.id.get());
	to.visit("response received", active, a.id.get());
	if (kind == qp_kind::own) {
		(void)take_event(near, RDMA_CM_EVENT_CONNECT_RESPONSE);
		must(::rdma_establish(a.id.get()), "rdma_establish");
	} else {
		(void)take_event(near, RDMA_CM_EVENT_ESTABLISHED);
	}
	(void)take_event(far, RDMA_CM_EVENT_ESTABLISHED);
	to.visit("established", active, a.id.get());
	to.visit("established", passive, p.id.get());
	check_values(to, {a.id.get(), a.qp_number()}, {p.id.get(), p.qp_number()});

	disconnect(to, near, far, a, p);
}

constexpr stop ending_stops[] = {
	{"rejected by the peer", active, closed},
	{"rejected by itself", passive, closed},
	{"nobody listens", active, closed},
	{"peer destroyed its id", active, closed},
};

// An active id with a QP, whose request is on its way.
id_ptr requester(const channel_ptr &near, const address &where, rdma_port_space space,
		 std::uint16_t port)
{
	id_ptr id = make_id(near, space);
	resolve_address(near, id, where.with_port(port));
	resolve_route(near, id);
	make_qp(id);
	rdma_conn_param offer = offered();
	must(::rdma_connect(id.get(), &offer), "rdma_connect");
	return id;
}

void end_early(report &to, const address &where)
{
	const channel_ptr near = make_channel(), far = make_channel();
	const id_ptr listener = make_listener(far, RDMA_PS_TCP, where);
	{
		const id_ptr a = requester(near, where, RDMA_PS_TCP, port_of(listener));
		const id_ptr p = take_request(far);
		must(::rdma_reject(p.get(), nullptr, 0), "rdma_reject");
		(void)take_event(near, RDMA_CM_EVENT_REJECTED);
		to.visit("rejected by the peer", active, a.get());
		to.visit("rejected by itself", passive, p.get());
	}
	{
		const id_ptr a = requester(near, where, RDMA_PS_TCP, port_of(listener));
		id_ptr p = take_request(far);
		make_qp(p);
		rdma_conn_param reply = accepted();
		must(::rdma_accept(p.get(), &reply), "rdma_accept");
		(void)take_event(near, RDMA_CM_EVENT_ESTABLISHED);
		(void)take_event(far, RDMA_CM_EVENT_ESTABLISHED);
		p.reset();
		(void)take_event(near, RDMA_CM_EVENT_DISCONNECTED);
		to.visit("peer destroyed its id", active, a.get());
	}
	{
		// A port that was free a moment ago.
		const std::uint16_t port =
			port_of(make_bound_id(far, RDMA_PS_TCP, where));
		const id_ptr a = requester(near, where, RDMA_PS_TCP, port);
		(void)take_event(near, RDMA_CM_EVENT_REJECTED);
		to.visit("nobody listens", active, a.get());
	}
}

constexpr stop listener_stops[] = {
	{"created", listener, no_device},
	{"bound to the wildcard", listener, no_device},
	{"listening on the wildcard", listener, no_device},
	{"bound to a device", listener, simple},
	{"listening on a device", listener, closed},
};

void listen(report &to, const address &where)
{
	const channel_ptr channel = make_channel();
	const id_ptr any = make_id(channel, RDMA_PS_TCP), one = make_id(channel, RDMA_PS_TCP);
	to.visit("created", listener, any.get());
	bind(any, where.wildcard());
	to.visit("bound to the wildcard", listener, any.get());
	must(::rdma_listen(any.get(), 0), "rdma_listen");
	to.visit("listening on the wildcard", listener, any.get());
	bind(one, where);
	to.visit("bound to a device", listener, one.get());
	must(::rdma_listen(one.get(), 0), "rdma_listen");
	to.visit("listening on a device", listener, one.get());
}

constexpr stop datagram_stops[] = {
	{"listening on the wildcard", listener, no_device},
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
	{"nobody listens", active, datagram},
};

void look_up(report &to, const address &where)
{
	const channel_ptr near = make_channel(), far = make_channel();
	const id_ptr any = make_listener(far, RDMA_PS_UDP, where.wildcard());
	to.visit("listening on the wildcard", listener, any.get());
	const id_ptr one = make_listener(far, RDMA_PS_UDP, where);
	to.visit("listening on a device", listener, one.get());

	const id_ptr a = make_id(near, RDMA_PS_UDP);
	to.visit("created", active, a.get());
	bind(a, where);
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

	const std::uint16_t port = port_of(make_bound_id(far, RDMA_PS_UDP, where));
	const id_ptr alone = requester(near, where, RDMA_PS_UDP, port);
	(void)take_event(near, RDMA_CM_EVENT_UNREACHABLE);
	to.visit("nobody listens", active, alone.get());
}

constexpr stop stranger_stops[] = {
	{"asked on another file", active, foreign},
	{"destroyed", active, destroyed},
};

// A copy of an id, private part and all, which outlives it.
std::vector<std::max_align_t> copy_of(rdma_cm_id *id)
{
	const std::size_t len = ::malloc_usable_size(id);
	std::vector<std::max_align_t> out(len / sizeof(std::max_align_t) + 1);
	std::memcpy(static_cast<void *>(out.data()), id, len);
	return out;
}

void estrange(report &to, const address &where)
{
	const channel_ptr channel = make_channel(), other = make_channel();
	id_ptr id = make_bound_id(channel, RDMA_PS_TCP, where);
	auto copy = copy_of(id.get());
	auto *stranger = reinterpret_cast<rdma_cm_id *>(copy.data());
	stranger->channel = other.get();
	to.visit("asked on another file", active, stranger);
	stranger->channel = channel.get();
	id.reset();
	to.visit("destroyed", active, stranger);
}

} // namespace

void walk_connection(report &to, const address &where, qp_kind kind)
{
	walk(to, named(kind == qp_kind::own ? "RC, own QP" : "RC", where), connection_stops,
	     [&] { connect(to, where, kind); });
}

void walk_endings(report &to, const address &where)
{
	walk(to, named("RC ending early", where), ending_stops, [&] { end_early(to, where); });
}

void walk_listeners(report &to, const address &where)
{
	walk(to, named("RC listener", where), listener_stops, [&] { listen(to, where); });
}

void walk_datagrams(report &to, const address &where)
{
	walk(to, named("UD", where), datagram_stops, [&] { look_up(to, where); });
}

void walk_strangers(report &to, const address &where)
{
	walk(to, named("RC stranger", where), stranger_stops, [&] { estrange(to, where); });
}

} // namespace conformance
