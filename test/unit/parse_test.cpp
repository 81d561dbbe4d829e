// SPDX-License-Identifier: MIT
// The literals are those of the InfiniBand Architecture Specification's tables, not
// computed.
#include "lib/attr/parse.hpp"

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/attr/origin.hpp"
#include "lib/attr/units.hpp"
#include "test/support/catch.hpp"

using namespace qpattr::attr;

namespace {

// What a setting becomes: "timeout 17 rounded", or the message.
std::string parsed(const std::string &name, const std::string &value)
{
	setting out;
	text_of<320> why;
	const bool held = parse_setting(name, value, out, why);
	CHECK_FALSE(why.truncated());
	CHECK(held == why.empty());
	if (!held) {
		CHECK(out.what == nullptr);
		return why.c_str();
	}
	return std::string{out.what->name} + " " + std::to_string(out.number) +
	       (out.rounded ? " rounded" : "");
}

} // namespace

TEST_CASE("parse: timeouts", "[parse]")
{
	CHECK(parsed("timeout", "0") == "timeout 0");
	CHECK(parsed("timeout", "14") == "timeout 14");
	CHECK(parsed("timeout", "0x1f") == "timeout 31");
	CHECK(parsed("timeout", "forever") == "timeout 0");
	CHECK(parsed("timeout", "500ms") == "timeout 17 rounded"); // 536.9 ms
	CHECK(parsed("timeout", "2s") == "timeout 19 rounded");	   // 2.147 s
	CHECK(parsed("timeout", "2.2s") == "timeout 20 rounded");
	CHECK(parsed("timeout", "4.096us") == "timeout 1 rounded");
	CHECK(parsed("timeout", "1ns") == "timeout 1 rounded");
	CHECK(parsed("timeout", "8.192us") == "timeout 1"); // to the nanosecond
	CHECK(parsed("timeout", "8.193us") == "timeout 2 rounded");
	CHECK(parsed("timeout", "16.384 \u00b5s") == "timeout 2");
	CHECK(parsed("timeout", "67.108864ms") == "timeout 14");
	CHECK(parsed("timeout", "2h") == "timeout 31 rounded");
	CHECK(parsed("timeout", "1h 12min") == "timeout 30 rounded"); // 73 min 18 s
	CHECK(parsed("timeout", "1.5min") == "timeout 25 rounded");   // 137 s
}

TEST_CASE("parse: what a timeout is printed as means its code", "[parse]")
{
	for (unsigned code = 1; code <= timeout_max; ++code) {
		text_of<64> printed;
		add_timeout(printed, code);
		CHECK(parsed("timeout", printed.c_str()) == "timeout " + std::to_string(code));
	}
	CHECK(parsed("timeout", "67.1ms") == "timeout 14");
	CHECK(parsed("timeout", "1.05ms") == "timeout 8"); // is 1.048576 ms
	CHECK(parsed("timeout", "2.15S") == "timeout 19");
	CHECK(parsed("timeout", "67.2ms") == "timeout 15 rounded");
}

TEST_CASE("parse: RNR timers", "[parse]")
{
	for (unsigned code = 0; code <= rnr_timer_max; ++code) {
		text_of<64> printed;
		add_rnr_timer(printed, code);
		CHECK(parsed("min_rnr_timer", printed.c_str()) ==
		      "min_rnr_timer " + std::to_string(code));
	}
	CHECK(parsed("min_rnr_timer", "0.64ms") == "min_rnr_timer 12");
	CHECK(parsed("min_rnr_timer", "640us") == "min_rnr_timer 12");
	CHECK(parsed("min_rnr_timer", "0.65ms") == "min_rnr_timer 13 rounded"); // 0.96 ms
	CHECK(parsed("min_rnr_timer", "0us") == "min_rnr_timer 1 rounded");
	CHECK(parsed("min_rnr_timer", "500ms") == "min_rnr_timer 0 rounded"); // 655.36 ms
	CHECK(parsed("min_rnr_timer", "1s") ==
	      "min_rnr_timer=1s: the longest RNR timer is 655.36ms (code 0)");
}

