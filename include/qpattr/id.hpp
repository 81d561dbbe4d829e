// SPDX-License-Identifier: MIT
/**
 * @file id.hpp
 * The owner of a connection. What can be done with one: id_ref.hpp.
 */
#ifndef QPATTR_ID_HPP
#define QPATTR_ID_HPP

#include <utility>

#include <rdma/rdma_cma.h>

#include <qpattr/channel.hpp>
#include <qpattr/held_event.hpp>
#include <qpattr/id_ref.hpp>
#include <qpattr/result.hpp>

/**
 * Whether <rdma/rdma_cma.h> is qpattr's own (include path include/qpattr), with
 * qpattr_id_create(). Its ids need not ask for the path of a connection, which
 * this layer never shows: one command less for each.
 */
#ifndef QPATTR_HAS_OWN_CM
#ifdef QPATTR_RDMA_CMA_H
#define QPATTR_HAS_OWN_CM 1
#else
#define QPATTR_HAS_OWN_CM 0
#endif
#endif

#if QPATTR_HAS_OWN_CM
#include <qpattr/cm.h>
#endif

namespace qpattr::inline v0 {

/**
 * The owner of a connection. Move-only; destroys the id once, and the QP of
 * create_qp() before it.
 *
 * **Events.** The destruction of an id waits until all events of it are
 * acknowledged. Where another thread holds one, this waits for that thread. Where
 * this thread holds one, it would wait for ever: so the events that it holds are
 * acknowledged first, and their owners are empty from then on. Let events live
 * shortly, and in a class declare ids before events.
 *
 * **Order.** The channel must live longer than the id; a completion queue or
 * protection domain that its QP uses, too.
 */
class id : public id_ref {
public:
	/** An id that owns nothing: what a moved-from one is. */
	constexpr id() noexcept = default;

	/** Takes over an id of the C functions. */
	explicit id(rdma_cm_id *owned) noexcept : id_ref{owned} {}

	id(id &&other) noexcept : id_ref{other.release()} {}
	id &operator=(id &&other) noexcept
	{
		if (this != &other) {
			id old{release()};
			raw_ = other.release();
		}
		return *this;
	}
	~id() { static_cast<void>(destroy()); }

	/**
	 * Makes an id whose events arrive on a channel, and whose calls do not wait.
	 *
	 * @param on       must live longer than the id; EINVAL where it is empty
	 * @param space    RDMA_PS_TCP (RC), RDMA_PS_UDP (UD), RDMA_PS_IPOIB, RDMA_PS_IB
	 * @param context  the program's, see id_ref.hpp
	 */
	static result<id> create(channel &on, rdma_port_space space = RDMA_PS_TCP,
				 void *context = nullptr) noexcept
	{
		if (!on)
			return error{EINVAL, "rdma_create_id"};
		return create_on(on.native_handle(), space, context);
	}

	/**
	 * Makes an id without a channel, whose calls wait until they are done:
	 * connect() until the connection is there. It answers with the event's status.
	 */
	static result<id> create_synchronous(rdma_port_space space = RDMA_PS_TCP,
					     void *context = nullptr) noexcept
	{
		return create_on(nullptr, space, context);
	}

	/** Waits for a request on a synchronous listener: rdma_get_request(3). */
	[[nodiscard]] result<id> get_request() const noexcept
	{
		rdma_cm_id *made = nullptr;
		if (!raw_)
			return error{EINVAL, "rdma_get_request"};
		if (::rdma_get_request(raw_, &made))
			return detail::error_of("rdma_get_request");
		return id{made};
	}

	/** Gives the id out of its owner's hands: the C functions' rules hold then. */
	[[nodiscard]] rdma_cm_id *release() noexcept { return std::exchange(raw_, nullptr); }

	/**
	 * Destroys it now, as the destructor does, and tells what came of it. The
	 * owner is empty afterwards in any case.
	 */
	result<void> destroy() noexcept
	{
		if (!raw_)
			return {};
		detail::held_event::ack_all_here(raw_);
		destroy_qp();
		return detail::answer(::rdma_destroy_id(release()), "rdma_destroy_id");
	}

private:
	static result<id> create_on(rdma_event_channel *on, rdma_port_space space,
				    void *context) noexcept
	{
		rdma_cm_id *made = nullptr;
#if QPATTR_HAS_OWN_CM
		if (::qpattr_id_create(on, &made, context, space, QPATTR_ID_NO_PATH))
			return detail::error_of("qpattr_id_create");
#else
		if (::rdma_create_id(on, &made, context, space))
			return detail::error_of("rdma_create_id");
#endif
		return id{made};
	}
};

} // namespace qpattr::inline v0

#endif
