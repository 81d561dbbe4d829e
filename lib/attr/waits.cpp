// SPDX-License-Identifier: MIT
#include "lib/attr/waits.hpp"

#include "lib/attr/units.hpp"

namespace qpattr::attr {
namespace {

// Of the specification's 4: how much later than T the timer may run out.
constexpr unsigned late = 4;

} // namespace

time_span loss_wait(unsigned timeout) noexcept
{
	const std::uint64_t once = timeout_ns(timeout);
	if (once == 0)
		return for_ever;
	return {once, once * late};
}

time_span dead_peer_wait(unsigned timeout, unsigned retry_cnt) noexcept
{
	if (retry_cnt > retry_max || timeout_ns(timeout) == 0)
		return for_ever;
	const std::uint64_t all = timeout_ns(timeout) * (retry_cnt + 1);
	return {all, all * late};
}

time_span rnr_wait(unsigned peers_timer, unsigned rnr_retry) noexcept
{
	if (rnr_retry >= rnr_retry_for_ever || peers_timer > rnr_timer_max)
		return for_ever;
	const std::uint64_t all = std::uint64_t{rnr_timer_us(peers_timer)} * 1000 * rnr_retry;
	return {all, all};
}

void add_span(text &to, const time_span &span) noexcept
{
	if (span.endless()) {
		to.add("for ever");
		return;
	}
	if (span.most_ns == 0) {
		to.add("no time");
		return;
	}
	add_time(to, span.least_ns);
	if (span.most_ns != span.least_ns) {
		to.add(" to ");
		add_time(to, span.most_ns);
	}
}

} // namespace qpattr::attr
