// SPDX-License-Identifier: MIT
// Connections that do not come about, or end by themselves; ids that never connect.
#include <cerrno>
#include <cstring>
#include <malloc.h>
#include <vector>

#include "tools/conformance/party.hpp"

namespace conformance {
namespace {

using enum side;
using enum standing;

constexpr subject rc(manager by)
{
	return {IBV_QPT_RC, by};
}

// A port that was free a moment ago.
std::uint16_t nobodys_port(const channel_ptr &channel, rdma_port_space space, const address &where)
{
	return port_of(make_bound_id(channel, space, where));
}

void rejected(report &to, const place &at, const channel_ptr &near, const channel_ptr &far,
	      const id_ptr &listener)
{
	const id_ptr a = requester(near, at.where, RDMA_PS_TCP, port_of(listener));
	const id_ptr p = take_request(far);
	must(::rdma_reject(p.get(), nullptr, 0), "rdma_reject");
	(void)take_event(near, RDMA_CM_EVENT_REJECTED);
	to.visit("rejected by the peer", active, a.get());
	to.visit("rejected by itself", passive, p.get());
}

void left_alone(report &to, const place &at, const channel_ptr &near, const channel_ptr &far,
		const id_ptr &listener)
{
	const id_ptr a = requester(near, at.where, RDMA_PS_TCP, port_of(listener));
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

// The peer gives up what the passive side has not answered.
void given_up(report &to, const place &at, const channel_ptr &near, const channel_ptr &far,
	      const id_ptr &listener)
{
	id_ptr a = requester(near, at.where, RDMA_PS_TCP, port_of(listener));
	const id_ptr p = take_request(far);
	a.reset();
	// No event tells of it.
	await_refusal(p, EINVAL);
	to.visit("peer gave up", passive, p.get());
}

// iWARP's call waits for TCP's answer and fails itself.
void nobody_there(report &to, const place &at, const channel_ptr &near, const channel_ptr &far)
{
	const id_ptr a = resolved_id(near, at.where, RDMA_PS_TCP,
				     nobodys_port(far, RDMA_PS_TCP, at.where));
	make_qp(a);
	rdma_conn_param offer = offered();
	if (::rdma_connect(a.get(), &offer) == 0)
		(void)take_event(near, RDMA_CM_EVENT_REJECTED);
	else if (at.by == manager::infiniband || errno != ECONNREFUSED)
		must(-1, "rdma_connect");
	to.visit("nobody listens", active, a.get());
}

// CONNECT fails: the kernel has no QP of this number and type for iWARP, and for
// InfiniBand takes no more than 56 bytes of private data with an IP address.
void refused_to_connect(report &to, const place &at, const channel_ptr &near)
{
	const id_ptr a = resolved_id(near, at.where, RDMA_PS_TCP, 1);
	make_qp(a);
	static const char much[200] = "";
	rdma_conn_param offer = offered();
	offer.private_data = much;
	offer.private_data_len = sizeof much;
	if (::rdma_connect(a.get(), &offer) == 0)
		throw std::runtime_error("200 bytes of private data were taken");
	to.visit("connect refused by the kernel", active, a.get());
}

// A copy of an id, private part and all, which outlives it.
std::vector<std::max_align_t> copy_of(rdma_cm_id *id)
{
	const std::size_t len = ::malloc_usable_size(id);
	std::vector<std::max_align_t> out(len / sizeof(std::max_align_t) + 1);
	std::memcpy(static_cast<void *>(out.data()), id, len);
	return out;
}

} // namespace

void walk_endings(report &to, const place &at)
{
	const bool iwarp = at.by == manager::iwarp;
	std::vector<stop> stops{
		{"rejected by the peer", active, closed},
		{"rejected by itself", passive, closed},
		{"nobody listens", active, closed},
		{"peer destroyed its id", active, closed},
	};
	if (!iwarp) {
		stops.push_back({"peer gave up", passive, closed});
		stops.push_back({"connect refused by the kernel", active, simple});
	}
	if (!to.begin(stops, rc(at.by)))
		return;
	const channel_ptr near = make_channel(), far = make_channel();
	const id_ptr listener = make_listener(far, RDMA_PS_TCP, at.where);
	rejected(to, at, near, far, listener);
	left_alone(to, at, near, far, listener);
	nobody_there(to, at, near, far);
	if (iwarp)
		return;
	refused_to_connect(to, at, near);
	given_up(to, at, near, far, listener);
}

// A listener that does not read takes as many requests as its backlog and drops the
// others, whose senders try again until the kernel gives up.
void walk_timed_out(report &to, const place &at)
{
	if (at.by == manager::iwarp)
		throw unavailable("iWARP connects before the listener reads");
	if (!to.begin({{"dropped, trying again", active, requested},
		       {"waiting to be read", active, requested},
		       {"unreachable", active, closed},
		       {"still waiting to be read", active, requested}},
		      rc(at.by)))
		return;
	constexpr int until_given_up_ms = 150'000;
	const channel_ptr near = make_channel(), other = make_channel(), far = make_channel();
	const id_ptr listener = make_bound_id(far, RDMA_PS_TCP, at.where);
	must(::rdma_listen(listener.get(), 1), "rdma_listen");
	const id_ptr first = requester(other, at.where, RDMA_PS_TCP, port_of(listener));
	await_event(far);
	const id_ptr second = requester(near, at.where, RDMA_PS_TCP, port_of(listener));
	to.visit("waiting to be read", active, first.get());
	to.visit("dropped, trying again", active, second.get());
	(void)take_event(near, RDMA_CM_EVENT_UNREACHABLE, until_given_up_ms);
	to.visit("unreachable", active, second.get());
	to.visit("still waiting to be read", active, first.get());
}

void walk_listeners(report &to, const place &at)
{
	if (!to.begin({{"created", listener, no_device},
		       {"bound to the wildcard", listener, no_device},
		       {"listening on the wildcard", listener, no_device},
		       {"bound to a device", listener, simple},
		       {"listening on a device", listener, listening}},
		      rc(at.by)))
		return;
	const channel_ptr channel = make_channel();
	const id_ptr any = make_id(channel, RDMA_PS_TCP), one = make_id(channel, RDMA_PS_TCP);
	to.visit("created", listener, any.get());
	bind_to(any, at.where.wildcard());
	to.visit("bound to the wildcard", listener, any.get());
	must(::rdma_listen(any.get(), 0), "rdma_listen");
	to.visit("listening on the wildcard", listener, any.get());
	bind_to(one, at.where);
	to.visit("bound to a device", listener, one.get());
	must(::rdma_listen(one.get(), 0), "rdma_listen");
	to.visit("listening on a device", listener, one.get());
}

void walk_strangers(report &to, const place &at)
{
	if (!to.begin({{"asked on another file", active, foreign},
		       {"destroyed", active, destroyed}},
		      rc(at.by)))
		return;
	const channel_ptr channel = make_channel(), other = make_channel();
	id_ptr id = make_bound_id(channel, RDMA_PS_TCP, at.where);
	auto copy = copy_of(id.get());
	auto *stranger = reinterpret_cast<rdma_cm_id *>(copy.data());
	stranger->channel = other.get();
	to.visit("asked on another file", active, stranger);
	stranger->channel = channel.get();
	id.reset();
	to.visit("destroyed", active, stranger);
}

} // namespace conformance
