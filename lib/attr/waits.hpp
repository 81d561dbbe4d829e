// SPDX-License-Identifier: MIT
// How long a sender waits in the worst case.
//
// The InfiniBand Architecture Specification lets the retry timer run out anywhere
// between T and 4 T, T = 4.096 us * 2^timeout, and a request is sent retry_cnt + 1
// times. Hence from (retry_cnt + 1) * T to four times that. Drivers round T up to
// what their hardware can, some to a least value; none goes below it.
#pragma once

#include <cstdint>

#include "lib/attr/text.hpp"

namespace qpattr::attr {

struct time_span {
	std::uint64_t least_ns;
	std::uint64_t most_ns;

	// No end, or codes that have no meaning.
	[[nodiscard]] constexpr bool endless() const noexcept { return most_ns == UINT64_MAX; }
};
inline constexpr time_span for_ever{UINT64_MAX, UINT64_MAX};

// A packet or its acknowledgement is lost once.
[[nodiscard]] time_span loss_wait(unsigned timeout) noexcept;

// The peer does not answer any more: until the completion with
// IBV_WC_RETRY_EXC_ERR. Endless with timeout 0.
[[nodiscard]] time_span dead_peer_wait(unsigned timeout, unsigned retry_cnt) noexcept;

// The peer has no receive posted: until IBV_WC_RNR_RETRY_EXC_ERR. The first RNR
// NAK costs a retry, and each retry waits for the timer that the peer asks for, as
// the least. Endless with rnr_retry 7.
[[nodiscard]] time_span rnr_wait(unsigned peers_timer, unsigned rnr_retry) noexcept;

// "17.2 s to 1 min 9 s", "1.92 ms", "no time", "for ever".
void add_span(text &to, const time_span &span) noexcept;

} // namespace qpattr::attr
