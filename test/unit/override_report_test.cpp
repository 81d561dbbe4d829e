// SPDX-License-Identifier: MIT
// What is said of each rule: applied, or why not.
#include "test/support/catch.hpp"

#include <cstdlib>
#include <string>

#include "tools/qpattr/trace/override_report.hpp"

using namespace qpattr::tool;

namespace {

// Arrows are "->" then; looked at once.
[[maybe_unused]] const int plain_locale = ::setenv("LC_ALL", "C", 1);

std::vector<override_rule> rules_of(std::initializer_list<const char *> sets)
{
	std::vector<override_rule> out;
	for (const char *each : sets)
		out.push_back({std::string{"--set "} + each, "*", parse_settings(each, "--set")});
	return out;
}

call_record call(const char *asked, std::uint64_t mask, std::vector<unsigned> matched = {1})
{
	call_record out;
	out.pid = 7;
	out.program = "rping";
	out.id = "0x1";
	out.device = "rxe0";
	out.qp_type = "RC";
	out.src = "10.77.0.1:34864";
	out.dst = "10.77.0.1:7174";
	out.asked = asked;
	out.mask = mask;
	out.matched = std::move(matched);
	return out;
}

constexpr std::uint64_t init = 0x39, rtr = 0x129181, rts = 0x12e01;

std::string report(const std::vector<override_rule> &rules, const std::vector<record> &records)
{
	override_report out{rules};
	for (const record &each : records)
		out.take(each);
	return out.text(terminal{-1});
}

bool has(const std::string &text, const std::string &what)
{
	INFO(text);
	CHECK(text.find(what) != std::string::npos);
	return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("override_report: applied")
{
	call_record one = call("RTS", rts);
	one.overrides = {{1, "timeout", 19, 16}};
	call_record other = one;
	other.id = "0x2";
	const std::string text = report(rules_of({"timeout=16"}), {call("INIT", init), one, other});
	has(text, "qpattr: rule 1, --set timeout=16: matched 2 connections\n");
	has(text, "qpattr:   timeout: applied 2 times: 19 (2.15 s) -> 16 (268 ms)\n");
	CHECK(text.find("librdmacm") == std::string::npos);
}

TEST_CASE("override_report: librdmacm replaces the read depths afterwards")
{
	call_record one = call("RTS", rts);
	one.overrides = {{1, "max_rd_atomic", 1, 4}};
	has(report(rules_of({"max_rd_atomic=4"}), {one}),
	    "where librdmacm moves the QP itself, it then puts in the value of rdma_connect or "
	    "rdma_accept\n");
}

TEST_CASE("override_report: why it was never applied")
{
	const auto timeout = rules_of({"timeout=16"});
	const auto mtu = rules_of({"path_mtu=1024B"});
	has(report(timeout, {}), "rule 1, --set timeout=16: never matched: no call was seen\n");
	has(report(timeout, {call("RTS", rts, {})}),
	    "never matched: there was 10.77.0.1:34864 -> 10.77.0.1:7174 on rxe0, RC\n");
	has(report(timeout, {call("INIT", init), call("RTR", rtr)}),
	    "timeout: never applied: too early: the program asked for INIT, RTR only, and it "
	    "belongs to RTS\n");
	has(report(mtu, {call("RTS", rts)}),
	    "path_mtu: never applied: too late: the program asked for RTS only, and it belongs to "
	    "RTR\n");
	has(report(mtu, {call("INIT", init), call("RTS", rts)}),
	    "path_mtu: never applied: the program asked for INIT, RTS only");

	call_record datagram = call("RTS", 0x71);
	datagram.qp_type = "UD";
	has(report(timeout, {datagram}),
	    "timeout: never applied: it is not in the mask that UD QPs get for RTS\n");

	call_record failed = call("RTS", 0);
	failed.result = -1;
	failed.error = "EINVAL";
	has(report(timeout, {failed}), "every call for RTS, where it belongs, failed\n");

	call_record refused = call("RTR", rtr);
	refused.refused = {{1, "path_mtu", 5, 3, "above the port's active MTU"}};
	has(report(rules_of({"path_mtu=4096B"}), {refused}),
	    "path_mtu: never applied: refused once: above the port's active MTU, limit 3 (1024 "
	    "bytes)\n");

	call_record same = call("RTS", rts);
	same.overrides = {{1, "timeout", 16, 16}};
	has(report(timeout, {same}), "it was 16 (268 ms) already, once\n");
}

TEST_CASE("override_report: a later rule wins")
{
	call_record one = call("RTS", rts, {1, 2});
	one.overrides = {{2, "timeout", 19, 14}};
	const std::string text = report(rules_of({"timeout=16", "timeout=14"}), {one});
	has(text, "timeout: never applied: rule 2 sets it too, and comes later\n");
	has(text, "timeout: applied once: 19 (2.15 s) -> 14 (67.1 ms)\n");
}

TEST_CASE("override_report: a process that took no rules is named")
{
	process_record process;
	process.pid = 7;
	process.program = "rping";
	has(report(rules_of({"timeout=16"}), {process, call("RTS", rts, {})}),
	    "rping 7 took no rules");
	process.overrides = "*:timeout=16";
	CHECK(report(rules_of({"timeout=16"}), {process, call("RTS", rts, {})}).find("took no rules") ==
	      std::string::npos);
}

TEST_CASE("override_report: rounding is told, a code that was given is not")
{
	const std::vector<std::string> lines =
		roundings(rules_of({"timeout=500ms,retry_cnt=3", "min_rnr_timer=0.64ms"}));
	REQUIRE(lines.size() == 1);
	CHECK(lines[0] == "timeout=500ms becomes 17, 537 ms, the shortest that is at least as long");
}
