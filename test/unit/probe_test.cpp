// SPDX-License-Identifier: MIT
// What probes say to each other, where they look, and what they show: without a device.
#include "tools/qpattr/probe/message.hpp"

#include <netinet/in.h>

#include <nlohmann/json.hpp>

#include "test/support/catch.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/probe/plan.hpp"
#include "tools/qpattr/probe/record.hpp"
#include "tools/qpattr/probe/report.hpp"

using namespace qpattr::tool;
using namespace qpattr::tool::probe;

namespace {

std::string what_of(const std::function<void()> &act, int &status)
{
	try {
		act();
	} catch (const failure &why) {
		status = why.status;
		return why.what();
	}
	status = 0;
	return "";
}

answer answered(ibv_qp_state state, int mask)
{
	answer out;
	out.asked = state;
	out.time_ns = 1796000000000000000;
	out.duration_ns = 5000;
	out.got.mask = mask;
	out.got.attr.qp_state = state;
	return out;
}

// A connection whose ends fit, of which one thing is changed.
struct connection {
	answer client[3] = {answered(IBV_QPS_INIT, 0x39), answered(IBV_QPS_RTR, 0x129181),
			    answered(IBV_QPS_RTS, 0x12e01)};
	answer server[3] = {client[0], client[1], client[2]};

	connection()
	{
		for (answer *end : {client, server}) {
			end[0].got.attr.qp_access_flags = 0xe;
			end[1].got.attr.path_mtu = IBV_MTU_1024;
			end[1].got.attr.max_dest_rd_atomic = 4;
			end[2].got.attr.max_rd_atomic = 4;
		}
		client[1].got.attr.rq_psn = server[2].got.attr.sq_psn = 11;
		server[1].got.attr.rq_psn = client[2].got.attr.sq_psn = 22;
		client[1].got.attr.dest_qp_num = 18;
		server[1].got.attr.dest_qp_num = 17;
	}
	[[nodiscard]] report made() const
	{
		report out;
		out.from = "10.0.0.1:1";
		out.to = "10.0.0.2:2";
		end_facts facts{"client", "0x1", "rxe0", 1, false, 17, out.from, out.to};
		out.client = records_of(facts, {client, client + 3});
		facts.end = "server";
		facts.id = "0x2";
		facts.qp_num = 18;
		std::swap(facts.src, facts.dst);
		out.server = records_of(facts, {server, server + 3});
		return out;
	}
	// The rows of the tables that are marked.
	[[nodiscard]] std::string marked() const
	{
		const std::string text = whole_text(made(), terminal{-1});
		std::string out;
		std::size_t begin = 0;
		for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
			const std::string line = text.substr(begin, end - begin);
			if (line.rfind("  ", 0) == 0 && line.find(" ! ") != std::string::npos)
				out += line.substr(2, line.find(' ', 2) - 2) + ' ';
		}
		return out;
	}
};

} // namespace

TEST_CASE("probe: a greeting comes as it was packed, and nothing else is one")
{
	const auto hello = packed({greeting_kind::busy, 0x1234});
	const auto read = greeting_in(hello);
	REQUIRE(read);
	CHECK(read->kind == greeting_kind::busy);
	CHECK(read->version == 0x1234);
	// With the zeros that the connection manager adds.
	std::array<std::byte, 56> padded{};
	std::copy(hello.begin(), hello.end(), padded.begin());
	CHECK(greeting_in(padded));
	for (std::size_t len = 0; len < hello.size(); ++len)
		CHECK_FALSE(greeting_in(std::span{hello}.first(len)));
	padded[5] = std::byte{'!'};
	CHECK_FALSE(greeting_in(padded));
}

