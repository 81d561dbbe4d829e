// SPDX-License-Identifier: MIT
// The lines of a trace: that each is JSON, whatever is in it; that what it says is what
// happened; that the longest fits into a buffer.
#include "lib/preload/record.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

#include <nlohmann/json.hpp>

#include "lib/preload/json.hpp"
#include "lib/preload/process.hpp"
#include "test/support/catch.hpp"

using namespace qpattr;
using namespace qpattr::preload;
using nlohmann::json;

namespace {

std::string escaped(const std::string &bytes)
{
	attr::text_of<2048> line;
	add_json(line, bytes.data(), bytes.size());
	REQUIRE_FALSE(line.truncated());
	return line.c_str();
}

struct built {
	std::string line;
	json value;
};

// A record as it is written, in a buffer as it is written in.
template <class Add> built build(Add add)
{
	static char bytes[buffer::len];
	attr::text to{bytes + 1, sizeof bytes - 1};
	add(to);
	REQUIRE_FALSE(to.truncated());
	const std::string line{to.c_str(), to.size()};
	CHECK(line.back() == '\n');
	CHECK(line.find('\n') == line.size() - 1);
	CHECK(line.rfind("{\"qpattr\":1,\"type\":\"", 0) == 0);
	// What a reader that lost its place looks for is nowhere else.
	CHECK(line.find("{\"qpattr\":", 1) == std::string::npos);
	return {line, json::parse(line)};
}

endpoint end_of(int family, const char *address, std::uint16_t port, std::uint32_t scope = 0)
{
	endpoint end;
	end.kind = family == AF_INET ? endpoint::family::ipv4 : endpoint::family::ipv6;
	REQUIRE(::inet_pton(family, address, end.address) == 1);
	end.port = port;
	end.scope = scope;
	return end;
}

call to_rtr(const ibv_qp_attr *attr)
{
	call what{};
	what.seq = 3;
	what.time_ns = 1796001313613389384;
	what.duration_ns = 5123;
	what.pid = 186;
	what.tid = 187;
	what.id = reinterpret_cast<const void *>(0x7f9aa8000ce0);
	what.has_handle = true;
	what.handle = 0;
	what.asked = IBV_QPS_RTR;
	what.mask = attr ? 0x129181 : 0;
	what.attr = attr;
	return what;
}

connection on_rxe0()
{
	connection where;
	std::strcpy(where.device, "rxe0");
	where.port = 1;
	where.port_space = 0x0106;
	where.qp_type = IBV_QPT_RC;
	where.has_qp = true;
	where.qp_num = 17;
	where.src = end_of(AF_INET, "10.77.0.1", 34864);
	where.dst = end_of(AF_INET6, "fd77::1", 7174);
	return where;
}

} // namespace

