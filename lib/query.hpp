// SPDX-License-Identifier: MIT
// One question to the kernel, where the rooms meet: ucma sends, attr translates.
// The hot path of the preload object (interpose.cpp) is this without clearing the
// reply.
#pragma once

#include <cstring>

#include "lib/attr/translate.hpp"
#include "lib/ucma/command.hpp"

namespace qpattr {

// The state that a program asks for, which may be any number: read as bytes, since an
// enumeration holds only what it names.
[[nodiscard, gnu::always_inline]] inline std::uint32_t state_asked(const ibv_qp_attr &attr) noexcept
{
	std::uint32_t state;
	static_assert(sizeof state == sizeof attr.qp_state);
	std::memcpy(&state, &attr.qp_state, sizeof state);
	return state;
}

// Writes `attr` and `mask` on success only. Leaves errno where sys::write() does.
[[nodiscard, gnu::always_inline]] inline result<void> query(int fd, std::uint32_t handle, std::uint32_t state,
					ibv_qp_attr &attr, int &mask) noexcept
{
	uapi::init_qp_attr::reply reply;
	attr::clear(reply);
	ucma::frame<uapi::init_qp_attr> command{&reply};
	command.body.id = handle;
	command.body.qp_state = state;
	if (const auto sent = ucma::send(fd, command); !sent)
		return sent;
	attr::translate(reply, attr);
	mask = static_cast<int>(reply.qp_attr_mask);
	return {};
}

} // namespace qpattr
