// SPDX-License-Identifier: MIT
/**
 * @file id_ref.hpp
 * What can be done with a connection. As string_view is to string, so is id_ref to
 * id: events hand out id_refs of ids whose owner is elsewhere, and an id is an
 * id_ref.
 *
 * **From an event to what is yours.** The context pointer of an id is the
 * program's: the layer neither reads nor writes it but for context() and
 * set_context(). An id moves, so its own address is no context; put there the
 * object that has the id as a member, if that object stays where it is, and get it
 * back with event::context<T>(). The id of a CONNECT_REQUEST has the listener's
 * context until set_context() is called.
 *
 * All functions answer EINVAL for an empty id. What is said of errno beside it is
 * in the man page of the rdma_* function of the name that error::call has.
 */
#ifndef QPATTR_ID_REF_HPP
#define QPATTR_ID_REF_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include <rdma/rdma_cma.h>

#include <qpattr/address.hpp>
#include <qpattr/attributes.hpp>
#include <qpattr/channel.hpp>
#include <qpattr/held_event.hpp>
#include <qpattr/parameters.hpp>
#include <qpattr/result.hpp>

namespace qpattr::inline v0 {

/** A connection that belongs to somebody else; valid as long as its owner. */
class id_ref {
public:
	constexpr id_ref() noexcept = default;
	constexpr explicit id_ref(rdma_cm_id *of) noexcept : raw_{of} {}

	/** @return whether there is an id */
	constexpr explicit operator bool() const noexcept { return raw_ != nullptr; }

	/** @return what the C functions take; NULL for none */
	[[nodiscard]] constexpr rdma_cm_id *native_handle() const noexcept { return raw_; }

	/** Whether they are the same connection, whoever owns it. */
	friend constexpr bool operator==(id_ref a, id_ref b) noexcept { return a.raw_ == b.raw_; }

	// --- what it is ---

	/** @return the program's pointer, see the head of this file */
	[[nodiscard]] void *context() const noexcept { return raw_ ? raw_->context : nullptr; }
	void set_context(void *context) const noexcept
	{
		if (raw_)
			raw_->context = context;
	}

	/** @return the device; NULL until an address is bound or resolved */
	[[nodiscard]] ibv_context *verbs() const noexcept { return raw_ ? raw_->verbs : nullptr; }
	/** @return the QP of create_qp(); NULL without one */
	[[nodiscard]] ibv_qp *qp() const noexcept { return raw_ ? raw_->qp : nullptr; }
	/** @return the protection domain of create_qp(), or the device's default one */
	[[nodiscard]] ibv_pd *pd() const noexcept { return raw_ ? raw_->pd : nullptr; }
	/** @return the device's port, from 1; 0 until a device is bound */
	[[nodiscard]] std::uint8_t port_num() const noexcept { return raw_ ? raw_->port_num : std::uint8_t{}; }
	/** @return the port space that it was made with; RDMA_PS_TCP for none */
	[[nodiscard]] rdma_port_space port_space() const noexcept { return raw_ ? raw_->ps : RDMA_PS_TCP; }

	/** @return the address of this side; its family is AF_UNSPEC (0) until it is known */
	[[nodiscard]] address_view local_address() const noexcept
	{
		return raw_ ? address_view{*::rdma_get_local_addr(raw_)} : address_view{};
	}
	/** @return the address of the other side, likewise */
	[[nodiscard]] address_view peer_address() const noexcept
	{
		return raw_ ? address_view{*::rdma_get_peer_addr(raw_)} : address_view{};
	}
	/** @return ports in the host's byte order; 0 until they are known */
	[[nodiscard]] std::uint16_t local_port() const noexcept
	{
		return raw_ ? ntohs(::rdma_get_src_port(raw_)) : std::uint16_t{};
	}
	[[nodiscard]] std::uint16_t peer_port() const noexcept
	{
		return raw_ ? ntohs(::rdma_get_dst_port(raw_)) : std::uint16_t{};
	}

	// --- addresses and routes ---

	/** Binds to an address of this machine, or to a wildcard; port 0 chooses one. */
	result<void> bind(address_view local) const noexcept
	{
		if (!local.get())
			return error{EINVAL, "rdma_bind_addr"};
		return call("rdma_bind_addr", ::rdma_bind_addr, mutable_of(local));
	}

	/**
	 * Looks for the device that leads to an address. ADDR_RESOLVED or ADDR_ERROR
	 * follows.
	 *
	 * @param peer     where to
	 * @param timeout  with its unit (2s); no longer than INT_MAX ms
	 * @param local    from which address; empty: what the routing table says
	 */
	result<void> resolve_address(address_view peer, std::chrono::milliseconds timeout,
				     address_view local = {}) const noexcept
	{
		if (!peer.get())
			return error{EINVAL, "rdma_resolve_addr"};
		return call("rdma_resolve_addr", ::rdma_resolve_addr, mutable_of(local),
			    mutable_of(peer), detail::timeout_ms(timeout));
	}

