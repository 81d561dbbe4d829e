// SPDX-License-Identifier: MIT
// Which ends `qpattr compare` takes for one connection, and each thing that may not fit.
#include "tools/qpattr/explain/compare_page.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "test/support/catch.hpp"
#include "test/support/fake_trace.hpp"
#include "tools/qpattr/explain/compare_checks.hpp"

using namespace qpattr::tool;

namespace {

// Traces with their ends, which point into them.
struct both {
	trace first, second;
	std::vector<connection_end> firsts, seconds;

	both(const std::vector<fake::end> &a, const std::vector<fake::end> &b)
		: first{parse_trace(fake::trace_of(a), "a")}, second{parse_trace(fake::trace_of(b),
										 "b")},
		  firsts{ends_of(first)}, seconds{ends_of(second)}
	{
	}
};

using change = std::function<void(fake::end &client, fake::end &server)>;

comparison compared(const change &to)
{
	auto [client, server] = fake::connection();
	to(client, server);
	const both traces{{client}, {server}};
	const pairing found = pair_ends(traces.firsts, traces.seconds);
	REQUIRE(found.pairs.size() == 1);
	CHECK(found.pairs[0].client->pid == client.pid);
	return compare(found.pairs[0]);
}

std::set<std::string> ids_of(const comparison &of)
{
	std::set<std::string> out;
	for (const remark &each : of.differs) {
		out.insert(each.id);
		CHECK_FALSE(each.reason.empty());
		CHECK_FALSE(each.advice.empty());
	}
	return out;
}

// The change is told as this, and as nothing else; the reason has that text.
void tells(const char *id, qpattr::attr::severity how, const std::string &reason, const change &to)
{
	CAPTURE(id);
	const comparison found = compared(to);
	CHECK(ids_of(found) == std::set<std::string>{id});
	for (const remark &each : found.differs) {
		CAPTURE(each.reason);
		CHECK(each.reason.find(reason) != std::string::npos);
		CHECK(each.how == how);
	}
	CHECK(found.all_fit() == (how == qpattr::attr::severity::note));
}

constexpr auto note = qpattr::attr::severity::note;
constexpr auto warning = qpattr::attr::severity::warning;
constexpr auto problem = qpattr::attr::severity::problem;

bool fits(const comparison &of, const std::string &what)
{
	return std::find(of.fits.begin(), of.fits.end(), what) != of.fits.end();
}

} // namespace

TEST_CASE("compare: two ends that fit", "[compare]")
{
	const comparison found = compared([](fake::end &, fake::end &) {});
	CHECK(ids_of(found).empty());
	CHECK(found.all_fit());
	for (const char *what :
	     {"PSNs", "QP numbers", "path MTU 1024 bytes", "GIDs of IPv4", "read depths 16 and 16",
	      "traffic class 0x68", "dead peer noticed after 2.15 s to 8.59 s"}) {
		CAPTURE(what);
		CHECK(fits(found, what));
	}
}