TEST_CASE("parse: sizes, classes, rates, counts, flags", "[parse]")
{
	const std::vector<std::tuple<std::string, std::string, std::string>> all = {
		{"path_mtu", "3", "path_mtu 3"},
		{"path_mtu", "1024", "path_mtu 3"},
		{"path_mtu", "1024B", "path_mtu 3"},
		{"path_mtu", "4096 bytes", "path_mtu 5"},
		{"path_mtu", "256", "path_mtu 1"},
		{"traffic_class", "184", "ah_attr.grh.traffic_class 184"},
		{"traffic_class", "dscp:46", "ah_attr.grh.traffic_class 184"},
		{"traffic_class", "DSCP:EF", "ah_attr.grh.traffic_class 184"},
		{"traffic_class", "ef", "ah_attr.grh.traffic_class 184"},
		{"traffic_class", "AF31", "ah_attr.grh.traffic_class 104"},
		{"traffic_class", "dscp:cs1", "ah_attr.grh.traffic_class 32"},
		{"traffic_class", "CS0", "ah_attr.grh.traffic_class 0"},
		{"traffic_class", "dscp:0x2e", "ah_attr.grh.traffic_class 184"},
		{"static_rate", "100Gb/s", "ah_attr.static_rate 16"},
		{"static_rate", "2.5 Gb/s", "ah_attr.static_rate 2"},
		{"static_rate", "400gbps", "ah_attr.static_rate 21"},
		{"static_rate", "port", "ah_attr.static_rate 0"},
		{"static_rate", "3", "ah_attr.static_rate 3"},
		{"rnr_retry", "7", "rnr_retry 7"},
		{"rnr_retry", "forever", "rnr_retry 7"},
		{"retry_cnt", "0", "retry_cnt 0"},
		{"qp_access_flags", "REMOTE_WRITE|REMOTE_READ", "qp_access_flags 6"},
		{"qp_access_flags", "remote_atomic+remote_read", "qp_access_flags 12"},
		{"qp_access_flags", "none", "qp_access_flags 0"},
		{"qp_access_flags", "0x30e", "qp_access_flags 782"},
		{"path_mig_state", "armed", "path_mig_state 2"},
		{"flow_label", "0xfffff", "ah_attr.grh.flow_label 1048575"},
		{"hop_limit", "64", "ah_attr.grh.hop_limit 64"},
		{"sgid_index", "3", "ah_attr.grh.sgid_index 3"},
		{"sl", "15", "ah_attr.sl 15"},
		{"dlid", "0xffff", "ah_attr.dlid 65535"},
		{"pkey_index", "1", "pkey_index 1"},
		{"qkey", "0x80000000", "qkey 2147483648"},
		{"max_rd_atomic", "255", "max_rd_atomic 255"},
		{"ah_attr.grh.traffic_class", "1", "ah_attr.grh.traffic_class 1"},
		{"AH_ATTR.SL", "1", "ah_attr.sl 1"},
		{"MIN_RNR_TIMER", "1", "min_rnr_timer 1"},
		{"alt_traffic_class", "EF", "alt_ah_attr.grh.traffic_class 184"},
		{"alt_timeout", "67.1ms", "alt_timeout 14"},
	};
	for (const auto &[name, value, wanted] : all)
		CHECK(parsed(name, value) == wanted);
}

