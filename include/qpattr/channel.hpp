// SPDX-License-Identifier: MIT
/**
 * @file channel.hpp
 * The owner of an event channel: one open file of the rdma_cm device, on which the
 * events of its ids arrive.
 *
 * next_event() and expect() need <qpattr/event.hpp>.
 */
#ifndef QPATTR_CHANNEL_HPP
#define QPATTR_CHANNEL_HPP

#include <chrono>
#include <climits>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <poll.h>

#include <rdma/rdma_cma.h>

#include <qpattr/result.hpp>

namespace qpattr::inline v0 {

class event;

namespace detail {

/* What the C functions take as milliseconds: never negative, never overflowing. */
constexpr int timeout_ms(std::chrono::milliseconds timeout) noexcept
{
	if (timeout.count() < 0)
		return 0;
	return timeout.count() > INT_MAX ? INT_MAX : static_cast<int>(timeout.count());
}

/* std::chrono's clocks are functions of the C++ runtime; its units are not. */
inline std::chrono::milliseconds monotonic_now() noexcept
{
	timespec now{};
	::clock_gettime(CLOCK_MONOTONIC, &now);
	return std::chrono::seconds{now.tv_sec} +
	       std::chrono::duration_cast<std::chrono::milliseconds>(
		       std::chrono::nanoseconds{now.tv_nsec});
}

} // namespace detail

/**
 * An event channel. Move-only; destroys the channel once.
 *
 * **Order**: the channel must live longer than its ids and events. Declare it
 * before them, as members of a class too: C++ destroys in the reverse order.
 *
 * **Fork, exec, credentials**: the kernel refuses (EACCES) every command on a
 * channel that was made before a fork (in the child), an exec, or a change of
 * credentials. Make the channel after it.
 *
 * **Threads**: several may take events from one channel; each event goes to one.
 * A thread that waits is not woken by the destruction of the channel.
 */
class channel {
public:
	/** A channel that owns nothing: what a moved-from one is. */
	constexpr channel() noexcept = default;

	/** Takes over a channel of rdma_create_event_channel(). */
	explicit channel(rdma_event_channel *owned) noexcept : raw_{owned} {}

	channel(channel &&other) noexcept : raw_{std::exchange(other.raw_, nullptr)} {}
	channel &operator=(channel &&other) noexcept
	{
		channel{std::move(other)}.swap(*this);
		return *this;
	}
	~channel() { destroy(); }

	/**
	 * Opens the device: rdma_create_event_channel(3). Blocking, close-on-exec.
	 *
	 * @return its errno: ENOENT or ENODEV without the module rdma_ucm or without
	 *         an RDMA device, EACCES, EMFILE
	 */
	static result<channel> create() noexcept
	{
		rdma_event_channel *const made = ::rdma_create_event_channel();
		if (!made)
			return detail::error_of("rdma_create_event_channel");
		return channel{made};
	}

	/** @return whether there is a channel */
	constexpr explicit operator bool() const noexcept { return raw_ != nullptr; }

	/** @return what the C functions take; NULL for an empty owner */
	[[nodiscard]] rdma_event_channel *native_handle() const noexcept { return raw_; }

	/**
	 * @return the descriptor for poll(2), epoll(7), select(2): readable when an
	 *         event waits, never writable. -1 for an empty owner. Do not close it.
	 */
	[[nodiscard]] int fd() const noexcept { return raw_ ? raw_->fd : -1; }

	/**
	 * Whether next_event() waits for an event, or answers EAGAIN. Of use with
	 * epoll, always so for edge-triggered waiting.
	 *
	 * The mode belongs to the open file: duplicates of the descriptor share it.
	 */
	result<void> set_nonblocking(bool on) noexcept
	{
		const int flags = ::fcntl(fd(), F_GETFL);
		if (flags < 0)
			return detail::error_of("fcntl");
		const int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
		return detail::answer(::fcntl(fd(), F_SETFL, wanted) < 0 ? -1 : 0, "fcntl");
	}

	/**
	 * Takes the next event: rdma_get_cm_event(3).
	 *
	 * @return EAGAIN (error::would_block()) where none waits and the channel is
	 *         non-blocking; EINTR where a signal handler ran, unless it was
	 *         installed with SA_RESTART; EINVAL for an empty owner
	 */
	result<event> next_event() noexcept;

	/**
	 * Takes the next event, and waits for it no longer than a timeout.
	 *
	 * @param timeout  with its unit: 2s, 500ms
	 * @return ETIMEDOUT of "poll" where none came; EINTR where a signal handler
	 *         ran. In a blocking channel that several threads read another may
	 *         have been quicker, or a connection request may have been refused for
	 *         want of memory: then this waits on, without a limit.
	 */
	result<event> next_event(std::chrono::milliseconds timeout) noexcept;

	/**
	 * Takes the next event, which must be of one type: for programs that go
	 * through a connection step by step.
	 *
	 * @param type     the one that is expected
	 * @param timeout  with its unit
	 * @return as next_event(); where another event came, it is acknowledged, and
	 *         the error has its name as the call and what it tells as the code: its
	 *         status where that is an errno, ECONNREFUSED for REJECTED, EPROTO
	 *         else
	 */
	result<event> expect(rdma_cm_event_type type, std::chrono::milliseconds timeout) noexcept;

	/** Gives the channel out of its owner's hands. */
	[[nodiscard]] rdma_event_channel *release() noexcept
	{
		return std::exchange(raw_, nullptr);
	}

	/**
	 * Closes it now: rdma_destroy_event_channel(3). All ids of the channel must be
	 * destroyed, and all events acknowledged, before.
	 */
	void destroy() noexcept
	{
		if (rdma_event_channel *const old = release())
			::rdma_destroy_event_channel(old);
	}

	void swap(channel &other) noexcept { std::swap(raw_, other.raw_); }

private:
	result<void> wait_until(std::chrono::milliseconds deadline) const noexcept
	{
		const auto left = deadline - detail::monotonic_now();
		pollfd waiting{fd(), POLLIN, 0};
		const int ready = ::poll(&waiting, 1, detail::timeout_ms(left));
		if (ready < 0)
			return detail::error_of("poll");
		if (!ready)
			return error{ETIMEDOUT, "poll"};
		return {};
	}

	rdma_event_channel *raw_ = nullptr;
};

} // namespace qpattr::inline v0

#endif
