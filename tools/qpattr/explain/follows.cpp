// SPDX-License-Identifier: MIT
#include "tools/qpattr/explain/follows.hpp"

#include <cstring>

#include <fmt/format.h>

#include "lib/attr/units.hpp"
#include "lib/attr/waits.hpp"

namespace qpattr::tool {
namespace {

std::string rnr_time(unsigned code)
{
	return spelled([&](attr::text &to) { attr::add_rnr_timer(to, code); });
}

const char *const formula = "(retry_cnt + 1) x T at the least, 4 times that at the most, "
			    "T = 4.096 us x 2^timeout; drivers round T up, and rxe takes "
			    "retry_cnt 7 as for ever";

std::vector<fact> of_timeout(unsigned code)
{
	if (code == 0 || code > attr::timeout_max)
		return {};
	return {{"a lost packet", "stalls the connection for " + span(attr::loss_wait(code))},
		{"a dead peer", fmt::format("is noticed after {} with retry_cnt 7, after {} with 3",
					    span(attr::dead_peer_wait(code, 7)),
					    span(attr::dead_peer_wait(code, 3)))},
		{"formula", formula}};
}

std::vector<fact> of_retry_cnt(unsigned count)
{
	if (count > attr::retry_max)
		return {};
	// What the connection manager gives on RoCE: before and from kernel 6.12; and a
	// usual choice.
	return {{"a dead peer",
		 fmt::format("is noticed after {} with timeout 14, {} with 17, {} with 19",
			     span(attr::dead_peer_wait(14, count)),
			     span(attr::dead_peer_wait(17, count)),
			     span(attr::dead_peer_wait(19, count)))},
		{"formula", formula}};
}

std::vector<fact> of_rnr_timer(unsigned code)
{
	if (code > attr::rnr_timer_max)
		return {};
	return {{"follows",
		 fmt::format("a peer with rnr_retry 6 gives up after {} without a receive, with 1 "
			     "after {}; with 7 never",
			     span(attr::rnr_wait(code, 6)), span(attr::rnr_wait(code, 1)))},
		{"in order", "by length the codes are 1 to 31 and then 0, the longest"}};
}

std::vector<fact> of_rnr_retry(unsigned count)
{
	if (count == attr::rnr_retry_for_ever)
		return {{"follows", "a peer without receives is waited for without end and without "
				    "an error, at the pace of its min_rnr_timer"}};
	if (count > attr::rnr_retry_for_ever)
		return {};
	if (count == 0)
		return {{"follows", "the first message that finds no receive at the peer ends the "
				    "connection (IBV_WC_RNR_RETRY_EXC_ERR)"}};
	return {{"follows",
		 fmt::format("the connection fails {} after the first message that finds no "
			     "receive if the peer's min_rnr_timer is 0 ({}), {} if it is 12 ({})",
			     span(attr::rnr_wait(0, count)), rnr_time(0),
			     span(attr::rnr_wait(12, count)), rnr_time(12))}};
}

std::vector<fact> of_path_mtu(std::uint32_t mtu)
{
	const unsigned bytes = attr::mtu_bytes(mtu);
	if (!bytes)
		return {};
	return {{"needs", fmt::format("an interface MTU of {} bytes on RoCE, at both ends and on "
				      "the way: {} for the headers",
				      bytes + 96, 96)},
		{"follows", fmt::format("a message of 64 KiB is {} packets", 65536 / bytes)},
		{"at both ends",
		 "the same, or the first message longer than the smaller one fails"}};
}

bool ends_with(const char *name, const char *tail)
{
	const std::size_t len = std::strlen(name), tail_len = std::strlen(tail);
	return len >= tail_len && std::strcmp(name + len - tail_len, tail) == 0;
}

} // namespace

std::string span(const attr::time_span &of)
{
	return spelled([&](attr::text &to) { attr::add_span(to, of); });
}

std::vector<fact> what_follows(const attr::attribute &what, std::uint32_t value)
{
	switch (what.kind) {
	case attr::unit::timeout:
		return of_timeout(value);
	case attr::unit::retry_cnt:
		return of_retry_cnt(value);
	case attr::unit::rnr_timer:
		return of_rnr_timer(value);
	case attr::unit::rnr_retry:
		return of_rnr_retry(value);
	case attr::unit::path_mtu:
		return of_path_mtu(value);
	case attr::unit::rd_atomic:
		return {{"at both ends",
			 ends_with(what.name, "dest_rd_atomic")
				 ? "at least the peer's max_rd_atomic, or a READ too "
				   "many is refused"
				 : "at most the peer's max_dest_rd_atomic, or a READ "
				   "too many is refused"}};
	case attr::unit::number24:
		if (ends_with(what.name, "_psn"))
			return {{"at both ends", std::strcmp(what.name, "rq_psn") == 0
							 ? "the peer's sq_psn"
							 : "the peer's rq_psn"}};
		return {};
	case attr::unit::traffic_class:
		return {{"at both ends",
			 "the passive side takes what the request says; each side's "
			 "own packets carry its own"}};
	default:
		return {};
	}
}

std::vector<fact> worst_cases(const ibv_qp_attr &attr, std::uint32_t mask,
			      const attr::surroundings &at)
{
	std::vector<fact> out;
	const auto has = [&](std::uint32_t bits) { return (mask & bits) == bits; };
	if (has(IBV_QP_TIMEOUT))
		out.push_back(
			{"a lost packet", "stalls it for " + span(attr::loss_wait(attr.timeout))});
	if (has(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT)) {
		const attr::time_span wait = attr::dead_peer_wait(attr.timeout, attr.retry_cnt);
		std::string text;
		if (wait.endless())
			text = "is never noticed";
		else if (at.soft_roce && attr.retry_cnt == attr::retry_max)
			text = "is never noticed: rxe takes retry_cnt 7 as for ever (an adapter "
			       "would after " +
			       span(wait) + ")";
		else
			text = fmt::format(
				"is noticed after {}: {} tries of {}, up to 4 times that",
				span(wait), attr.retry_cnt + 1,
				span({attr::timeout_ns(attr.timeout),
				      attr::timeout_ns(attr.timeout)}));
		out.push_back({"a dead peer", text});
	}
	if (has(IBV_QP_RNR_RETRY))
		out.push_back({"a peer not ready",
			       attr.rnr_retry == 0 ? "ends the connection at once"
			       : attr.rnr_retry >= attr::rnr_retry_for_ever
				       ? "is waited for without end, by its own min_rnr_timer"
				       : fmt::format("fails the connection after {} waits of its "
						     "min_rnr_timer ({} if that is 0)",
						     attr.rnr_retry,
						     span(attr::rnr_wait(0, attr.rnr_retry)))});
	if (has(IBV_QP_MIN_RNR_TIMER))
		out.push_back(
			{"not ready here",
			 "makes the peer wait for " + rnr_time(attr.min_rnr_timer) + " each time"});
	return out;
}

} // namespace qpattr::tool