TEST_CASE("record: any bytes become a JSON string", "[record]")
{
	CHECK(escaped("plain") == "\"plain\"");
	CHECK(escaped("a\"b\\c") == "\"a\\\"b\\\\c\"");
	CHECK(escaped(std::string{"\0\n\x1f\x7f", 4}) == "\"\\u0000\\u000a\\u001f\\u007f\"");
	CHECK(escaped("\u00b5\u20ac\U0001f600") == "\"\u00b5\u20ac\U0001f600\"");
	// Not UTF-8: alone, cut off, overlong, a surrogate, beyond Unicode.
	CHECK(escaped("\x80z") == "\"\\ufffdz\"");
	CHECK(escaped("\xe2\x82") == "\"\\ufffd\\ufffd\"");
	CHECK(escaped("\xc0\x80") == "\"\\ufffd\\ufffd\"");
	CHECK(escaped("\xe0\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
	CHECK(escaped("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
	CHECK(escaped("\xf4\x90\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	CHECK(escaped("\xf0\x8f\xbf\xbf") == "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	CHECK(escaped("\xff\xc3(") == "\"\\ufffd\\ufffd(\"");
	for (int c = 0; c < 256; ++c) {
		const std::string each{static_cast<char>(c)};
		CHECK_NOTHROW(json::parse(escaped(each)));
		CHECK_NOTHROW(json::parse(escaped("\xe2" + each)));
		CHECK_NOTHROW(json::parse(escaped("\xf1\x80" + each + "\x80")));
	}
}

TEST_CASE("record: a call that succeeded", "[record]")
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.rq_psn = 0x4006f6;
	attr.ah_attr.grh.dgid.raw[10] = attr.ah_attr.grh.dgid.raw[11] = 0xff;
	attr.ah_attr.grh.dgid.raw[12] = 10;
	attr.ah_attr.sl = 3;
	attr.timeout = 14; // not in the mask
	changes made;
	made.matched = 0b101;
	made.list[made.count++] = {attr::find_attribute("min_rnr_timer"), 0, 0, 12, {}};
	made.list[made.count++] = {attr::find_attribute("max_dest_rd_atomic"),
				   2,
				   1,
				   4,
				   {verdict::kind::unknown, 0, ""}};
	made.list[made.count++] = {attr::find_attribute("path_mtu"),
				   2,
				   3,
				   5,
				   {verdict::kind::beyond, 3, "above the port's active MTU"}};
	const json all = build([&](attr::text &to) {
				 add_call(to, "rping", to_rtr(&attr), on_rxe0(), made);
			 }).value;
	json rest = all;
	for (const char *key : {"attributes", "overrides", "refused"})
		rest.erase(key);
	CHECK(rest ==
	      json::parse(R"({"qpattr":1,"type":"call","seq":3,"time_ns":1796001313613389384,
		"duration_ns":5123,"pid":186,"tid":187,"program":"rping","id":"0x7f9aa8000ce0",
		"handle":0,"device":"rxe0","port":1,"port_space":"TCP","qp_type":"RC","qp_num":17,
		"src":"10.77.0.1:34864","dst":"[fd77::1]:7174","asked":"RTR","result":0,"errno":null,
		"served_by":"qpattr","mask":1216897,"mask_names":["STATE","AV","PATH_MTU","RQ_PSN",
		"MIN_RNR_TIMER","MAX_DEST_RD_ATOMIC","DEST_QPN"],"matched":[1,3],"lost":0})"));
	CHECK(all["overrides"] ==
	      json::parse(R"([{"rule":1,"attribute":"min_rnr_timer","before":0,"after":12},
		{"rule":3,"attribute":"max_dest_rd_atomic","before":1,"after":4,"limits":"unknown"}])"));
	CHECK(all["refused"] == json::parse(R"([{"rule":3,"attribute":"path_mtu","wanted":5,
		"limit":3,"why":"above the port's active MTU"}])"));
	const json &shown = all["attributes"];
	CHECK(shown["path_mtu"] ==
	      json::parse(R"({"value":"3","number":3,"meaning":"1024 bytes"})"));
	CHECK(shown["rq_psn"] ==
	      json::parse(R"({"value":"0x4006f6","number":4196086,"meaning":"4196086"})"));
	CHECK(shown["ah_attr.grh.dgid"] ==
	      json::parse(R"({"value":"::ffff:10.0.0.0","meaning":"IPv4 10.0.0.0"})"));
	CHECK(shown["ah_attr.sl"] == json::parse(R"({"value":"3","number":3})"));
	CHECK(shown.size() == 17); // STATE, 11 of AV, five more
	CHECK_FALSE(shown.contains("timeout"));
}

TEST_CASE("record: attributes come in the order of the fields", "[record]")
{
	ibv_qp_attr attr{};
	const std::string line =
		build([&](attr::text &to) { add_call(to, "x", to_rtr(&attr), {}, {}); }).line;
	std::size_t at = line.find("\"attributes\":");
	for (const attr::attribute &what : attr::attributes) {
		if (!attr::in_mask(what, 0x129181))
			continue;
		const std::size_t next = line.find('"' + std::string{what.name} + "\":{", at);
		CHECK(next != std::string::npos);
		at = next;
	}
}

TEST_CASE("record: a call that failed", "[record]")
{
	call what = to_rtr(nullptr);
	what.mask = 0x39; // of nobody's interest
	what.has_handle = false;
	what.by_stock = true;
	what.result = -1;
	what.code = EINVAL;
	what.asked = 99;
	what.lost = 4;
	const auto of = [&] {
		return build([&](attr::text &to) { add_call(to, "x", what, {}, {}); }).value;
	};
	CHECK(of() ==
	      json::parse(R"({"qpattr":1,"type":"call","seq":3,"time_ns":1796001313613389384,
		"duration_ns":5123,"pid":186,"tid":187,"program":"x","id":"0x7f9aa8000ce0",
		"handle":null,"device":null,"port":null,"port_space":"0x0","qp_type":"0x0",
		"qp_num":null,"src":null,"dst":null,"asked":"0x63","result":-1,"errno":"EINVAL",
		"errno_number":22,"served_by":"stock","mask":0,"mask_names":[],"attributes":{},
		"matched":[],"overrides":[],"refused":[],"lost":4})"));
	for (const auto &[code, name] : {std::pair{EACCES, "EACCES"}, std::pair{ENODATA, "ENODATA"},
					 std::pair{ENXIO, "ENXIO"}, std::pair{12345, "12345"}}) {
		what.code = code;
		CHECK(of()["errno"] == name);
		CHECK(of()["errno_number"] == code);
	}
}

TEST_CASE("record: addresses", "[record]")
{
	const auto said = [](const endpoint &end) {
		attr::text_of<80> line;
		add_endpoint(line, end);
		return std::string{line.c_str()};
	};
	CHECK(said(end_of(AF_INET, "10.0.0.1", 1)) == "10.0.0.1:1");
	CHECK(said(end_of(AF_INET6, "fe80::1", 65535, 2)) == "[fe80::1%2]:65535");
	endpoint ib = end_of(AF_INET6, "fe80::5054:ff:fe00:1", 7174);
	ib.kind = endpoint::family::ib;
	CHECK(said(ib) == "[fe80::5054:ff:fe00:1]:7174");
	CHECK(said({}).empty());
}

TEST_CASE("record: processes, notices, ends", "[record]")
{
	CHECK(build([](attr::text &to) {
		      add_process(to, "rping", {7, 186, 185, "/usr/bin/rping", "timeout=16"});
	      }).value ==
	      json::parse(R"({"qpattr":1,"type":"process","time_ns":7,"pid":186,"ppid":185,
		"program":"rping","exe":"/usr/bin/rping","overrides":"timeout=16"})"));
	const json unknown = build([](attr::text &to) {
				     add_process(to, "", {7, 1, 0, nullptr, nullptr});
			     }).value;
	CHECK(unknown["exe"].is_null());
	CHECK(unknown["overrides"].is_null());
	CHECK(build([](attr::text &to) { add_notice(to, "a\"b", 7, 1, "say \"no\""); }).value ==
	      json::parse(R"({"qpattr":1,"type":"notice","time_ns":7,"pid":1,"program":"a\"b",
		"text":"say \"no\""})"));
	CHECK(build([](attr::text &to) { add_end(to, "x", 7, 1, 12, 3); }).value ==
	      json::parse(R"({"qpattr":1,"type":"end","time_ns":7,"pid":1,"program":"x","calls":12,
		"lost":3})"));
}

TEST_CASE("record: the longest fit", "[record]")
{
	// Every number as large as its field, every attribute, every rule, every byte
	// of a name one that takes six.
	const std::string bytes(4095, '\x01');
	ibv_qp_attr attr;
	std::memset(&attr, 0xff, sizeof attr);
	call what = to_rtr(&attr);
	what.seq = what.time_ns = what.duration_ns = what.lost = UINT64_MAX;
	what.pid = what.tid = what.result = what.code = INT_MIN;
	what.id = reinterpret_cast<const void *>(UINTPTR_MAX);
	what.handle = what.asked = what.mask = UINT32_MAX;
	connection where = on_rxe0();
	std::memset(where.device, 1, sizeof where.device - 1);
	where.port = UINT8_MAX;
	where.port_space = where.qp_type = where.qp_num = UINT32_MAX;
	where.src = where.dst = end_of(AF_INET6, "1111:1111:1111:1111:1111:1111:255.255.255.255",
				       65535, UINT32_MAX);
	changes made;
	made.matched = UINT64_MAX;
	for (const attr::attribute &each : attr::attributes)
		if (!attr::why_not_settable(each))
			made.list[made.count++] = {&each,
						   63,
						   UINT32_MAX,
						   UINT32_MAX,
						   {verdict::kind::beyond, UINT32_MAX,
						    "above what the device starts at a time"}};
	const std::size_t longest = build([&](attr::text &to) {
					    add_call(to, bytes.c_str(), what, where, made);
				    }).line.size();
	WARN("the longest call: " << longest << " bytes");
	CHECK(longest < buffer::len * 3 / 4);
	// Accepted rules have no byte that is escaped: unit/rules_test.
	const std::string set(4095, 'x');
	build([&](attr::text &to) {
		add_process(to, bytes.c_str(),
			    {UINT64_MAX, INT_MIN, INT_MIN, bytes.c_str(), set.c_str()});
	});
	build([&](attr::text &to) {
		add_notice(to, bytes.c_str(), UINT64_MAX, INT_MIN, bytes.substr(0, 511).c_str());
	});
	build([&](attr::text &to) {
		add_end(to, bytes.c_str(), UINT64_MAX, INT_MIN, UINT64_MAX, UINT64_MAX);
	});
}
