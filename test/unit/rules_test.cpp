// SPDX-License-Identifier: MIT
// QPATTR_OVERRIDE: how it is read, which connections a rule is for, what it does to an
// answer. The limits of a device are asked of libibverbs, which is not loaded here.
#include "lib/preload/rules.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "lib/preload/overrides.hpp"
#include "lib/preload/process.hpp"
#include "test/support/catch.hpp"

using namespace qpattr;
using namespace qpattr::preload;

namespace {

// The whole as it was understood, a rule a line, or the message.
std::string read(const std::string &text)
{
	static rules all;
	attr::text_of<448> why;
	if (!all.parse(text, why)) {
		CHECK(all.size() == 0);
		CHECK_FALSE(why.truncated());
		return why.c_str();
	}
	std::string out;
	for (std::size_t i = 0; i < all.size(); ++i) {
		const rule &one = all[i];
		for (const auto &[net, name] :
		     {std::pair{one.dst, "dst "}, std::pair{one.src, "src "}}) {
			char line[INET6_ADDRSTRLEN];
			if (net.given)
				out += name +
				       std::string{::inet_ntop(AF_INET6, net.address, line,
							       sizeof line)} +
				       "/" + std::to_string(net.bits) + " ";
		}
		if (one.port)
			out += "port " + std::to_string(one.port) + " ";
		if (one.port_space)
			out += "ps " + std::to_string(one.port_space) + " ";
		if (one.qp_type)
			out += "type " + std::to_string(one.qp_type) + " ";
		if (one.device[0])
			out += std::string{"dev "} + one.device + " ";
		out += ":";
		for (std::size_t k = one.first; k < one.first + std::size_t{one.count}; ++k)
			out += std::string{" "} + all.setting(k).what->name + " " +
			       std::to_string(all.setting(k).number);
		out += "\n";
	}
	return out;
}

endpoint end_of(const std::string &address, std::uint16_t port = 0)
{
	endpoint end;
	end.port = port;
	if (::inet_pton(AF_INET, address.c_str(), end.address) == 1)
		end.kind = endpoint::family::ipv4;
	else if (::inet_pton(AF_INET6, address.c_str(), end.address) == 1)
		end.kind = endpoint::family::ipv6;
	return end;
}

connection to(const std::string &dst, std::uint16_t port = 7174)
{
	connection which;
	std::strcpy(which.device, "rxe0");
	which.port_space = 0x0106;
	which.qp_type = IBV_QPT_RC;
	which.port = 1;
	which.src = end_of("10.77.0.1", 40000);
	which.dst = end_of(dst, port);
	return which;
}

bool fits(const std::string &match, const connection &which)
{
	static rules all;
	attr::text_of<448> why;
	const std::string text = match + ":timeout=14";
	REQUIRE(all.parse(text, why));
	return matches(all[0], which);
}

constexpr std::uint32_t mask_rtr = 0x129181, mask_rts = 0x12e01;

} // namespace