TEST_CASE("compare: what does not fit", "[compare]")
{
	tells("path-mtu-differs", problem,
	      "client 5 (4096 bytes), server 3 (1024 bytes): a message of more than 1024 bytes "
	      "from "
	      "the client fails",
	      [](fake::end &c, fake::end &) { c.attr.path_mtu = IBV_MTU_4096; });
	tells("path-mtu-differs", problem, "from the server fails",
	      [](fake::end &c, fake::end &) { c.attr.path_mtu = IBV_MTU_256; });
	tells("psn-differs", problem,
	      "client to server: sends from 0x222222, expected from 0x333333",
	      [](fake::end &, fake::end &s) { s.attr.rq_psn = 0x333333; });
	tells("psn-differs", problem, "server to client",
	      [](fake::end &c, fake::end &) { c.attr.rq_psn = 5; });
	tells("qp-number-differs", problem, "the client sends to QP 99, and its peer's is 18",
	      [](fake::end &c, fake::end &) { c.attr.dest_qp_num = 99; });
	tells("read-depth-exceeds", warning,
	      "may send 16 READs at a time, the server answers 8: READ "
	      "number 9",
	      [](fake::end &, fake::end &s) { s.attr.max_dest_rd_atomic = 8; });
	tells("read-depth-exceeds", warning, "the server may send 32",
	      [](fake::end &, fake::end &s) { s.attr.max_rd_atomic = 32; });
	tells("read-not-allowed", warning, "the client may READ, and the server's access flags",
	      [](fake::end &, fake::end &s) { s.attr.qp_access_flags = 2; });
	tells("traffic-class-one-way", warning,
	      "data from the server travels in the best-effort class",
	      [](fake::end &, fake::end &s) { s.attr.ah_attr.grh.traffic_class = 0; });
	tells("traffic-class-differs", warning, "queued apart",
	      [](fake::end &, fake::end &s) { s.attr.ah_attr.grh.traffic_class = 184; });
	tells("flow-label-differs", note, "different ways",
	      [](fake::end &, fake::end &s) { s.attr.ah_attr.grh.flow_label = 1; });
	tells("service-level-differs", warning, "priorities",
	      [](fake::end &, fake::end &s) { s.attr.ah_attr.sl = 3; });
	tells("hop-limit-one-way", warning, "one direction",
	      [](fake::end &c, fake::end &) { c.attr.ah_attr.grh.hop_limit = 1; });
	tells("pkey-index-differs", note, "two tables",
	      [](fake::end &c, fake::end &) { c.attr.pkey_index = 1; });
	tells("grh-differs", problem, "without",
	      [](fake::end &c, fake::end &) { c.attr.ah_attr.is_global = 0; });
}

TEST_CASE("compare: retries against the peer's timer", "[compare]")
{
	tells("rnr-timer-655ms", note,
	      "the client waits 655.36 ms for each message that finds no "
	      "receive at the server, for ever",
	      [](fake::end &, fake::end &s) { s.attr.min_rnr_timer = 0; });
	tells("rnr-timer-655ms", note, "the server waits 655.36 ms",
	      [](fake::end &c, fake::end &) { c.attr.min_rnr_timer = 0; });
	tells("rnr-retries-short", warning,
	      "the client tries 6 times after 0.64 ms, the server's min_rnr_timer: if no receive "
	      "is "
	      "posted for 3.84 ms",
	      [](fake::end &c, fake::end &) { c.attr.rnr_retry = 6; });
	tells("rnr-retries-short", warning, "the server has rnr_retry 0",
	      [](fake::end &, fake::end &s) { s.attr.rnr_retry = 0; });
	const comparison long_enough = compared([](fake::end &c, fake::end &s) {
		c.attr.rnr_retry = 6;
		s.attr.min_rnr_timer = 18; // 5.12 ms
	});
	CHECK(ids_of(long_enough).empty());
	CHECK(fits(long_enough, "client's RNR retries last 30.7 ms"));
	CHECK(fits(long_enough, "server waits for the client's receives, 0.64 ms each"));
}

TEST_CASE("compare: the time to notice a dead peer", "[compare]")
{
	tells("dead-peer-differs", warning, "the client notices a dead peer after 8.59 s to 34.4 s",
	      [](fake::end &c, fake::end &) { c.attr.timeout = 18; });
	tells("dead-peer-differs", note, "after 4.29 s to 17.2 s",
	      [](fake::end &c, fake::end &) { c.attr.timeout = 17; });
	tells("dead-peer-differs", warning, "for ever",
	      [](fake::end &c, fake::end &) { c.attr.timeout = 0; });
	tells("dead-peer-differs", warning, "(overridden by rule 3)",
	      [](fake::end &c, fake::end &) {
		      c.attr.timeout = 20;
		      c.overrides = {{{"rule", 3},
				      {"attribute", "timeout"},
				      {"before", 16},
				      {"after", 20}}};
	      });
}