TEST_CASE("probe: a message comes as it was packed, and nothing else is one")
{
	message sent;
	sent.type = message_type::exchange;
	sent.is_answer = true;
	sent.sequence = 0x01020304;
	sent.index = 3;
	sent.count = 7;
	sent.piece = "some text";
	std::array<std::byte, 64> bytes;
	const std::size_t len = pack(sent, bytes);
	CHECK(len == message_header_bytes + 9);
	const auto whole = std::span{bytes}.first(len);
	const auto got = message_in(whole);
	REQUIRE(got);
	CHECK(got->type == sent.type);
	CHECK(got->is_answer);
	CHECK(got->sequence == sent.sequence);
	CHECK(got->index == 3);
	CHECK(got->count == 7);
	CHECK(got->piece == sent.piece);
	SECTION("a length that is not the message's")
	{
		for (std::size_t less = 0; less < len; ++less)
			CHECK_FALSE(message_in(whole.first(less)));
		CHECK_FALSE(message_in(std::span{bytes}.first(len + 1)));
	}
	SECTION("each byte of the head that matters")
	{
		for (const std::size_t at : std::initializer_list<std::size_t>{0, 3, 4, 12, 16, 19}) {
			auto other = bytes;
			other[at] ^= std::byte{0x40};
			CAPTURE(at);
			CHECK_FALSE(message_in(std::span{other}.first(len)));
		}
	}
}

TEST_CASE("probe: a text in pieces comes whole, in any order and twice")
{
	std::string text;
	for (int i = 0; i < 1000; ++i)
		text += static_cast<char>('a' + i % 26);
	const pieces cut{text, 236};
	REQUIRE(cut.count() == 5);
	CHECK(cut[4].size() == 1000 - 4 * 236);
	CHECK(cut[5].empty());
	CHECK(cut[60000].empty());
	gathered_text to;
	CHECK_FALSE(to.whole());
	const auto take = [&](std::uint16_t index, std::uint16_t count) {
		message of;
		of.index = index;
		of.count = count;
		of.piece = cut[index];
		to.take(of);
	};
	for (const std::uint16_t each : std::initializer_list<std::uint16_t>{4, 0, 0, 2, 1})
		take(each, 5);
	CHECK_FALSE(to.whole());
	take(5, 5);   // beyond
	take(3, 6);   // of another text
	CHECK_FALSE(to.whole());
	take(3, 5);
	CHECK(to.whole());
	CHECK(to.text() == text);
	const pieces none{"", 236};
	CHECK(none.count() == 0);
}

TEST_CASE("probe: where to")
{
	CHECK(parse_place("10.0.0.1", false).text == "10.0.0.1:7728");
	CHECK(parse_place("10.0.0.1:4420", false).text == "10.0.0.1:4420");
	CHECK(parse_place("fd77::1", false).text == "[fd77::1]:7728");
	CHECK(parse_place("[fd77::1]", false).text == "[fd77::1]:7728");
	CHECK(parse_place("[fd77::1]:9", false).text == "[fd77::1]:9");
	CHECK(parse_place("fe80::1%lo", false).text == "[fe80::1%1]:7728");
	CHECK(parse_place("", true).text == "[::]:7728");
	CHECK(parse_place(":65535", true).text == "[::]:65535");
	CHECK(parse_place("*:5", true).text == "[::]:5");
	for (const char *wrong : {"", ":5", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:5x", "10.0.0.1:-5",
				  "[fd77::1", "[fd77::1]5", "no.such.name.invalid"}) {
		CAPTURE(wrong);
		int status = 0;
		const std::string why = what_of([&] { static_cast<void>(parse_place(wrong, false)); }, status);
		CHECK(status == usage_status);
		CHECK_FALSE(why.empty());
	}
	CHECK(text_of(nullptr).empty());
}

TEST_CASE("probe: records of another probe are looked at before they are shown")
{
	const report good = connection{}.made();
	CHECK(checked_records(good.client, "there") == good.client);
	int status = 0;
	for (const std::string bad : {"{", "{\"qpattr\":1}", "{\"qpattr\":2,\"type\":\"call\"}\n", "17\n"}) {
		CAPTURE(bad);
		const std::string why =
			what_of([&] { static_cast<void>(checked_records(good.client + bad, "there")); }, status);
		CHECK(status == failed_status);
		CHECK(why.find("the probe at there sent what is no record") == 0);
	}
	// What would move the cursor comes out as text.
	const std::string escaped =
		checked_records("{\"qpattr\":1,\"type\":\"notice\",\"time_ns\":1,\"pid\":1,\"text\":\"\\u001b[2J\"}",
				"there");
	CHECK(escaped.find('\x1b') == std::string::npos);
}

