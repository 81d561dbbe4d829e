// SPDX-License-Identifier: MIT
#include "test/conformance/endpoint.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <stdexcept>

namespace conformance {
namespace {

// The machine is emulated and shared; nothing here takes a tenth of it.
constexpr int patience_ms = 20'000;

template <class T> T *must_have(T *made, const char *what)
{
	if (!made)
		must(-1, what);
	return made;
}

} // namespace

void must(int result, const char *what)
{
	if (result != 0)
		throw std::runtime_error(std::string{what} + ": " + std::strerror(errno));
}

address address::with_port(std::uint16_t port) const
{
	address out{*this};
	if (is_v6())
		reinterpret_cast<sockaddr_in6 *>(&out.storage)->sin6_port = htons(port);
	else
		reinterpret_cast<sockaddr_in *>(&out.storage)->sin_port = htons(port);
	return out;
}

address address::wildcard() const
{
	address out;
	out.storage.ss_family = storage.ss_family;
	return out;
}

address parse_address(const std::string &text)
{
	address out;
	auto *v4 = reinterpret_cast<sockaddr_in *>(&out.storage);
	auto *v6 = reinterpret_cast<sockaddr_in6 *>(&out.storage);
	if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1)
		v4->sin_family = AF_INET;
	else if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1)
		v6->sin6_family = AF_INET6;
	else
		throw std::runtime_error("not an address: '" + text + "'");
	return out;
}

channel_ptr make_channel()
{
	return channel_ptr{must_have(::rdma_create_event_channel(), "rdma_create_event_channel")};
}

id_ptr make_id(const channel_ptr &channel, rdma_port_space space)
{
	rdma_cm_id *id = nullptr;
	must(::rdma_create_id(channel.get(), &id, nullptr, space), "rdma_create_id");
	return id_ptr{id};
}

id_ptr make_bound_id(const channel_ptr &channel, rdma_port_space space, address where)
{
	id_ptr id = make_id(channel, space);
	bind(id, where);
	return id;
}

id_ptr make_listener(const channel_ptr &channel, rdma_port_space space, address where)
{
	id_ptr id = make_bound_id(channel, space, where);
	must(::rdma_listen(id.get(), 0), "rdma_listen");
	return id;
}

void make_qp(const id_ptr &id)
{
	ibv_qp_init_attr attr{};
	attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
	attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
	attr.qp_type = id->qp_type;
	must(::rdma_create_qp(id.get(), nullptr, &attr), "rdma_create_qp");
}

own_qp::own_qp(const id_ptr &id)
{
	pd_ = must_have(::ibv_alloc_pd(id->verbs), "ibv_alloc_pd");
	cq_ = must_have(::ibv_create_cq(id->verbs, 2, nullptr, nullptr, 0), "ibv_create_cq");
	ibv_qp_init_attr attr{};
	attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
	attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
	attr.qp_type = id->qp_type;
	attr.send_cq = attr.recv_cq = cq_;
	qp_ = must_have(::ibv_create_qp(pd_, &attr), "ibv_create_qp");
}

own_qp::~own_qp()
{
	::ibv_destroy_qp(qp_);
	::ibv_destroy_cq(cq_);
	::ibv_dealloc_pd(pd_);
}

void bind(const id_ptr &id, address where)
{
	must(::rdma_bind_addr(id.get(), where.get()), "rdma_bind_addr");
}

void resolve_address(const channel_ptr &channel, const id_ptr &id, address where)
{
	must(::rdma_resolve_addr(id.get(), nullptr, where.get(), 5'000), "rdma_resolve_addr");
	const event_ptr event = take_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
}

void resolve_route(const channel_ptr &channel, const id_ptr &id)
{
	must(::rdma_resolve_route(id.get(), 5'000), "rdma_resolve_route");
	const event_ptr event = take_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

std::uint16_t port_of(const id_ptr &id)
{
	return ntohs(::rdma_get_src_port(id.get()));
}

void await_event(const channel_ptr &channel)
{
	pollfd waiting{channel->fd, POLLIN, 0};
	const int ready = ::poll(&waiting, 1, patience_ms);
	if (ready == 0)
		throw std::runtime_error("no event came");
	must(ready == 1 ? 0 : -1, "poll");
}

event_ptr take_event(const channel_ptr &channel, rdma_cm_event_type type)
{
	await_event(channel);
	rdma_cm_event *raw = nullptr;
	must(::rdma_get_cm_event(channel.get(), &raw), "rdma_get_cm_event");
	event_ptr event{raw};
	if (event->event != type)
		throw std::runtime_error(std::string{"the event is "} +
					 ::rdma_event_str(event->event) + " (status " +
					 std::to_string(event->status) + "), not " +
					 ::rdma_event_str(type));
	return event;
}

id_ptr take_request(const channel_ptr &channel)
{
	const event_ptr event = take_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	return id_ptr{event->id};
}

} // namespace conformance