TEST_CASE("compare: GIDs", "[compare]")
{
	tells("gid-family-differs", problem, "to a GID of link-local",
	      [](fake::end &c, fake::end &s) {
		      fake::set_gid(c.attr, "fe80::2");
		      s.src = std::nullopt; // else the address differs too
	      });
	tells("gid-not-peers-address", note,
	      "the client sends to ::ffff:192.168.0.9, and its peer is "
	      "bound to 10.0.0.2",
	      [](fake::end &c, fake::end &) { fake::set_gid(c.attr, "::ffff:192.168.0.9"); });
	CHECK(fits(compared([](fake::end &c, fake::end &s) {
			   fake::set_gid(c.attr, "fd77::2");
			   fake::set_gid(s.attr, "fd77::1");
			   c.src = s.dst = "[fd77::1]:40000";
			   c.dst = s.src = "[fd77::2]:7174";
		   }),
		   "GIDs of IPv6"));
}

TEST_CASE("compare: a state that an end did not reach", "[compare]")
{
	tells("state-not-reached", warning, "the trace of the server has no answer for RTS",
	      [](fake::end &, fake::end &s) { s.fails = "RTS"; });
}

TEST_CASE("compare: ends that have nothing to compare do not fit", "[compare]")
{
	const auto [client, server] = fake::connection();
	both traces{{client}, {server}};
	traces.seconds[0].got = {};
	const pairing found = pair_ends(traces.firsts, traces.seconds);
	REQUIRE(found.pairs.size() == 1);
	CHECK(ids_of(compare(found.pairs[0])) == std::set<std::string>{"state-not-reached"});
	CHECK_FALSE(compare(found.pairs[0]).all_fit());
}

TEST_CASE("compare: a call that fails after the end is of the same connection", "[compare]")
{
	const auto [client, server] = fake::connection();
	fake::end late = client;
	late.fails = "INIT";
	std::string text = fake::trace_of({client});
	text += fake::call_of(late, "INIT", 0x39, IBV_QPS_INIT, 9).dump() + "\n";
	const trace from = parse_trace(text, "t");
	const std::vector<connection_end> ends = ends_of(from);
	REQUIRE(ends.size() == 1);
	CHECK(ends[0].calls.size() == 5);
}

TEST_CASE("compare: an id that is used again is another connection", "[compare]")
{
	fake::end client = fake::connection().first;
	client.src = client.dst = std::nullopt;
	client.qp_num = std::nullopt;
	const trace from = parse_trace(fake::trace_of({client, client}), "t");
	CHECK(ends_of(from).size() == 2);
}

TEST_CASE("compare: nobody is his own peer", "[compare]")
{
	fake::end lone = fake::connection().first;
	lone.attr.sq_psn = lone.attr.rq_psn;
	const both traces{{lone}, {}};
	CHECK(pair_ends(traces.firsts, {}).alone.size() == 1);
}

TEST_CASE("compare: two that look like one side are paired if their PSNs say so", "[compare]")
{
	auto [client, server] = fake::connection();
	server.active = true; // its first answer has no access flags either
	const both traces{{client}, {server}};
	CHECK(pair_ends(traces.firsts, traces.seconds).pairs.size() == 1);
}

TEST_CASE("compare: ends are found whatever the traces lack", "[compare]")
{
	// A QP of the program's own, translated addresses: the PSNs tell.
	const comparison translated = compared([](fake::end &c, fake::end &s) {
		c.qp_num = s.qp_num = std::nullopt;
		c.dst = "203.0.113.1:7174";
		s.dst = "203.0.113.9:1024";
	});
	CHECK(translated.all_fit());
	CHECK(fits(translated, "PSNs"));
	CHECK_FALSE(fits(translated, "QP numbers"));
	// No addresses and no RTS.
	(void)compared([](fake::end &c, fake::end &s) {
		c.src = c.dst = s.src = s.dst = std::nullopt;
		c.fails = "RTS";
	});
	// One end after the other in the order of the command line, sides not swapped.
	const auto [client, server] = fake::connection();
	const both traces{{server}, {client}};
	const pairing found = pair_ends(traces.firsts, traces.seconds);
	REQUIRE(found.pairs.size() == 1);
	CHECK(found.pairs[0].client->pid == client.pid);
	CHECK(found.alone.empty());
}

