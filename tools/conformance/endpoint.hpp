// SPDX-License-Identifier: MIT
// Ids, channels and events of stock librdmacm, with owners: what a test needs to
// bring a connection to a stage. Whatever fails throws, with the call's name.
#pragma once

#include <memory>
#include <netinet/in.h>
#include <string>

#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

namespace conformance {

struct channel_owner {
	void operator()(rdma_event_channel *channel) const noexcept
	{
		::rdma_destroy_event_channel(channel);
	}
};
using channel_ptr = std::unique_ptr<rdma_event_channel, channel_owner>;

// Destroys the QP too, if librdmacm made one. Events of the id must have been
// acknowledged: rdma_destroy_id waits for that.
struct id_owner {
	void operator()(rdma_cm_id *id) const noexcept
	{
		if (id->qp)
			::rdma_destroy_qp(id);
		::rdma_destroy_id(id);
	}
};
using id_ptr = std::unique_ptr<rdma_cm_id, id_owner>;

struct event_owner {
	void operator()(rdma_cm_event *event) const noexcept { ::rdma_ack_cm_event(event); }
};
using event_ptr = std::unique_ptr<rdma_cm_event, event_owner>;

// An IP address as a GID holds it.
[[nodiscard]] ibv_gid gid_of(const sockaddr *address);

// An IPv4 or IPv6 address, or a GID (AF_IB), with a port.
struct address {
	sockaddr_storage storage{};

	[[nodiscard]] sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
	[[nodiscard]] const sockaddr *get() const
	{
		return reinterpret_cast<const sockaddr *>(&storage);
	}
	[[nodiscard]] socklen_t len() const;
	[[nodiscard]] int family() const { return storage.ss_family; }
	[[nodiscard]] bool is_ib() const { return family() == AF_IB; }
	// The same with another port, in host byte order.
	[[nodiscard]] address with_port(std::uint16_t port) const;
	// As ids of the port space have it: a GID goes with a service id, which has
	// the space in it.
	[[nodiscard]] address in(rdma_port_space space) const;
	// The GID that stands for an IP address.
	[[nodiscard]] address as_gid() const;
	// The wildcard address of the family, port chosen by the kernel.
	[[nodiscard]] address wildcard() const;
};
// "10.77.0.1", "fd77::1", "fe80::1%eth0", "gid:fd77::1".
[[nodiscard]] address parse_address(const std::string &text);

// What the active side connects with and what the passive side accepts with. All
// numbers differ, so that none can stand in for another.
[[nodiscard]] rdma_conn_param offered();
[[nodiscard]] rdma_conn_param accepted();

[[nodiscard]] channel_ptr make_channel();
[[nodiscard]] id_ptr make_id(const channel_ptr &channel, rdma_port_space space);
// An id with a device, by an address of it.
[[nodiscard]] id_ptr make_bound_id(const channel_ptr &channel, rdma_port_space space,
				   address where);
[[nodiscard]] id_ptr make_listener(const channel_ptr &channel, rdma_port_space space,
				   address where);
// A QP of the id's own type, its memory and queues chosen by librdmacm.
void make_qp(const id_ptr &id);

// A QP that librdmacm knows nothing of, with what it needs.
class own_qp {
public:
	explicit own_qp(const id_ptr &id);
	~own_qp();
	own_qp(const own_qp &) = delete;
	own_qp &operator=(const own_qp &) = delete;
	[[nodiscard]] std::uint32_t number() const noexcept { return qp_->qp_num; }

private:
	ibv_cq *cq_ = nullptr;
	ibv_pd *pd_ = nullptr;
	ibv_qp *qp_ = nullptr;
};

void bind_to(const id_ptr &id, address where);
void resolve_address(const channel_ptr &channel, const id_ptr &id, address where);
void resolve_route(const channel_ptr &channel, const id_ptr &id);
// The port that a bound id has, in host byte order.
[[nodiscard]] std::uint16_t port_of(const id_ptr &id);

// How long an event may take: the machine is emulated and shared, and nothing but a
// timeout of the kernel's own takes a tenth of it.
inline constexpr int patience_ms = 20'000;

// Waits until an event can be read, and leaves it there.
void await_event(const channel_ptr &channel, int limit_ms = patience_ms);
// Asks stock for INIT until it is refused so: what the kernel does in its own time.
void await_refusal(const id_ptr &id, int code);
// Reads the next event, which must be of the type.
[[nodiscard]] event_ptr take_event(const channel_ptr &channel, rdma_cm_event_type type,
				   int limit_ms = patience_ms);
// Reads a request and takes its new id over.
[[nodiscard]] id_ptr take_request(const channel_ptr &channel);

// Throws for `what` with errno's text unless `result` is 0.
void must(int result, const char *what);

} // namespace conformance