TEST_CASE("rules: what is well formed", "[rules]")
{
	const std::vector<std::pair<std::string, std::string>> all = {
		{"*:timeout=14", ": timeout 14\n"},
		{":timeout=14", ": timeout 14\n"},
		{"timeout=14", ": timeout 14\n"},
		{"timeout=14,retry_cnt=3", ": timeout 14 retry_cnt 3\n"},
		{" dst=10.0.0.0/8 , port=7174 : timeout = 14 , retry_cnt = 3 ; ; ",
		 "dst ::ffff:10.0.0.0/104 port 7174 : timeout 14 retry_cnt 3\n"},
		{"dst=10.1.2.3:timeout=14", "dst ::ffff:10.1.2.3/128 : timeout 14\n"},
		{"src=fd00::/8:timeout=14", "src fd00::/8 : timeout 14\n"},
		{"dst=fd00::1:timeout=14", "dst fd00::1/128 : timeout 14\n"},
		{"dst=fd00::abcd:timeout=14", "dst fd00::abcd/128 : timeout 14\n"},
		{"dst=::,port=1:timeout=14", "dst ::/128 port 1 : timeout 14\n"},
		{"dst=::/0:traffic_class=dscp:46,timeout=14",
		 "dst ::/0 : ah_attr.grh.traffic_class 184 timeout 14\n"},
		{"dst=0.0.0.0/0:timeout=14", "dst ::ffff:0.0.0.0/96 : timeout 14\n"},
		{"ps=tcp:timeout=14", "ps 262 : timeout 14\n"},
		{"ps=UDP:qkey=1", "ps 273 : qkey 1\n"},
		{"ps=ib:qkey=1;ps=ipoib:qkey=1", "ps 319 : qkey 1\nps 2 : qkey 1\n"},
		{"qp_type=xrc_ini:timeout=14", "type 9 : timeout 14\n"},
		{"qp_type=xrc_tgt:timeout=14;qp_type=uc:timeout=14;qp_type=ud:qkey=1;qp_type=rc:sl="
		 "1",
		 "type 10 : timeout 14\ntype 3 : timeout 14\ntype 4 : qkey 1\ntype 2 : ah_attr.sl "
		 "1\n"},
		{"dev=mlx5_0,src=10.0.0.1:ah_attr.grh.hop_limit=64",
		 "src ::ffff:10.0.0.1/128 dev mlx5_0 : ah_attr.grh.hop_limit 64\n"},
		{"*:timeout=4 min 35 s", ": timeout 26\n"},
	};
	for (const auto &[text, wanted] : all)
		CHECK(read(text) == wanted);
}

TEST_CASE("rules: what is malformed is said, and nothing of it kept", "[rules]")
{
	const std::string match = ": a match is made of dst=, src=, port=, ps=, dev= and qp_type=, "
				  "with commas between, or is empty or *";
	const std::vector<std::pair<std::string, std::string>> all = {
		{"", "there is no rule in it: write MATCH:ATTRIBUTE=VALUE"},
		{" ; ", "there is no rule in it: write MATCH:ATTRIBUTE=VALUE"},
		{"foo", "rule 1: 'foo' sets nothing: write MATCH:ATTRIBUTE=VALUE"},
		{"dst=10.0.0.0/8:",
		 "rule 1: 'dst=10.0.0.0/8:' sets nothing: write MATCH:ATTRIBUTE=VALUE"},
		{"dst=10.0.0.0/8",
		 "rule 1: 'dst=10.0.0.0/8' sets nothing: write MATCH:ATTRIBUTE=VALUE"},
		{"*:timeout=14;*:timeout=99",
		 "rule 2: timeout=99: write a code, 0 to 31, or a time with its unit: 67.1ms, 2s, "
		 "forever"},
		{"*:timout=14", "rule 1: unknown attribute 'timout': did you mean timeout?"},
		{"*:timeout=14,foo", "rule 1: 'foo': write ATTRIBUTE=VALUE"},
		{"*:timeout=14,timeout=15", "rule 1: timeout is set twice"},
		{"foo:timeout=14", "rule 1: 'foo'" + match},
		{"host=1:timeout=14", "rule 1: 'host=1'" + match},
		{"port=1,:timeout=14,port=2",
		 "rule 1: unknown attribute 'port': write a name as the "
		 "trace has it, such as timeout or "
		 "ah_attr.grh.hop_limit"},
		{"dst=host:timeout=14",
		 "rule 1: 'dst=host': write an address or a network, such as "
		 "10.0.0.0/8 or fd00::/8"},
		{"dst=10.0.0.0/33:timeout=14", "rule 1: 'dst=10.0.0.0/33': write an address or a "
					       "network, such as 10.0.0.0/8 or fd00::/8"},
		{"dst=fd00::/129:timeout=14", "rule 1: 'dst=fd00::/129': write an address or a "
					      "network, such as 10.0.0.0/8 or fd00::/8"},
		{"dst=10.0.0.1,dst=10.0.0.2:timeout=14",
		 "rule 1: 'dst=10.0.0.2': there is one before it already; write a rule for each"},
		{"port=0:timeout=14", "rule 1: 'port=0': write a number, 1 to 65535"},
		{"port=65536:timeout=14", "rule 1: 'port=65536': write a number, 1 to 65535"},
		{"ps=rc:timeout=14", "rule 1: 'ps=rc': write tcp, udp, ib or ipoib"},
		{"qp_type=tcp:timeout=14",
		 "rule 1: 'qp_type=tcp': write rc, ud, uc, xrc_ini or xrc_tgt"},
		{"dev=:timeout=14", "rule 1: 'dev=': write the name of a device, such as mlx5_0"},
		{"dev=\"\n:timeout=14",
		 "rule 1: 'dev=\"?': write the name of a device, such as mlx5_0"},
		{"dev=" + std::string(64, 'x') + ":timeout=14",
		 "rule 1: 'dev=" + std::string(44, 'x') +
			 "...': write the name of a device, such as mlx5_0"},
		{std::string(4096, ';'), "it is longer than 4095 bytes: write fewer rules"},
	};
	for (const auto &[text, wanted] : all)
		CHECK(read(text) == wanted);
	std::string many;
	for (int i = 0; i < 64; ++i)
		many += "sl=1;";
	CHECK(read(many).substr(0, 16) == ": ah_attr.sl 1\n:");
	CHECK(read(many + "sl=1") == "rule 65: there may be 64 rules at most");
	many.clear();
	for (int i = 0; i < 52; ++i)
		many += "sl=1,dlid=1,qkey=1,timeout=1,retry_cnt=1;";
	CHECK(read(many) == "rule 52: there may be 256 settings at most");
}

