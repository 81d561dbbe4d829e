// SPDX-License-Identifier: MIT
/**
 * @file result.hpp
 * What every operation of the C++ layer answers: a value, or an error that says
 * which call failed, why, and what can be done about it. Nothing throws.
 *
 * The layer lives in the inline namespace qpattr::v0: programs write
 * qpattr::result, and the linker sees qpattr::v0::result, which is another type
 * than any that libqpattr has inside, and than a later layer's.
 */
#ifndef QPATTR_RESULT_HPP
#define QPATTR_RESULT_HPP

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace qpattr::inline v0 {

/**
 * Why an operation failed.
 *
 * A plain value of two words. The default is "no error".
 */
struct error {
	int code = 0;	       /**< errno, positive; 0: nothing failed */
	const char *call = ""; /**< what failed, a constant string: "rdma_connect" */

	/** @return whether something failed */
	constexpr explicit operator bool() const noexcept { return code != 0; }

	/** @return whether there is merely no event yet on a non-blocking channel */
	[[nodiscard]] constexpr bool would_block() const noexcept
	{
		return code == EAGAIN;
	}

	/**
	 * What a person can do about it.
	 *
	 * @return a constant string; "" where there is nothing to add to the errno
	 */
	[[nodiscard]] constexpr const char *hint() const noexcept;

	/**
	 * One line for a person: "rdma_bind_addr: No such device (no RDMA device has
	 * the address: rdma link)".
	 *
	 * @param out  where to; the text is cut to it and always terminated, unless
	 *             it is empty
	 * @return out.data() where it has room for the terminating zero, else ""
	 *
	 * Threads: any. The text of the errno is in the program's locale.
	 */
	const char *message(std::span<char> out) const noexcept;
};

namespace detail {

constexpr bool equal(const char *a, const char *b) noexcept
{
	for (; *a && *a == *b; ++a, ++b)
		;
	return *a == *b;
}

struct advice {
	int code;
	const char *call; // "": whichever
	const char *text;
};

// The first row that fits is taken.
inline constexpr advice advices[] = {
	{ENOENT, "rdma_create_event_channel", "load the module rdma_ucm, or hand the container "
					      "/dev/infiniband/rdma_cm"},
	{ENODEV, "rdma_create_event_channel", "no RDMA device here: rdma link"},
	{EACCES, "rdma_create_event_channel", "permission on /dev/infiniband/rdma_cm is missing"},
	{EACCES, "rdma_bind_addr", "a port below 1024 wants CAP_NET_BIND_SERVICE; or the channel was made "
				   "before a fork or a change of credentials"},
	{EACCES, "", "the channel was made before a fork or a change of credentials: make one after it"},
	{ENODEV, "rdma_bind_addr", "no RDMA device has the address: rdma link"},
	{ENODEV, "rdma_resolve_addr", "no RDMA device leads there: rdma link, ip route get"},
	{ENODEV, "rdma_resolve_route", "loopback addresses have no route: use the device's own address"},
	{EADDRNOTAVAIL, "rdma_bind_addr", "the address is not on this machine: ip address"},
	{EADDRINUSE, "rdma_bind_addr", "another id has the port: choose one, 0, or set_reuse_address()"},
	{ETIMEDOUT, "rdma_resolve_addr", "no neighbour answers there: ping"},
	{ETIMEDOUT, "RDMA_CM_EVENT_ADDR_ERROR", "no neighbour answers there: ping"},
	{EINVAL, "rdma_init_qp_attr", "the connection is not in a state that can answer: RTR and RTS need "
				      "CONNECT_RESPONSE or CONNECT_REQUEST, and no disconnect since"},
	{ENXIO, "", "the RDMA device was removed: destroy the id"},
	{EDEADLK, "", "it would wait for ever for an event that this thread still holds: ack() it first"},
	{ECONNREFUSED, "", "nobody listens there, or the peer rejected the request"},
};

// Which of its two forms strerror_r has depends on the C library and on macros.
inline const char *text_of(int failed, const char *buf) noexcept
{
	return failed ? "unknown error" : buf;
}
inline const char *text_of(const char *text, const char *) noexcept
{
	return text;
}

// -1 and errno, as C tells failures.
inline error error_of(const char *call) noexcept
{
	return {errno ? errno : EIO, call};
}

} // namespace detail

constexpr const char *error::hint() const noexcept
{
	for (const detail::advice &each : detail::advices)
		if (each.code == code && (!*each.call || detail::equal(each.call, call)))
			return each.text;
	return "";
}

inline const char *error::message(std::span<char> out) const noexcept
{
	if (out.empty())
		return "";
	char buf[128] = "";
	const char *const why =
		code ? detail::text_of(::strerror_r(code, buf, sizeof buf), buf) : "no error";
	const char *const more = hint();
	std::size_t used = 0;
	for (const char *piece : {call, *call ? ": " : "", why, *more ? " (" : "", more, *more ? ")" : ""})
		for (; *piece && used + 1 < out.size(); ++piece)
			out[used++] = *piece;
	out[used] = '\0';
	return out.data();
}

/**
 * A value of an operation, or its error.
 *
 * T has an empty state, its default: an owner that owns nothing, a zero. That is
 * what value() is where the operation failed, so that looking at it too early is
 * no undefined behaviour.
 *
 *     if (auto made = qpattr::channel::create())
 *             use(std::move(made).value());
 *     else
 *             complain(made.why());
 */
template <class T> class [[nodiscard]] result {
public:
	constexpr result(T value) noexcept : value_{std::move(value)} {}
	constexpr result(error why) noexcept : error_{why} {}

	/** @return whether there is a value */
	[[nodiscard]] constexpr bool ok() const noexcept { return !error_; }
	constexpr explicit operator bool() const noexcept { return ok(); }

	/** @return the value; an empty one where the operation failed */
	[[nodiscard]] constexpr T &value() & noexcept { return value_; }
	[[nodiscard]] constexpr const T &value() const & noexcept { return value_; }
	[[nodiscard]] constexpr T value() && noexcept { return std::move(value_); }
	[[nodiscard]] constexpr T *operator->() noexcept { return &value_; }
	[[nodiscard]] constexpr const T *operator->() const noexcept { return &value_; }

	/** @return the error; of code 0 where there is a value */
	[[nodiscard]] constexpr error why() const noexcept { return error_; }

private:
	static_assert(std::is_nothrow_default_constructible_v<T> &&
		      std::is_nothrow_move_constructible_v<T>);

	T value_{};
	error error_{};
};

/** Success, or an error. */
template <> class [[nodiscard]] result<void> {
public:
	constexpr result() noexcept = default;
	constexpr result(error why) noexcept : error_{why} {}

	[[nodiscard]] constexpr bool ok() const noexcept { return !error_; }
	constexpr explicit operator bool() const noexcept { return ok(); }
	constexpr void value() const noexcept {} // for templates that take any result
	[[nodiscard]] constexpr error why() const noexcept { return error_; }

private:
	error error_{};
};

namespace detail {

// What a function of the rdma_* names returned, 0 or -1 and errno.
inline result<void> answer(int returned, const char *call) noexcept
{
	return returned ? result<void>{error_of(call)} : result<void>{};
}

} // namespace detail

} // namespace qpattr::inline v0

#endif