TEST_CASE("compare: many connections in one trace, each with its own", "[compare]")
{
	std::vector<fake::end> ends;
	for (unsigned i = 0; i < 50; ++i) {
		auto [client, server] = fake::connection();
		client.id = fmt::format("{:#x}", 0x1000 + i);
		server.id = fmt::format("{:#x}", 0x2000 + i);
		client.src = server.dst = fmt::format("10.0.0.1:{}", 40000 + i);
		client.attr.sq_psn = server.attr.rq_psn = 100 + i;
		server.attr.sq_psn = client.attr.rq_psn = 1000 + i;
		client.qp_num = server.attr.dest_qp_num = 2 * i + 17;
		server.qp_num = client.attr.dest_qp_num = 2 * i + 18;
		ends.insert(ends.begin() + (i % 2 ? 0 : static_cast<long>(ends.size())), client);
		ends.push_back(server);
	}
	fake::end stray = fake::connection().first;
	stray.id = "0x9000";
	stray.src = "10.0.0.77:1";
	stray.attr.sq_psn = 77;
	stray.attr.rq_psn = 78;
	ends.push_back(stray);
	const both traces{ends, {}};
	const pairing found = pair_ends(traces.firsts, {});
	CHECK(found.pairs.size() == 50);
	for (const end_pair &pair : found.pairs)
		CHECK(compare(pair).all_fit());
	REQUIRE(found.alone.size() == 1);
	CHECK(found.alone[0]->id == "0x9000");

	const page out = compare_page(found, "t", "t");
	CHECK(out.data["fits"] == true);
	CHECK(out.data["connections"].size() == 50);
	CHECK(out.data["alone"].size() == 1);
	CHECK(out.sections.size() == 3); // the head, one for all that are alike, the stray
	CHECK(out.sections[1].facts.back().text == "2 to 50");
}

TEST_CASE("compare: the same addresses again are told apart by the PSNs", "[compare]")
{
	auto [client, server] = fake::connection();
	auto [later, answer] = fake::connection();
	later.time_ns = answer.time_ns = 1'000'000;
	later.id = "0x1001";
	answer.id = "0x2001";
	later.attr.sq_psn = answer.attr.rq_psn = 7;
	later.attr.rq_psn = answer.attr.sq_psn = 8;
	const both traces{{client, later}, {answer, server}};
	const pairing found = pair_ends(traces.firsts, traces.seconds);
	REQUIRE(found.pairs.size() == 2);
	for (const end_pair &pair : found.pairs)
		CHECK(compare(pair).all_fit());
}

TEST_CASE("compare: datagrams are paired by their addresses", "[compare]")
{
	auto [client, server] = fake::connection();
	client.datagram = server.datagram = true;
	client.attr.qkey = server.attr.qkey = 0x01234567;
	const both traces{{client}, {server}};
	const pairing found = pair_ends(traces.firsts, traces.seconds);
	REQUIRE(found.pairs.size() == 1);
	CHECK(compare(found.pairs[0]).all_fit());
	server.attr.qkey = 1;
	const both others{{client}, {server}};
	CHECK(ids_of(compare(pair_ends(others.firsts, others.seconds).pairs.at(0))) ==
	      std::set<std::string>{"qkey-differs"});
}

TEST_CASE("compare: strangers are not paired", "[compare]")
{
	auto [client, server] = fake::connection();
	server.src = "10.9.9.9:1";
	server.dst = "10.9.9.8:2";
	server.attr.rq_psn = 1;
	server.attr.sq_psn = 2;
	// Their QP numbers happen to be each other's, as small numbers are.
	const both traces{{client}, {server}};
	const pairing found = pair_ends(traces.firsts, traces.seconds);
	CHECK(found.pairs.empty());
	CHECK(found.alone.size() == 2);
	const page out = compare_page(found, "a", "b");
	CHECK(out.data["fits"] == false);
	// Nor are two of the same side.
	fake::end other = fake::connection().first;
	other.attr.rq_psn = 3;
	other.attr.sq_psn = 4;
	std::swap(other.src, other.dst);
	const both same{{client}, {other}};
	CHECK(pair_ends(same.firsts, same.seconds).pairs.empty());
}