TEST_CASE("parse: a line names the thing and the fix", "[parse]")
{
	const std::string time =
		"write a code, 0 to 31, or a time with its unit: 67.1ms, 2s, forever";
	const std::vector<std::tuple<std::string, std::string, std::string>> all = {
		{"timeout", "32", "timeout=32: " + time},
		{"timeout", "500", "timeout=500: " + time},
		{"timeout", "abc", "timeout=abc: " + time},
		{"timeout", "", "timeout=: " + time},
		{"timeout", "-1", "timeout=-1: " + time},
		{"timeout", "1.ms", "timeout=1.ms: " + time},
		{"timeout", ".5s", "timeout=.5s: " + time},
		{"timeout", "5msx", "timeout=5msx: " + time},
		{"timeout", "0x", "timeout=0x: " + time},
		{"timeout", "0ms",
		 "timeout=0ms: no timeout is so short: the shortest is 8.19us (code 1), and code 0 "
		 "waits for ever"},
		{"timeout", "3h",
		 "timeout=3h: the longest timeout is 2 h 27 min (code 31); code 0 waits for ever"},
		{"timeout", "999999999999999999h",
		 "timeout=999999999999999999h: the longest timeout is 2 h 27 min (code 31); code 0 "
		 "waits for ever"},
		{"timeout", "9999999999999999999h", "timeout=9999999999999999999h: " + time},
		{"timeout", "4294967310", "timeout=4294967310: " + time}, // 14 if cut to 32 bits
		{"path_mtu", "0",
		 "path_mtu=0: write a code, 1 to 5, or bytes: 256, 512, 1024, 2048 or 4096"},
		{"path_mtu", "6",
		 "path_mtu=6: write a code, 1 to 5, or bytes: 256, 512, 1024, 2048 or 4096"},
		{"path_mtu", "3B",
		 "path_mtu=3B: write a code, 1 to 5, or bytes: 256, 512, 1024, 2048 or 4096"},
		{"path_mtu", "1500",
		 "path_mtu=1500: write a code, 1 to 5, or bytes: 256, 512, 1024, 2048 or 4096"},
		{"traffic_class", "dscp:64",
		 "ah_attr.grh.traffic_class=dscp:64: write the whole field, 0 to 255, or a DSCP: "
		 "dscp:46, dscp:EF, AF31"},
		{"traffic_class", "256",
		 "ah_attr.grh.traffic_class=256: write the whole field, 0 to 255, or a DSCP: "
		 "dscp:46, "
		 "dscp:EF, AF31"},
		{"traffic_class", "AF50",
		 "ah_attr.grh.traffic_class=AF50: write the whole field, 0 to 255, or a DSCP: "
		 "dscp:46, dscp:EF, AF31"},
		{"static_rate", "1",
		 "ah_attr.static_rate=1: write a code of enum ibv_rate, 0 to 24, or a rate: "
		 "100Gb/s, "
		 "port"},
		{"static_rate", "99Gb/s",
		 "ah_attr.static_rate=99Gb/s: no such rate: 2.5, 5, 10, 14, 20, 25, 28, 30, 40, "
		 "50, "
		 "56, 60, 80, 100, 112, 120, 168, 200, 300, 400, 600, 800 or 1200Gb/s"},
		{"rnr_retry", "8", "rnr_retry=8: write a number, 0 to 7, where 7 is forever"},
		{"retry_cnt", "8", "retry_cnt=8: write a number, 0 to 7"},
		{"retry_cnt", "forever", "retry_cnt=forever: write a number, 0 to 7"},
		{"sl", "16", "ah_attr.sl=16: write a number, 0 to 15"},
		{"src_path_bits", "128", "ah_attr.src_path_bits=128: write a number, 0 to 127"},
		{"flow_label", "0x100000",
		 "ah_attr.grh.flow_label=0x100000: write a number, 0 to 1048575"},
		{"hop_limit", "256", "ah_attr.grh.hop_limit=256: write a number, 0 to 255"},
		{"pkey_index", "65536", "pkey_index=65536: write a number, 0 to 65535"},
		{"max_rd_atomic", "256", "max_rd_atomic=256: write a number, 0 to 255"},
		{"qp_access_flags", "REMOTE",
		 "qp_access_flags=REMOTE: write names joined by '|', REMOTE_WRITE|REMOTE_READ, or "
		 "none, or a number of bits that have names"},
		{"qp_access_flags", "REMOTE_READ|",
		 "qp_access_flags=REMOTE_READ|: write names joined by '|', "
		 "REMOTE_WRITE|REMOTE_READ, "
		 "or none, or a number of bits that have names"},
		{"qp_access_flags", "0x400",
		 "qp_access_flags=0x400: write names joined by '|', REMOTE_WRITE|REMOTE_READ, or "
		 "none, or a number of bits that have names"},
		{"timout", "1", "unknown attribute 'timout': did you mean timeout?"},
		{"trafic_class", "1",
		 "unknown attribute 'trafic_class': did you mean traffic_class?"},
		{"x", "1",
		 "unknown attribute 'x': write a name as the trace has it, such as timeout or "
		 "ah_attr.grh.hop_limit"},
		{"", "1",
		 "unknown attribute '': write a name as the trace has it, such as timeout or "
		 "ah_attr.grh.hop_limit"},
	};
	for (const auto &[name, value, wanted] : all)
		CHECK(parsed(name, value) == wanted);
	CHECK(parsed("timeout", std::string(100, 'x')) ==
	      "timeout=" + std::string(48, 'x') + "...: " + time);
	CHECK(parsed("timeout", "\n\x1b[0m") == "timeout=??[0m: " + time);
}

