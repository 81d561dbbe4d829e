// SPDX-License-Identifier: MIT
/**
 * @file event.hpp
 * An event of a channel: what happened, to which id. Acknowledged when its owner
 * ends.
 */
#ifndef QPATTR_EVENT_HPP
#define QPATTR_EVENT_HPP

#include <cstddef>
#include <span>
#include <utility>

#include <rdma/rdma_cma.h>

#include <qpattr/channel.hpp>
#include <qpattr/held_event.hpp>
#include <qpattr/id.hpp>
#include <qpattr/id_ref.hpp>
#include <qpattr/parameters.hpp>
#include <qpattr/result.hpp>

namespace qpattr::inline v0 {

/**
 * The owner of an event. Move-only; acknowledges it once.
 *
 * While an event lives, the destruction of its id (for CONNECT_REQUEST: of the
 * listener) waits for it. In the same thread that would be for ever, so there the
 * destruction acknowledges the event itself, and this owner is empty then. See
 * class id. Better let the event end first:
 *
 *     { auto event = channel.next_event(); ... } // acknowledged here
 *     connection = qpattr::id{};                 // the id ends here
 *
 * Of a CONNECT_REQUEST the event also owns the new id, until take_id(): a request
 * that nobody takes is rejected with the end of the event.
 *
 * What an event points to, private data above all, ends with it. All functions may
 * be called on an empty event: they answer nothing, zero, empty.
 */
class event {
public:
	event() noexcept = default;

	/** Takes over an event of rdma_get_cm_event(). */
	explicit event(rdma_cm_event *owned) noexcept
	    : incoming_{owned && owned->event == RDMA_CM_EVENT_CONNECT_REQUEST ? owned->id : nullptr},
	      held_{owned}
	{
	}

	event(event &&) noexcept = default;
	event &operator=(event &&other) noexcept
	{
		if (this != &other) {
			ack(); // before the id of a request that nobody took ends
			incoming_ = std::move(other.incoming_);
			held_ = std::move(other.held_);
		}
		return *this;
	}
	~event() = default;

	/** @return whether there is an event */
	explicit operator bool() const noexcept { return raw() != nullptr; }

	/** @return what the C functions take; NULL for none */
	[[nodiscard]] rdma_cm_event *native_handle() const noexcept { return raw(); }

	/** @return what happened. Kernels may know more types than the header. Of an
	 *          empty event it has no meaning. */
	[[nodiscard]] rdma_cm_event_type type() const noexcept
	{
		return raw() ? raw()->event : RDMA_CM_EVENT_ADDR_RESOLVED;
	}
	[[nodiscard]] bool is(rdma_cm_event_type type) const noexcept
	{
		return raw() && raw()->event == type;
	}

	/** @return the type's name, a constant string: "RDMA_CM_EVENT_ESTABLISHED" */
	[[nodiscard]] const char *name() const noexcept
	{
		return raw() ? ::rdma_event_str(raw()->event) : "";
	}

	/** @return 0; a negative errno; or for REJECTED, and UNREACHABLE of UD, the
	 *          positive reason of the InfiniBand specification: 28 the peer's
	 *          program said no, 8 nobody listens */
	[[nodiscard]] int status() const noexcept { return raw() ? raw()->status : 0; }

	/** @return the status as an errno: 0 where it is no failure; what the types
	 *          REJECTED, UNREACHABLE and the _ERRORs mean where it tells none */
	[[nodiscard]] int status_errno() const noexcept
	{
		if (status() < 0)
			return -status();
		if (is(RDMA_CM_EVENT_REJECTED))
			return ECONNREFUSED;
		if (is(RDMA_CM_EVENT_UNREACHABLE))
			return status() ? ECONNREFUSED : ETIMEDOUT;
		if (is(RDMA_CM_EVENT_DEVICE_REMOVAL))
			return ENODEV;
		return status() ? EPROTO : 0;
	}

	/** @return to which connection; for CONNECT_REQUEST the new one */
	[[nodiscard]] id_ref id() const noexcept { return id_ref{raw() ? raw()->id : nullptr}; }

	/** @return of a CONNECT_REQUEST where it arrived; else empty */
	[[nodiscard]] id_ref listener() const noexcept
	{
		return id_ref{raw() ? raw()->listen_id : nullptr};
	}

