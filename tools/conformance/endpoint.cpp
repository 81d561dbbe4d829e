// SPDX-License-Identifier: MIT
#include "tools/conformance/endpoint.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <endian.h>
#include <netdb.h>
#include <poll.h>
#include <stdexcept>
#include <thread>

namespace conformance {
namespace {

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

ibv_gid gid_of(const sockaddr *address)
{
	ibv_gid gid{};
	if (address->sa_family == AF_INET6) {
		const auto *v6 = reinterpret_cast<const sockaddr_in6 *>(address);
		std::memcpy(gid.raw, &v6->sin6_addr, sizeof gid.raw);
	} else {
		const auto *v4 = reinterpret_cast<const sockaddr_in *>(address);
		gid.raw[10] = gid.raw[11] = 0xff;
		std::memcpy(gid.raw + 12, &v4->sin_addr, sizeof v4->sin_addr);
	}
	return gid;
}

socklen_t address::len() const
{
	if (is_ib())
		return sizeof(sockaddr_ib);
	return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

address address::with_port(std::uint16_t port) const
{
	address out{*this};
	if (is_ib())
		reinterpret_cast<sockaddr_ib *>(&out.storage)->sib_sid = htobe64(port);
	else if (family() == AF_INET6)
		reinterpret_cast<sockaddr_in6 *>(&out.storage)->sin6_port = htons(port);
	else
		reinterpret_cast<sockaddr_in *>(&out.storage)->sin_port = htons(port);
	return out;
}

address address::in(rdma_port_space space) const
{
	address out{*this};
	if (is_ib()) {
		auto *ib = reinterpret_cast<sockaddr_ib *>(&out.storage);
		const std::uint64_t port = be64toh(ib->sib_sid) & 0xffff;
		ib->sib_sid = htobe64(std::uint64_t{space} << 16 | port);
		ib->sib_sid_mask = htobe64(port ? UINT64_MAX : RDMA_IB_IP_PS_MASK);
	}
	return out;
}

address address::wildcard() const
{
	address out;
	out.storage.ss_family = storage.ss_family;
	return out;
}

address address::as_gid() const
{
	address out;
	auto *ib = reinterpret_cast<sockaddr_ib *>(&out.storage);
	ib->sib_family = AF_IB;
	ib->sib_pkey = htons(0xffff);
	const ibv_gid gid = gid_of(get());
	std::memcpy(&ib->sib_addr, &gid, sizeof gid);
	return out;
}

address parse_address(const std::string &text)
{
	static const std::string gid = "gid:";
	const bool is_gid = text.starts_with(gid);
	addrinfo hints{}, *found = nullptr;
	hints.ai_flags = AI_NUMERICHOST;
	hints.ai_family = is_gid ? AF_INET6 : AF_UNSPEC;
	const std::string host = is_gid ? text.substr(gid.size()) : text;
	if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0)
		throw std::runtime_error("not an address: '" + text + "'");
	address out;
	std::memcpy(&out.storage, found->ai_addr, found->ai_addrlen);
	::freeaddrinfo(found);
	return is_gid ? out.as_gid() : out;
}

rdma_conn_param offered()
{
	rdma_conn_param out{};
	out.responder_resources = 4;
	out.initiator_depth = 3;
	out.retry_count = 5;
	out.rnr_retry_count = 6;
	return out;
}

rdma_conn_param accepted()
{
	rdma_conn_param out{};
	out.responder_resources = 3;
	out.initiator_depth = 2;
	out.retry_count = 1;
	out.rnr_retry_count = 4;
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
	bind_to(id, where);
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

void bind_to(const id_ptr &id, address where)
{
	must(::rdma_bind_addr(id.get(), where.in(id->ps).get()), "rdma_bind_addr");
}

void resolve_address(const channel_ptr &channel, const id_ptr &id, address where)
{
	must(::rdma_resolve_addr(id.get(), nullptr, where.in(id->ps).get(), 5'000),
	     "rdma_resolve_addr");
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

void await_event(const channel_ptr &channel, int limit_ms)
{
	pollfd waiting{channel->fd, POLLIN, 0};
	const int ready = ::poll(&waiting, 1, limit_ms);
	if (ready == 0)
		throw std::runtime_error("no event came");
	must(ready == 1 ? 0 : -1, "poll");
}

void await_refusal(const id_ptr &id, int code)
{
	using clock = std::chrono::steady_clock;
	const auto deadline = clock::now() + std::chrono::milliseconds{patience_ms};
	int mask = 0;
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_INIT;
	while (::rdma_init_qp_attr(id.get(), &attr, &mask) == 0 || errno != code) {
		if (clock::now() > deadline)
			throw std::runtime_error(std::string{"the kernel does not refuse with "} +
						 std::strerror(code));
		std::this_thread::sleep_for(std::chrono::milliseconds{20});
	}
}

event_ptr take_event(const channel_ptr &channel, rdma_cm_event_type type, int limit_ms)
{
	await_event(channel, limit_ms);
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
