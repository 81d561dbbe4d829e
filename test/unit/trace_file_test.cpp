// SPDX-License-Identifier: MIT
// A trace read: whole, cut off, foreign, of a later version.
#include "test/support/catch.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/trace_file.hpp"

using namespace qpattr::tool;

namespace {

std::string example()
{
	std::ifstream from{QPATTR_EXAMPLE_TRACE};
	std::stringstream out;
	out << from.rdbuf();
	return out.str();
}

std::string refusal(const std::string &text)
{
	try {
		(void)parse_trace(text, "t.json");
	} catch (const failure &why) {
		return why.what();
	}
	return "read";
}

// The example's line for RTS with another text in place of one that it has.
std::string edited(const std::string &what, const std::string &with)
{
	std::string line = example();
	const std::size_t at = line.find(what);
	REQUIRE(at != std::string::npos);
	return line.replace(at, what.size(), with);
}

} // namespace

TEST_CASE("trace_file: every kind of record is read")
{
	const trace read = parse_trace(example(), "t.json");
	CHECK_FALSE(read.cut);
	REQUIRE(read.records.size() == 12);
	CHECK(std::get<process_record>(read.records[0]).exe == "/usr/bin/rping");
	CHECK_FALSE(std::get<process_record>(read.records[0]).overrides);
	CHECK(std::get<notice_record>(read.records[9]).text == "something to know");
	CHECK(std::get<end_record>(read.records[10]).calls == 4);
	CHECK(read.calls().size() == 7);
}

TEST_CASE("trace_file: a call with all that it has")
{
	const trace read = parse_trace(example(), "t.json");
	const call_record &rts = *read.calls()[5];
	CHECK(rts.seq == 3);
	CHECK(rts.pid == 186);
	CHECK(rts.time_ns == 1796000000004100000U);
	CHECK(rts.device == "rxe0");
	CHECK(rts.qp_num == 17);
	CHECK(rts.src == "10.77.0.1:34864");
	CHECK(rts.asked == "RTS");
	CHECK(rts.mask == 0x12e01);
	REQUIRE(rts.mask_names.size() == 6);
	CHECK(rts.mask_names[0] == "STATE");
	REQUIRE(rts.attributes.size() == 6);
	CHECK(rts.attributes[1].name == "sq_psn"); // in the order of the file
	REQUIRE(rts.find("timeout"));
	CHECK(rts.find("timeout")->number == 16);
	CHECK(rts.find("timeout")->meaning == "268 ms");
	CHECK_FALSE(rts.find("path_mtu"));
	REQUIRE(rts.overrides.size() == 1);
	CHECK(rts.overrides[0].before == 19);
	REQUIRE(rts.refused.size() == 1);
	CHECK(rts.refused[0].limit == 128);
	CHECK(rts.matched == std::vector<unsigned>{1});

	const call_record &failed = *read.calls()[6];
	CHECK(failed.failed());
	CHECK(failed.error == "EINVAL");
	CHECK(failed.error_number == 22);
	CHECK(failed.attributes.empty());
}

TEST_CASE("trace_file: attributes as verbs have them, GIDs too")
{
	const trace read = parse_trace(example(), "t.json");
	const ibv_qp_attr rtr = read.calls()[2]->received.attr;
	CHECK(rtr.path_mtu == IBV_MTU_1024);
	CHECK(rtr.dest_qp_num == 17);
	CHECK(rtr.ah_attr.grh.hop_limit == 64);
	CHECK(rtr.ah_attr.grh.dgid.raw[10] == 0xff);
	CHECK(rtr.ah_attr.grh.dgid.raw[15] == 1);
	CHECK(rtr.timeout == 0);
}

TEST_CASE("trace_file: a last line without its end is left out and told")
{
	const std::string whole = example();
	const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
	for (std::size_t len = last + 1; len < whole.size() - 1; ++len) {
		const trace read = parse_trace(whole.substr(0, len), "t.json");
		CHECK(read.cut);
		CHECK(read.cut_line == 12);
		CHECK(read.records.size() == 11);
	}
	// Only the end of the line is missing: the record is whole.
	const trace read = parse_trace(whole.substr(0, whole.size() - 1), "t.json");
	CHECK_FALSE(read.cut);
	CHECK(read.records.size() == 12);
}

TEST_CASE("trace_file: what is no trace is refused with its place")
{
	CHECK(refusal("hello\n") == "t.json:1: not JSON");
	CHECK(refusal("hello") == "t.json:1: not JSON");
	CHECK(refusal("{}\n").find("t.json:1: no record") == 0);
	CHECK(refusal("[1]\n").find("t.json:1: no record") == 0);
	CHECK(refusal(example() + "oops\n") == "t.json:13: not JSON");
	CHECK(refusal(edited("\"seq\":1", "\"seq\":-1")) ==
	      "t.json:2: \"seq\" is not a number from 0");
	CHECK(refusal(edited("\"seq\":1", "\"seq\":\"1\"")) ==
	      "t.json:2: \"seq\" is not a number from 0");
	CHECK(refusal(edited("\"asked\":\"INIT\",", "")) == "t.json:2: \"asked\" is missing");
	CHECK(refusal(edited("\"matched\":[]", "\"matched\":[0]")) ==
	      "t.json:2: \"matched\" is not the number of a rule");
	CHECK(refusal(edited("\"attributes\":{", "\"attributes\":7,\"x\":{")) ==
	      "t.json:2: \"attributes\" is not an object");
}

TEST_CASE("trace_file: a later version is refused, later keys and types are passed over")
{
	const std::string later = refusal(edited("{\"qpattr\":1", "{\"qpattr\":2"));
	CHECK(later.find("t.json:1: the trace is of schema version 2, this qpattr reads 1") == 0);
	CHECK(refusal(edited("\"type\":\"notice\"", "\"type\":\"news\"")) == "read");
	CHECK(refusal(edited("\"seq\":1", "\"seq\":1,\"colour\":{\"a\":[1]}")) == "read");
	// Also as the last line, where what is not whole is passed over.
	CHECK(refusal("{\"qpattr\":2}").find("schema version 2") != std::string::npos);
}

TEST_CASE("trace_file: a file that is not there or is none")
{
	const auto refused = [](const char *path) -> std::string {
		try {
			(void)read_trace(path);
		} catch (const failure &why) {
			return why.what();
		}
		return "read";
	};
	CHECK(refused("/nowhere/t.json") ==
	      "cannot read the trace /nowhere/t.json: No such file or directory");
	CHECK(refused("/") == "cannot read the trace /: Is a directory");
	CHECK(read_trace("/dev/null").records.empty());
}