	/**
	 * Looks for the route. ROUTE_RESOLVED or ROUTE_ERROR follows.
	 *
	 * @param timeout  with its unit. Kernels from 6.1 on refuse 0 (EINVAL).
	 */
	result<void> resolve_route(std::chrono::milliseconds timeout) const noexcept
	{
		return call("rdma_resolve_route", ::rdma_resolve_route, detail::timeout_ms(timeout));
	}

	// --- queue pairs ---

	/**
	 * Makes a QP, which the connection manager then moves through its states.
	 *
	 * @param init  what it shall have; verbs write what it has into it
	 * @param pd    NULL: the device's default one
	 */
	result<void> create_qp(ibv_qp_init_attr &init, ibv_pd *pd = nullptr) const noexcept
	{
		return call("rdma_create_qp", ::rdma_create_qp, pd, &init);
	}
	result<void> create_qp(ibv_qp_init_attr_ex &init) const noexcept
	{
		return call("rdma_create_qp_ex", ::rdma_create_qp_ex, &init);
	}
	/** Destroys the QP of create_qp(), if there is one. An id's owner does so too. */
	void destroy_qp() const noexcept
	{
		if (qp())
			::rdma_destroy_qp(raw_);
	}

	/**
	 * Asks with which attributes a QP is to be moved to a state:
	 * rdma_init_qp_attr(3). For QPs that the program made by itself, and to see
	 * what the connection manager did to its own.
	 *
	 * @param state  RTR and RTS: from CONNECT_RESPONSE (active side) or
	 *               CONNECT_REQUEST (passive side) on, else EINVAL
	 */
	[[nodiscard]] result<attributes> attributes_for(ibv_qp_state state) const noexcept
	{
		attributes asked;
		asked.attr.qp_state = state;
		const auto done = call("rdma_init_qp_attr", ::rdma_init_qp_attr, &asked.attr,
				       &asked.mask);
		return done ? result<attributes>{asked} : result<attributes>{done.why()};
	}

	// --- connecting ---

	/** Connects with the connection manager's defaults and no private data. Wants a
	 *  QP of create_qp(): without one, stock answers EINVAL. */
	result<void> connect() const noexcept { return call("rdma_connect", ::rdma_connect, nullptr); }
	/** Connects. Up to 56 bytes of private data over IP, 180 for datagrams (UD). */
	result<void> connect(const parameters &with) const noexcept
	{
		return with_parameters("rdma_connect", ::rdma_connect, with);
	}

	/** Listens; `backlog` limits the requests that nobody took yet, 0: the most. */
	result<void> listen(int backlog = 0) const noexcept
	{
		return call("rdma_listen", ::rdma_listen, backlog);
	}

	/** Accepts with what the request said, adjusted to the device. Likewise. */
	result<void> accept() const noexcept { return call("rdma_accept", ::rdma_accept, nullptr); }
	/** Accepts. Up to 196 bytes of private data, 136 for datagrams (UD). */
	result<void> accept(const parameters &with) const noexcept
	{
		return with_parameters("rdma_accept", ::rdma_accept, with);
	}

	/**
	 * Rejects a request, with up to 148 bytes of private data (UD: 136). Once: the
	 * kernel may hang for a minute in the destruction of an id that rejected after
	 * it accepted.
	 */
	result<void> reject(std::span<const std::byte> private_data = {}) const noexcept
	{
		std::uint8_t len;
		if (!parameters::length_fits(private_data, len))
			return error{EINVAL, "rdma_reject"};
		return call("rdma_reject", ::rdma_reject, private_data.data(), len);
	}
	/** Rejects because of the options that set_local_ece() is about. */
	result<void> reject_ece(std::span<const std::byte> private_data = {}) const noexcept
	{
		std::uint8_t len;
		if (!parameters::length_fits(private_data, len))
			return error{EINVAL, "rdma_reject_ece"};
		return call("rdma_reject_ece", ::rdma_reject_ece, private_data.data(), len);
	}

	/** Completes the active side after CONNECT_RESPONSE, for a QP of the program's. */
	result<void> establish() const noexcept { return call("rdma_establish", ::rdma_establish); }

	/** Disconnects. DISCONNECTED comes here only when the peer does so too. */
	result<void> disconnect() const noexcept { return call("rdma_disconnect", ::rdma_disconnect); }

	/** Tells of an event of verbs: IBV_EVENT_COMM_EST of a QP of the program's. */
	result<void> notify(ibv_event_type of) const noexcept
	{
		return call("rdma_notify", ::rdma_notify, of);
	}

	// --- options, before the connection is made ---