	/** @return the context pointer of the id, as what it is:
	 *          event.context<session>() */
	template <class T> [[nodiscard]] T *context() const noexcept
	{
		return static_cast<T *>(id().context());
	}

	/**
	 * Takes the new id out of a CONNECT_REQUEST: what is accepted or rejected. It
	 * is on the listener's channel and has the listener's context.
	 *
	 * @return an empty id for other events, and the second time
	 */
	[[nodiscard]] v0::id take_id() noexcept { return std::move(incoming_); }

	/** @return the peer's private data; valid while the event lives. Zeros behind
	 *          what the peer gave belong to it: the true length does not travel. */
	[[nodiscard]] std::span<const std::byte> private_data() const noexcept
	{
		// Both members of the union begin with it. Multicast events have the
		// context of the join there instead.
		if (!raw() || is_multicast())
			return {};
		return v0::parameters::of(raw()->param.conn).private_data;
	}

	/**
	 * @return of CONNECT_REQUEST and CONNECT_RESPONSE what the peer asks for, as
	 *         accept() takes it: the peer's initiator_depth is our
	 *         responder_resources. Private data and default values else.
	 */
	[[nodiscard]] v0::parameters parameters() const noexcept
	{
		if (is(RDMA_CM_EVENT_CONNECT_REQUEST) || is(RDMA_CM_EVENT_CONNECT_RESPONSE))
			return v0::parameters::of(raw()->param.conn);
		v0::parameters none;
		none.private_data = private_data();
		return none;
	}

	/** @return of ESTABLISHED of a UD id the peer's, of MULTICAST_JOIN the group's
	 *          address, QP number and Q_Key; NULL for other events */
	[[nodiscard]] const rdma_ud_param *datagram() const noexcept
	{
		const bool established = is(RDMA_CM_EVENT_ESTABLISHED) && raw()->id &&
					 raw()->id->qp_type == IBV_QPT_UD;
		return established || is(RDMA_CM_EVENT_MULTICAST_JOIN) ? &raw()->param.ud : nullptr;
	}

	/** @return the context of the join_multicast() that the event answers */
	[[nodiscard]] void *multicast_context() const noexcept
	{
		return is_multicast() ? const_cast<void *>(raw()->param.ud.private_data) : nullptr;
	}

	/**
	 * Acknowledges the event now. The id of a request that nobody took ends too.
	 * rdma_ack_cm_event() has no failure that could arise here.
	 */
	void ack() noexcept
	{
		held_.ack();
		incoming_ = v0::id{};
	}

	/** Gives the event out of its owner's hands, with the id of a request. */
	[[nodiscard]] rdma_cm_event *release() noexcept
	{
		static_cast<void>(incoming_.release());
		return held_.let_go();
	}

private:
	[[nodiscard]] rdma_cm_event *raw() const noexcept { return held_.get(); }
	[[nodiscard]] bool is_multicast() const noexcept
	{
		return is(RDMA_CM_EVENT_MULTICAST_JOIN) || is(RDMA_CM_EVENT_MULTICAST_ERROR);
	}

	// In this order: the event is acknowledged before the id ends.
	v0::id incoming_;
	detail::held_event held_;
};

inline result<event> channel::next_event() noexcept
{
	if (!raw_)
		return error{EINVAL, "rdma_get_cm_event"};
	rdma_cm_event *got = nullptr;
	if (::rdma_get_cm_event(raw_, &got))
		return detail::error_of("rdma_get_cm_event");
	return event{got};
}

inline result<event> channel::next_event(std::chrono::milliseconds timeout) noexcept
{
	if (!raw_)
		return error{EINVAL, "rdma_get_cm_event"};
	const auto deadline = detail::monotonic_now() +
			      std::chrono::milliseconds{detail::timeout_ms(timeout)};
	for (;;) {
		if (const auto ready = wait_until(deadline); !ready)
			return ready.why();
		auto got = next_event();
		// Another thread took it: on a non-blocking channel that is seen.
		if (got || !got.why().would_block())
			return got;
	}
}

inline result<event> channel::expect(rdma_cm_event_type type,
				     std::chrono::milliseconds timeout) noexcept
{
	auto got = next_event(timeout);
	if (!got || got->is(type))
		return got;
	const int code = got->status_errno();
	return error{code ? code : EPROTO, got->name()};
}

} // namespace qpattr::inline v0

#endif
