// SPDX-License-Identifier: MIT
// The kernel's reply to INIT_QP_ATTR as verbs take it.
#pragma once

#include <cstring>
#include <utility>

#include "lib/attr/runs.hpp"

namespace qpattr::attr {

// Writes every field of `to` but qp_state and rate_limit, in the mask or not,
// which is what stock librdmacm does: a program may read a field whose mask bit
// is not set. A pure function; neither argument may overlap the other.
inline void translate(const ib_uverbs_qp_attr &from, ibv_qp_attr &to) noexcept
{
	auto *dst = reinterpret_cast<unsigned char *>(&to);
	const auto *src = reinterpret_cast<const unsigned char *>(&from);
	[&]<std::size_t... R>(std::index_sequence<R...>) {
		(std::memcpy(dst + runs.runs[R].to, src + runs.runs[R].from, runs.runs[R].len),
		 ...);
	}(std::make_index_sequence<runs.count>{});
}

// An address as the kernel writes it outside that reply, in an event.
[[nodiscard]] inline ibv_ah_attr address(const ib_uverbs_ah_attr &from) noexcept
{
	ib_uverbs_qp_attr reply{};
	reply.ah_attr = from;
	ibv_qp_attr attr{};
	translate(reply, attr);
	return attr.ah_attr;
}

// Clears a reply before the kernel fills it, for the checkers' sake (valgrind,
// sanitizers): they do not know that the kernel writes there. By blocks of one
// vector move each; gcc makes a whole memset of this size a `rep stos`, which
// takes longer to start than this takes to run.
inline void clear(ib_uverbs_qp_attr &reply) noexcept
{
	constexpr std::size_t block = 16;
	static_assert(sizeof reply % block == 0);
	auto *bytes = reinterpret_cast<unsigned char *>(&reply);
	for (std::size_t at = 0; at < sizeof reply; at += block)
		std::memset(bytes + at, 0, block);
}

} // namespace qpattr::attr