TEST_CASE("probe: the tables mark what does not fit")
{
	connection of;
	CHECK(of.marked().empty());
	SECTION("the path MTU")
	{
		of.server[1].got.attr.path_mtu = IBV_MTU_4096;
		CHECK(of.marked() == "path_mtu ");
	}
	SECTION("the traffic class")
	{
		of.client[1].got.attr.ah_attr.grh.traffic_class = 104;
		CHECK(of.marked() == "ah_attr.grh.traffic_class ");
	}
	SECTION("a PSN")
	{
		of.client[2].got.attr.sq_psn = 23;
		CHECK(of.marked() == "rq_psn sq_psn ");
	}
	SECTION("a read depth that is too much")
	{
		of.client[2].got.attr.max_rd_atomic = 5;
		CHECK(of.marked() == "max_rd_atomic ");
		of.client[2].got.attr.max_rd_atomic = 3;
		CHECK(of.marked().empty());
	}
	SECTION("what is each end's own")
	{
		of.client[2].got.attr.timeout = 14;
		of.client[0].got.attr.port_num = 2;
		CHECK(of.marked().empty());
	}
}

TEST_CASE("probe: the tables have each attribute once, with both values")
{
	connection of;
	of.client[2].got.attr.timeout = 14;
	of.server[2].got.attr.timeout = 19;
	const std::string text = whole_text(of.made(), terminal{-1});
	CAPTURE(text);
	CHECK(text.find("RTS  mask 0x12e01\n") != std::string::npos);
	CHECK(text.find("  timeout        14         19        67.1 ms; 2.15 s\n") != std::string::npos);
	CHECK(text.find("client      RC QP 17 on rxe0 port 1\n") != std::string::npos);
	CHECK(text.find("server      RC QP 18 on rxe0 port 1\n") != std::string::npos);
	// An address's zeros say nothing; a timer's do.
	CHECK(text.find("dlid") == std::string::npos);
	CHECK(text.find("  min_rnr_timer ") != std::string::npos);
}

TEST_CASE("probe: what is unwise at an end is not said again between the ends")
{
	const auto said = [](const connection &of) {
		const std::string text = whole_text(of.made(), terminal{-1});
		std::size_t count = 0;
		for (std::size_t at = 0; (at = text.find("[rnr-timer-655ms]", at)) != std::string::npos; ++at)
			++count;
		return count;
	};
	connection of;
	of.client[2].got.attr.rnr_retry = of.server[2].got.attr.rnr_retry = 7;
	of.client[1].got.attr.min_rnr_timer = of.server[1].got.attr.min_rnr_timer = 12;
	CHECK(said(of) == 0);
	of.client[1].got.attr.min_rnr_timer = of.server[1].got.attr.min_rnr_timer = 0;
	CHECK(said(of) == 1);
}

TEST_CASE("probe: a failed answer is a record too")
{
	end_facts facts{"client", "0x1", "", 0, true, 0, "", ""};
	answer failed = answered(IBV_QPS_RTR, 0);
	failed.why = {EINVAL, "rdma_init_qp_attr"};
	const std::string lines = records_of(facts, {failed});
	const auto call = nlohmann::json::parse(lines.substr(lines.find('\n') + 1));
	CHECK(call["result"] == -1);
	CHECK(call["errno"] == "EINVAL");
	CHECK(call["errno_number"] == EINVAL);
	CHECK(call["attributes"].empty());
	CHECK(call["device"].is_null());
	CHECK(call["src"].is_null());
	CHECK(call["port_space"] == "UDP");
}
