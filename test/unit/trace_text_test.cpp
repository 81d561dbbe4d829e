// SPDX-License-Identifier: MIT
// What a person sees of a trace: lines, tables, and the events for Perfetto.
#include "test/support/catch.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/trace_file.hpp"
#include "tools/qpattr/trace/perfetto.hpp"
#include "tools/qpattr/trace/summary.hpp"
#include "tools/qpattr/common/trace_text.hpp"

using namespace qpattr::tool;

namespace {

// Arrows are "->" then; looked at once.
[[maybe_unused]] const int plain_locale = ::setenv("LC_ALL", "C", 1);

// A terminal of so many columns.
class screen {
public:
	explicit screen(unsigned short width)
	{
		::setenv("TERM", "xterm", 1);
		::unsetenv("COLUMNS");
		master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
		REQUIRE(::grantpt(master_) == 0);
		REQUIRE(::unlockpt(master_) == 0);
		fd_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
		REQUIRE(fd_ >= 0);
		const winsize size{24, width, 0, 0};
		REQUIRE(::ioctl(fd_, TIOCSWINSZ, &size) == 0);
	}
	~screen()
	{
		::close(fd_);
		::close(master_);
	}
	[[nodiscard]] terminal is() const { return terminal{fd_}; }

private:
	int master_, fd_;
};

std::vector<std::string> split(const std::string &text)
{
	std::vector<std::string> out;
	std::stringstream from{text};
	for (std::string line; std::getline(from, line);)
		out.push_back(line);
	return out;
}

std::string without_colour(std::string text)
{
	for (std::size_t at; (at = text.find("\x1b[")) != std::string::npos;)
		text.erase(at, text.find('m', at) - at + 1);
	return text;
}

std::string written(const terminal &on)
{
	const trace from = read_trace(QPATTR_EXAMPLE_TRACE);
	text_writer writer{on};
	std::string out;
	for (const record &each : from.records)
		out += writer.lines_of(each);
	return out;
}

bool has(const std::string &text, const std::string &what)
{
	return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("trace_text: a call's lines")
{
	::setenv("TZ", "UTC", 1);
	const std::string text = written(terminal{-1});
	CHECK(has(text, "rping 186  RESET -> INIT  10.77.0.1:34864 -> 10.77.0.1:7174\n"));
	CHECK(has(text, "rping 186  INIT -> RTR  "));
	CHECK(has(text, "  RC QP 17  rxe0 port 1  id 0x7f9aa8000ce0  5.13 us\n"));
	CHECK(has(text, "  mask 0x12e01 = STATE|TIMEOUT|RETRY_CNT|RNR_RETRY|MAX_QP_RD_ATOMIC|SQ_PSN\n"));
	CHECK(has(text, "  min_rnr_timer           0                 655.36 ms\n"));
	CHECK(has(text, "  timeout        19 -> 16          2.15 s -> 268 ms (rule 1)\n"));
	CHECK(has(text, "  rule 1 not applied: max_rd_atomic 200 (200 READ or ATOMIC at a time), "
			"above what the device takes, limit 128"));
	CHECK(has(text, "  0: 5 more of the address\n"));
	CHECK(has(text, "EINVAL: Invalid argument"));
	CHECK(has(text, "qpattr explain EINVAL INIT"));
	CHECK(has(text, "rping 186: something to know"));
	CHECK(has(text, "thread 181"));
	CHECK_FALSE(has(text, "thread 186"));
	CHECK_FALSE(has(text, "\x1b["));
}

TEST_CASE("trace_text: lines fit the terminal, and names are never cut")
{
	::unsetenv("NO_COLOR");
	for (const unsigned short width : std::initializer_list<unsigned short>{60, 80, 100, 120}) {
		const screen on{width};
		const std::string text = written(on.is());
		CHECK(has(text, "\x1b["));
		for (const std::string &line : split(without_colour(text))) {
			INFO(line);
			CHECK(columns(line) <= width);
		}
		CHECK(has(without_colour(text), "ah_attr.grh.sgid_index"));
	}
	// Narrower than a name and its value: those two stay.
	const screen on{30};
	const std::string text = without_colour(written(on.is()));
	CHECK(has(text, "  ah_attr.grh.sgid_index  1\n"));
	CHECK_FALSE(has(text, "entry 1"));
}

TEST_CASE("trace_text: no colour with NO_COLOR")
{
	::setenv("NO_COLOR", "1", 1);
	const screen on{80};
	CHECK_FALSE(has(written(on.is()), "\x1b["));
	::unsetenv("NO_COLOR");
}

TEST_CASE("trace_text: what a stranger named cannot move the cursor")
{
	CHECK(harmless("a\x1b[2Jb\n") == "a?[2Jb?");
	CHECK(harmless("\xc2\x9b"
		       "2J") == "??2J");
	// A terminal that does not know UTF-8 takes 0x9f as a command.
	CHECK(harmless("gr\xc3\xbc\xc3\x9f") == (utf8() ? "gr\xc3\xbc\xc3\x9f" : "gr\xc3\xbc??"));
	// No characters: cut off, too long, a command of eight bits.
	CHECK(harmless("a\x9b" "31m\xc3") == "a?31m?");
	CHECK(harmless("\xc0\x9b\xe2\x82") == "????");
	// What turns the text that follows: U+202E, U+2066, U+200F, U+2028, U+061C.
	CHECK(harmless("a\xe2\x80\xae" "b\xe2\x81\xa6\xe2\x80\x8f\xe2\x80\xa8\xd8\x9c") == "a???b???????????");
	CHECK(columns("\xc3\xbc") == 1);
	CHECK(cut("abcdef", 4) == "abc~");
	CHECK(cut("abc", 3) == "abc");
}

TEST_CASE("trace_summary: counts and tables")
{
	const trace from = read_trace(QPATTR_EXAMPLE_TRACE);
	trace_summary sums;
	for (const record &each : from.records)
		sums.take(each);
	CHECK(sums.calls() == 7);
	CHECK(sums.failures() == 1);
	CHECK(sums.processes() == 2);
	CHECK(sums.lost() == 0);
	CHECK(sums.in_short() == "7 calls of 2 processes, 1 failed");
	const std::string table = sums.table(terminal{-1});
	CHECK(has(table, "rping 186      4     2     1     1      1 5.12 us 5.13 us 5.13 us\n"));
	// The failed INIT came after RTS: a new connection by the same id.
	CHECK(has(table, "3 connections\n"));
	CHECK(has(table, "  rping 186  10.77.0.1:34864 -> 10.77.0.1:7174  RC  INIT, RTR, RTS\n"));
	CHECK(has(table, "INIT EINVAL 1x"));
	CHECK(has(table, "rule 1: timeout applied 1x\n"));
	CHECK(has(table, "rule 1: max_rd_atomic applied 0x, refused 1x\n"));
	// Of both connections: min_rnr_timer is 0.
	CHECK(has(table, "2 connections: "));
	CHECK(has(table, "655"));
	const screen on{80};
	for (const std::string &line : split(without_colour(sums.table(on.is())))) {
		INFO(line);
		CHECK(columns(line) <= 80);
	}
}

TEST_CASE("trace_summary: what is lost is seen by what processes say, and by gaps")
{
	trace from = read_trace(QPATTR_EXAMPLE_TRACE);
	trace_summary gap, said;
	for (const record &each : from.records) {
		const auto *const call = std::get_if<call_record>(&each);
		if (!call || call->seq != 2)
			gap.take(each);
	}
	CHECK(gap.lost() == 2); // one of each process
	std::get<end_record>(from.records[10]).lost = 5;
	for (const record &each : from.records)
		said.take(each);
	CHECK(said.lost() == 5);
}

TEST_CASE("trace_perfetto: tracks, spans, failures, arrows")
{
	const trace from = read_trace(QPATTR_EXAMPLE_TRACE);
	std::string text{perfetto_writer::head};
	perfetto_writer writer{[&](std::string_view event) { text += event; }};
	for (const record &each : from.records)
		writer.take(each);
	writer.finish(1796000000010000000U);
	text += perfetto_writer::tail;
	const nlohmann::json all = nlohmann::json::parse(text);

	std::map<std::string, std::uint64_t> tracks;
	std::map<std::string, std::vector<nlohmann::json>> by_phase;
	for (const auto &each : all.at("traceEvents")) {
		by_phase[each.at("ph")].push_back(each);
		if (each.at("name") == "thread_name")
			tracks[each.at("args").at("name")] = each.at("tid");
	}
	const std::string client = "rping 186: 10.77.0.1:34864 \u2192 10.77.0.1:7174 (RC)";
	REQUIRE(tracks.count(client));
	REQUIRE(tracks.count("rping 180: 10.77.0.1:7174 \u2192 10.77.0.1:34864 (RC)"));

	CHECK(by_phase["X"].size() == 6); // every state that was given
	for (const auto &each : by_phase["X"]) {
		CHECK(each.at("dur").get<double>() >= 0);
		if (each.at("name") != "RTR" || each.at("pid") != 186)
			continue;
		CHECK(each.at("ts") == 4000.0);
		CHECK(each.at("dur") == 100.0); // until RTS
		CHECK(each.at("args").at("min_rnr_timer") == "0 (655.36 ms)");
	}
	for (const auto &each : by_phase["X"])
		if (each.at("name") == "RTS" && each.at("pid") == 180)
			CHECK(each.at("dur") == 6810.0); // until the end of its process
	REQUIRE(by_phase["i"].size() == 1);
	CHECK(by_phase["i"][0].at("name") == "INIT failed: EINVAL");
	REQUIRE(by_phase["s"].size() == 1);
	REQUIRE(by_phase["f"].size() == 1);
	CHECK(by_phase["s"][0].at("pid") == 180);
	CHECK(by_phase["f"][0].at("pid") == 186);
	CHECK(by_phase["s"][0].at("id") == by_phase["f"][0].at("id"));
}