TEST_CASE("rules: which connections", "[rules]")
{
	const connection v4 = to("10.1.2.3"), v6 = to("fd77::1"), none = to("");
	CHECK(fits("*", v4));
	CHECK(fits("*", none));
	CHECK(fits("dst=10.0.0.0/8", v4));
	CHECK(fits("dst=10.1.2.3", v4));
	CHECK(fits("dst=10.1.2.2/31", v4));
	CHECK_FALSE(fits("dst=10.1.2.4/31", v4));
	CHECK_FALSE(fits("dst=11.0.0.0/8", v4));
	CHECK_FALSE(fits("dst=10.1.2.4", v4));
	CHECK(fits("dst=0.0.0.0/0", v4));
	CHECK_FALSE(fits("dst=0.0.0.0/0", v6));
	CHECK(fits("dst=fd00::/8", v6));
	CHECK(fits("dst=fd77::/127", v6));
	CHECK_FALSE(fits("dst=fd77::/128", v6));
	CHECK_FALSE(fits("dst=fd00::/8", v4));
	CHECK(fits("dst=10.0.0.0/8", to("::ffff:10.1.2.3")));
	CHECK_FALSE(fits("dst=::/0", none)); // no address yet
	CHECK(fits("src=10.77.0.1", v4));
	CHECK_FALSE(fits("src=10.1.2.3", v4));
	CHECK(fits("port=7174", v4));
	CHECK(fits("port=40000", v4)); // the other end's
	CHECK_FALSE(fits("port=7175", v4));
	CHECK(fits("ps=tcp", v4));
	CHECK_FALSE(fits("ps=ib", v4));
	CHECK(fits("qp_type=rc", v4));
	CHECK_FALSE(fits("qp_type=ud", v4));
	CHECK(fits("dev=rxe0", v4));
	CHECK_FALSE(fits("dev=rxe", v4));
	CHECK(fits("dst=10.0.0.0/8,port=7174,ps=tcp,dev=rxe0,qp_type=rc,src=10.77.0.0/16", v4));
	CHECK_FALSE(
		fits("dst=10.0.0.0/8,port=7174,ps=tcp,dev=rxe0,qp_type=rc,src=10.78.0.0/16", v4));
}

