// SPDX-License-Identifier: MIT
// One command to the rdma_cm device: a header, the command's structure, one
// write(2). The kernel answers into memory that the command points to.
#pragma once

#include <cerrno>
#include <cstdint>

#include "lib/result.hpp"
#include "lib/ucma/sys.hpp"
#include "uapi/command.hpp"

namespace qpattr::ucma {

// What is written for a command, header and structure in one piece: the kernel
// takes a writev segment by segment, each as a command of its own, and reads a
// whole structure whatever length the header tells.
template <uapi::command C> struct frame {
	rdma_ucm_cmd_hdr header;
	typename C::request body;

	// `reply` need not be initialised; it must live until send() returns.
	explicit frame(typename C::reply *reply) noexcept
		requires(!std::is_same_v<typename C::reply, uapi::no_reply>)
		: header{C::number, sizeof(typename C::request), sizeof(typename C::reply)}, body{}
	{
		body.response = reinterpret_cast<std::uintptr_t>(reply);
	}

	frame() noexcept
		requires(std::is_same_v<typename C::reply, uapi::no_reply>)
		: header{C::number, sizeof(typename C::request), 0}, body{}
	{
	}
};

static_assert(sizeof(frame<uapi::init_qp_attr>) == 24);

// The errno of a write of `len` bytes that returned `written` (sys::write's
// convention); 0 for a whole write. A short write is ENODATA, as with stock:
// the rdma_cm device takes a command whole or not at all, so the descriptor is
// something else.
[[nodiscard]] constexpr int write_error(long written, std::size_t len) noexcept
{
	if (written == static_cast<long>(len))
		return 0;
	return written < 0 ? static_cast<int>(-written) : ENODATA;
}

template <uapi::command C>
// Inlined always: sys::write() is another one in each product.
[[nodiscard, gnu::always_inline]] inline result<void> send(int fd, const frame<C> &command) noexcept
{
	if (const int code = write_error(sys::write(fd, &command, sizeof command), sizeof command))
		return failure{code, QPATTR_STAGE_COMMAND};
	return {};
}

} // namespace qpattr::ucma