TEST_CASE("parse: what cannot be overridden is refused with a reason", "[parse]")
{
	// Every other one can be, with the value that it has anyway.
	const std::set<std::string> refused = {"qp_state",
					       "cur_qp_state",
					       "rq_psn",
					       "sq_psn",
					       "dest_qp_num",
					       "cap.max_send_wr",
					       "cap.max_recv_wr",
					       "cap.max_send_sge",
					       "cap.max_recv_sge",
					       "cap.max_inline_data",
					       "ah_attr.grh.dgid",
					       "ah_attr.is_global",
					       "ah_attr.port_num",
					       "alt_ah_attr.grh.dgid",
					       "alt_ah_attr.is_global",
					       "alt_ah_attr.port_num",
					       "en_sqd_async_notify",
					       "sq_draining",
					       "port_num",
					       "alt_port_num",
					       "rate_limit"};
	std::size_t settable = 0;
	for (const attribute &each : attributes) {
		const bool is_refused = why_not_settable(each) != nullptr;
		CHECK(is_refused == (refused.count(each.name) == 1));
		const std::string line = parsed(each.name, "1");
		if (is_refused)
			CHECK(line.find(std::string{each.name} + " cannot be overridden: ") == 0);
		else if (std::string{each.name}.find("static_rate") == std::string::npos)
			CHECK(line == std::string{each.name} + " 1");
		settable += !is_refused;
	}
	CHECK(settable == 29);
	CHECK(parsed("dgid", "::1") ==
	      "ah_attr.grh.dgid cannot be overridden: it is where the connection leads; to lead it "
	      "elsewhere, resolve another address");
	CHECK(parsed("sq_psn", "1") == "sq_psn cannot be overridden: the two ends have agreed on "
				       "it, and with another number "
				       "no packet is taken");
}

TEST_CASE("parse: a rounding is said", "[parse]")
{
	const auto said = [](const char *name, const char *value) {
		setting set;
		text_of<320> line;
		REQUIRE(parse_setting(name, value, set, line));
		add_setting(line, set, value);
		return std::string{line.c_str()};
	};
	CHECK(said("timeout", "500ms") == "timeout=500ms becomes 17, 537 ms");
	CHECK(said("retry_cnt", "3") == "retry_cnt=3 becomes 3, 3 retries");
	CHECK(said("sl", "3") == "ah_attr.sl=3 becomes 3");
}

TEST_CASE("parse: a number is stored in the width of its field and nowhere else", "[parse]")
{
	for (const attribute &each : attributes) {
		if (each.kind == unit::gid)
			continue;
		ibv_qp_attr before{}, after{};
		store_number(after, each, 0x7b);
		CHECK(value_number(each, after) == 0x7b);
		for (const attribute &other : attributes)
			CHECK(equal_field(other, before, after) != (&other == &each));
	}
}

TEST_CASE("origin: the transition of each attribute", "[origin]")
{
	const auto to = [](const char *name) { return transition_of(*find_attribute(name)); };
	for (const char *name : {"pkey_index", "port_num", "qp_access_flags", "qkey"})
		CHECK(to(name) == IBV_QPS_INIT);
	for (const char *name :
	     {"ah_attr.grh.dgid", "ah_attr.sl", "path_mtu", "dest_qp_num", "rq_psn",
	      "max_dest_rd_atomic", "min_rnr_timer", "alt_ah_attr.dlid", "alt_timeout"})
		CHECK(to(name) == IBV_QPS_RTR);
	for (const char *name :
	     {"timeout", "retry_cnt", "rnr_retry", "sq_psn", "max_rd_atomic", "path_mig_state"})
		CHECK(to(name) == IBV_QPS_RTS);
	for (const char *name : {"qp_state", "cur_qp_state", "cap.max_send_wr", "sq_draining",
				 "en_sqd_async_notify", "rate_limit"})
		CHECK(to(name) == IBV_QPS_UNKNOWN);
}

TEST_CASE("origin: every attribute of an answer has a sentence", "[origin]")
{
	// The bits that are in no answer: spec of the kernel, masks.
	constexpr std::uint32_t answered =
		(0x7fff9 & ~std::uint32_t{IBV_QP_CAP}) | std::uint32_t{IBV_QP_DEST_QPN};
	for (const attribute &each : attributes) {
		const std::string sentence = origin_of(each);
		const bool has = in_mask(each, answered);
		INFO(each.name);
		CHECK(sentence.empty() != has);
		if (has) {
			CHECK(sentence.back() == '.');
			CHECK(sentence.find('\n') == std::string::npos);
		}
	}
}