TEST_CASE("overrides: of the mask only, and the last rule that fits", "[rules]")
{
	static rules all;
	attr::text_of<448> why;
	static const std::string text = "*:timeout=1,retry_cnt=1,min_rnr_timer=12;"
					"dst=10.0.0.0/8:timeout=2;dst=11.0.0.0/8:timeout=3;"
					"port=7174:retry_cnt=5,max_rd_atomic=9";
	REQUIRE(all.parse(text, why));
	REQUIRE(start_process(true));
	ibv_qp_attr attr{};
	attr.timeout = 19;
	attr.min_rnr_timer = 7;
	attr.rnr_retry = 6;
	const ibv_qp_attr before = attr;
	changes made;
	apply(all, to("10.1.2.3"), IBV_QPS_RTS, mask_rts, &attr, made);
	CHECK(made.matched == 0b1011);
	CHECK(attr.timeout == 2);
	CHECK(attr.retry_cnt == 5);
	CHECK(attr.max_rd_atomic == 9);
	CHECK(attr.min_rnr_timer == 7); // not of this transition
	CHECK(attr.rnr_retry == 6);	// of no rule
	REQUIRE(made.count == 3);	// in the order of the fields
	CHECK(std::string{made.list[0].what->name} == "max_rd_atomic");
	CHECK(made.list[0].rule == 3);
	CHECK(made.list[0].limit.how == verdict::kind::unknown);
	CHECK(std::string{made.list[1].what->name} == "timeout");
	CHECK(made.list[1].rule == 1);
	CHECK(made.list[1].before == 19);
	CHECK(made.list[1].after == 2);
	CHECK(made.list[1].limit.how == verdict::kind::fits);
	CHECK(made.list[2].rule == 3);

	SECTION("nothing after a failure, nor for another connection")
	{
		attr = before;
		changes none;
		apply(all, to("10.1.2.3"), IBV_QPS_RTS, 0, nullptr, none);
		CHECK(none.count == 0);
		CHECK(none.matched == 0b1011);
		static rules other;
		static const std::string elsewhere = "dst=1.2.3.4:timeout=2";
		REQUIRE(other.parse(elsewhere, why));
		changes nothing;
		apply(other, to("10.1.2.3"), IBV_QPS_RTS, mask_rts, &attr, nothing);
		CHECK(nothing.matched == 0);
		CHECK(nothing.count == 0);
		CHECK(attr::equal_fields(attr, before));
	}
	SECTION("fields outside the mask are never touched, whatever is asked for")
	{
		static rules everything;
		static std::string each;
		each.clear();
		std::size_t settable = 0;
		for (const attr::attribute &what : attr::attributes)
			if (!attr::why_not_settable(what)) {
				each += (each.empty() ? "" : ",") + std::string{what.name} + "=2";
				++settable;
			}
		CHECK(settable <= changes::changes_max);
		REQUIRE(everything.parse(each, why));
		for (const std::uint32_t mask : {0x39U, 0x71U, mask_rtr, mask_rts, 0U, ~0U}) {
			ibv_qp_attr filled;
			std::memset(&filled, 0x55, sizeof filled);
			const ibv_qp_attr was = filled;
			changes out;
			apply(everything, to("10.1.2.3"), IBV_QPS_RTR, mask, &filled, out);
			for (const attr::attribute &what : attr::attributes) {
				INFO(what.name);
				if (!attr::in_mask(what, mask) || attr::why_not_settable(what))
					CHECK(attr::equal_field(what, filled, was));
				else
					CHECK(attr::value_number(what, filled) == 2);
			}
			if (mask == ~0U)
				CHECK(out.count == settable);
		}
	}
}

TEST_CASE("process: a fork child starts anew", "[rules]")
{
	REQUIRE(start_process(true));
	own->calls = 7;
	own->announced = announced;
	const buffer held; // by a thread that the child does not have
	REQUIRE(held);
	const char *const first = held.bytes();
	const pid_t child = ::fork();
	if (child == 0) {
		const buffer again;
		const bool anew = own->calls == 0 && own->announced == unannounced && again &&
				  again.bytes() == first;
		::_exit(anew ? 0 : 1);
	}
	int status = -1;
	REQUIRE(::waitpid(child, &status, 0) == child);
	CHECK(status == 0);
	CHECK(own->calls == 7);
	std::vector<std::unique_ptr<const buffer>> all;
	while (all.size() < 100)
		all.push_back(std::make_unique<const buffer>());
	std::set<const char *> different{first};
	for (const auto &one : all)
		if (*one)
			different.insert(one->bytes());
	CHECK(different.size() == 64);
	CHECK(std::count_if(all.begin(), all.end(), [](const auto &one) { return !!*one; }) == 63);
	all.clear();
	CHECK(buffer{});
}