	/** Type of service, the byte of IP's header: DSCP * 4. The traffic class of RTR. */
	result<void> set_tos(std::uint8_t tos) const noexcept
	{
		return option(RDMA_OPTION_ID_TOS, tos);
	}
	/** As SO_REUSEADDR: the port may be another id's too. Before bind(). */
	result<void> set_reuse_address(bool on) const noexcept
	{
		return option(RDMA_OPTION_ID_REUSEADDR, static_cast<int>(on));
	}
	/** As IPV6_V6ONLY: a wildcard is of its own family only. Before bind(). */
	result<void> set_af_only(bool on) const noexcept
	{
		return option(RDMA_OPTION_ID_AFONLY, static_cast<int>(on));
	}
	/**
	 * The QP's timeout, before connect() or accept(). EINVAL for datagrams (UD).
	 *
	 * @param exponent  of 4.096 us * 2^exponent, 1 to 31
	 */
	result<void> set_ack_timeout(std::uint8_t exponent) const noexcept
	{
		return option(RDMA_OPTION_ID_ACK_TIMEOUT, exponent);
	}
	/** The shortest timeout that is at least so long, 31 (2 h 27 min) at most. */
	result<void> set_ack_timeout(std::chrono::nanoseconds at_least) const noexcept
	{
		std::uint8_t exponent = 1;
		while (exponent < 31 && (std::int64_t{4096} << exponent) < at_least.count())
			++exponent;
		return set_ack_timeout(exponent);
	}

	/** Vendor options (ECE) for the peer, before connect() or accept(). */
	result<void> set_local_ece(ibv_ece ece) const noexcept
	{
		return call("rdma_set_local_ece", ::rdma_set_local_ece, &ece);
	}
	/** What the peer sent of them with its request or response. */
	[[nodiscard]] result<ibv_ece> remote_ece() const noexcept
	{
		ibv_ece ece{};
		const auto done = call("rdma_get_remote_ece", ::rdma_get_remote_ece, &ece);
		return done ? result<ibv_ece>{ece} : result<ibv_ece>{done.why()};
	}

	// --- moving, and groups ---

	/**
	 * Moves the id with its waiting events to another channel. Nobody may take
	 * events of the old channel meanwhile. It waits until the id's events are
	 * acknowledged.
	 *
	 * @return EDEADLK where this thread holds one of them: ack() it first
	 */
	result<void> migrate(channel &to) const noexcept
	{
		if (!to)
			return error{EINVAL, "rdma_migrate_id"};
		if (raw_ && detail::held_event::any_here(raw_))
			return error{EDEADLK, "rdma_migrate_id"};
		return call("rdma_migrate_id", ::rdma_migrate_id, to.native_handle());
	}

	/**
	 * Joins a multicast group. MULTICAST_JOIN, with the group's address handle in
	 * event::datagram(), or MULTICAST_ERROR follows.
	 *
	 * @param context  the event's, see event::multicast_context()
	 * @param flags    RDMA_MC_JOIN_FLAG_FULLMEMBER, or only to send
	 */
	result<void> join_multicast(address_view group, void *context = nullptr,
				    rdma_cm_mc_join_flags flags = RDMA_MC_JOIN_FLAG_FULLMEMBER) const noexcept
	{
		if (!group.get())
			return error{EINVAL, "rdma_join_multicast_ex"};
		rdma_cm_join_mc_attr_ex attr{};
		attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
		attr.join_flags = flags;
		attr.addr = mutable_of(group);
		return call("rdma_join_multicast_ex", ::rdma_join_multicast_ex, &attr, context);
	}
	/** Leaves it. EDEADLK as for migrate(). */
	result<void> leave_multicast(address_view group) const noexcept
	{
		if (!group.get())
			return error{EINVAL, "rdma_leave_multicast"};
		if (raw_ && detail::held_event::any_here(raw_))
			return error{EDEADLK, "rdma_leave_multicast"};
		return call("rdma_leave_multicast", ::rdma_leave_multicast, mutable_of(group));
	}

protected:
	rdma_cm_id *raw_ = nullptr;

private:
	/* The C functions take addresses as not const, and leave them alone. */
	static sockaddr *mutable_of(address_view of) noexcept
	{
		return const_cast<sockaddr *>(of.get());
	}

	template <class... Parameters, class... Arguments>
	result<void> call(const char *name, int (*function)(rdma_cm_id *, Parameters...),
			  Arguments... arguments) const noexcept
	{
		if (!raw_)
			return error{EINVAL, name};
		return detail::answer(function(raw_, arguments...), name);
	}

	result<void> with_parameters(const char *name, int (*function)(rdma_cm_id *, rdma_conn_param *),
				     const parameters &with) const noexcept
	{
		rdma_conn_param raw;
		if (!with.fill(raw))
			return error{EINVAL, name};
		return call(name, function, &raw);
	}

	template <class Value> result<void> option(int name, Value value) const noexcept
	{
		return call("rdma_set_option", ::rdma_set_option, static_cast<int>(RDMA_OPTION_ID),
			    name, static_cast<void *>(&value), sizeof value);
	}
};

} // namespace qpattr::inline v0

#endif
