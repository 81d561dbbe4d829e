// SPDX-License-Identifier: MIT
// Timers and retries: how long a lost packet, a dead peer or an empty receive queue
// holds a connection up.
#include "lib/attr/linter.hpp"
#include "lib/attr/units.hpp"
#include "lib/attr/waits.hpp"

namespace qpattr::attr {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t s = 1000 * ms;

// Where a finding begins. A person waits for the first two; the third is a pause
// that networks make by themselves: a route that changes, a switch that holds
// senders back.
constexpr std::uint64_t slow_loss = s;
constexpr std::uint64_t slow_dead_peer = 10 * s;
constexpr std::uint64_t usual_pause = 10 * ms;
constexpr std::uint32_t slow_rnr_us = 100'000;

void rnr_timer(const linter &here) noexcept
{
	const unsigned code = here.attr.min_rnr_timer;
	if (code == 0) {
		text &reason =
			here.warn("rnr-timer-655ms", row("min_rnr_timer"),
				  "set it at the end that receives, for example "
				  "min_rnr_timer=0.64ms (12), and post receives before the peer "
				  "sends")
				.reason;
		reason.add("code 0 is the longest, 655.36 ms: whenever the peer sends and no "
			   "receive is posted here, it waits that long before it tries again");
		if (here.has(IBV_QP_RNR_RETRY) && here.attr.rnr_retry == rnr_retry_for_ever)
			reason.add("; with rnr_retry 7, for ever, nothing ever fails: it only "
				   "crawls, at about 1.5 messages a second");
		return;
	}
	if (rnr_timer_us(code) < slow_rnr_us)
		return;
	text &reason = here.warn("rnr-timer-long", row("min_rnr_timer"),
				 "12 (0.64 ms) is usual: min_rnr_timer=0.64ms at the end that "
				 "receives")
			       .reason;
	reason.addf("code %u is ", code);
	add_rnr_timer(reason, code);
	reason.add(": the peer waits that long whenever it sends and no receive is posted here");
}

void timeout(const linter &here) noexcept
{
	const unsigned code = here.attr.timeout;
	if (code == 0) {
		here.problem("timeout-never", row("timeout"),
			     "set timeout, for example timeout=16 (268 ms); 0 of the program is "
			     "usually an option that was never set")
			.reason.add("timeout 0 switches the timer off: after a lost packet or the "
				    "peer's death the connection hangs for ever, and retry_cnt has "
				    "no effect");
		return;
	}
	const time_span loss = loss_wait(code);
	if (loss.endless() || loss.least_ns < slow_loss)
		return;
	text &reason = here.warn("loss-stall", row("timeout"),
				 "a shorter timeout, for example timeout=16 (268 ms); in the "
				 "program RDMA_OPTION_ID_ACK_TIMEOUT before rdma_resolve_route()")
			       .reason;
	reason.addf("with timeout %u a lost packet can stall the connection for ", code);
	add_span(reason, loss);
}

void dead_peer(const linter &here) noexcept
{
	const unsigned code = here.attr.timeout;
	const unsigned retries = here.attr.retry_cnt;
	if (code == 0)
		return;
	if (here.at.soft_roce && retries == retry_max) {
		here.warn("dead-peer-never", row("retry_cnt"),
			  "retry_cnt 6 or less on this device; adapters count 7 as 7")
			.reason.add("the driver rxe takes retry_cnt 7 as for ever: a dead peer is "
				    "never noticed");
		return;
	}
	const time_span wait = dead_peer_wait(code, retries);
	const bool slow = wait.least_ns > slow_dead_peer;
	if (wait.endless() || (!slow && wait.least_ns >= usual_pause))
		return;
	text &reason =
		here.warn(slow ? "dead-peer-slow" : "dead-peer-hasty", row("timeout"),
			  slow ? "a shorter timeout: timeout=16 (268 ms) with retry_cnt 7 is 2.15 "
				 "s "
				 "to 8.59 s"
			       : "a longer timeout or more retries: timeout=14 (67.1 ms) with "
				 "retry_cnt 7 is 537 ms to 2.15 s")
			.reason;
	reason.add(slow ? "a dead peer is noticed only after "
			: "the connection fails if the network pauses for ");
	add_span(reason, wait);
	reason.addf(" (%u tries of ", retries + 1);
	add_timeout(reason, code);
	reason.add(", up to 4 times that)");
}

} // namespace

void lint_timers(const linter &here) noexcept
{
	if (here.has(IBV_QP_MIN_RNR_TIMER))
		rnr_timer(here);
	if (here.has(IBV_QP_RNR_RETRY) && here.attr.rnr_retry == 0)
		here.warn("rnr-retry-0", row("rnr_retry"),
			  "rnr_retry=7, given by the peer: rdma_conn_param.rnr_retry_count of its "
			  "rdma_connect() or rdma_accept()")
			.reason.add("rnr_retry 0: the first message that finds no receive posted "
				    "at the peer ends the connection (IBV_WC_RNR_RETRY_EXC_ERR)");
	if (here.has(IBV_QP_TIMEOUT))
		timeout(here);
	if (here.has(IBV_QP_RETRY_CNT) && here.attr.retry_cnt == 0)
		here.warn("retry-0", row("retry_cnt"),
			  "retry_cnt=7: rdma_conn_param.retry_count of the active side's "
			  "rdma_connect()")
			.reason.add("retry_cnt 0: one lost packet ends the connection "
				    "(IBV_WC_RETRY_EXC_ERR)");
	if (here.has(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT))
		dead_peer(here);
}

} // namespace qpattr::attr
