// SPDX-License-Identifier: MIT
// What beside makes of records: transitions, pages, verdicts.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#include "test/demo/render.hpp"
#include "test/demo/verdict.hpp"
#include "test/support/catch.hpp"

using namespace qpattr::demo;
namespace attr = qpattr::attr;

namespace {

endpoint at(const char *address, unsigned port)
{
	endpoint out{};
	out.port = htons(static_cast<std::uint16_t>(port));
	out.family = std::strchr(address, ':') ? AF_INET6 : AF_INET;
	REQUIRE(::inet_pton(out.family, address, out.address) == 1);
	return out;
}

// A client's RTR, both answers equal, qpattr's by itself.
record good()
{
	record out{};
	out.magic = record_magic;
	out.len = sizeof out;
	out.pid = 100;
	std::strcpy(out.program, "rping");
	std::strcpy(out.object, "libqpattr-preload.so");
	std::strcpy(out.stock, "librdmacm.so.1");
	std::strcpy(out.device, "rxe0");
	out.id = 0x1000;
	out.qp_type = IBV_QPT_RC;
	out.stock_asked = 1;
	out.source = at("10.0.0.1", 40000);
	out.destination = at("10.0.0.2", 7174);
	out.state = IBV_QPS_RTR;
	out.before.qp_state = IBV_QPS_RTR;
	out.ours.mask = 0x129181;
	out.ours.attr.qp_state = IBV_QPS_RTR;
	out.ours.attr.path_mtu = IBV_MTU_1024;
	out.ours.attr.ah_attr.is_global = 1;
	out.theirs = out.ours;
	out.theirs.stock_commands = 1;
	return out;
}

record init(std::uint32_t access)
{
	record out = good();
	out.state = IBV_QPS_INIT;
	out.ours.mask = 0x39;
	out.ours.attr = {};
	out.ours.attr.qp_state = IBV_QPS_INIT;
	out.ours.attr.qp_access_flags = access;
	out.theirs.mask = out.ours.mask;
	out.theirs.attr = out.ours.attr;
	return out;
}

// In the order of time, of one process.
history of(std::vector<record> records)
{
	for (std::size_t i = 0; i < records.size(); ++i) {
		records[i].sequence = static_cast<std::uint32_t>(i);
		records[i].time_ns = 1000 + i;
	}
	return make_history(records);
}

transition one(const record &what)
{
	return of({what}).all.at(0);
}

template <class Draw> std::string drawn(look how, Draw draw)
{
	std::FILE *const file = std::tmpfile();
	REQUIRE(file);
	draw(page{file, how});
	std::rewind(file);
	std::string out;
	for (int c; (c = std::fgetc(file)) != EOF;)
		out += static_cast<char>(c);
	std::fclose(file);
	return out;
}

std::string table_of(const record &what, look how = {})
{
	return drawn(how, [&](const page &to) { to.table(one(what)); });
}

bool has(const std::string &text, const std::string &piece)
{
	return text.find(piece) != std::string::npos;
}

} // namespace

TEST_CASE("beside: equal means result, errno, mask and every field", "[beside]")
{
	CHECK(one(good()).equal());
	CHECK(one(good()).good());
	for (const attr::attribute &each : attr::attributes)
		for (std::size_t i = 0; i < each.len; ++i) {
			record what = good();
			reinterpret_cast<char *>(&what.ours.attr)[each.offset + i] ^= 1;
			INFO(each.name << ", byte " << i);
			CHECK_FALSE(one(what).equal());
		}
	record result = good();
	result.ours.result = -1;
	CHECK_FALSE(one(result).equal());
	record code = good();
	code.theirs.error = EAGAIN;
	CHECK_FALSE(one(code).equal());
	record mask = good();
	mask.ours.mask |= 1 << 25;
	CHECK_FALSE(one(mask).equal());
	record unasked = good();
	unasked.stock_asked = 0;
	CHECK_FALSE(one(unasked).equal());
}

TEST_CASE("beside: served means qpattr's object, by itself, and a counter that works", "[beside]")
{
	CHECK(one(good()).served());
	record foreign = good();
	std::strcpy(foreign.object, "librdmacm.so.1");
	CHECK_FALSE(one(foreign).served());
	record passed_on = good();
	passed_on.ours.stock_commands = 1;
	CHECK_FALSE(one(passed_on).served());
	record uncounted = good();
	uncounted.theirs.stock_commands = 0;
	CHECK_FALSE(one(uncounted).served());
}

TEST_CASE("beside: connections, states and sides of a client", "[beside]")
{
	record rtr = good();
	record rts = good();
	rts.state = IBV_QPS_RTS;
	record next = init(0);
	next.source.port = htons(40001);
	// The same pointer again with the same addresses, from the beginning.
	const history seen = of({init(0), init(0xe), rtr, rts, init(0), next});
	REQUIRE(seen.all.size() == 6);
	const std::size_t connections[] = {1, 1, 1, 1, 2, 3};
	const std::uint32_t from[] = {0, 1, 1, 2, 0, 0};
	for (std::size_t i = 0; i < 6; ++i) {
		CHECK(seen.all[i].connection == connections[i]);
		CHECK(seen.all[i].from == from[i]);
		CHECK(seen.all[i].end == side::active);
	}
	CHECK(seen.trouble.empty());
}

TEST_CASE("beside: a refused transition is none", "[beside]")
{
	record refused = good();
	refused.ours.result = refused.theirs.result = -1;
	const history seen = of({init(0), refused, good()});
	CHECK(seen.all[2].from == IBV_QPS_INIT);
	CHECK_FALSE(seen.all[1].answered());
}

TEST_CASE("beside: sides by the port where the answer does not tell", "[beside]")
{
	// A client that first asks after CONNECT, as rping -q.
	CHECK(one(init(0xe)).end == side::active);
	record server = init(0xe);
	std::swap(server.source, server.destination);
	CHECK(one(server).end == side::passive);
	record high = init(0xe);
	high.destination.port = htons(50000);
	CHECK(one(high).end == side::unknown);
	high.ours.attr.qp_access_flags = 0;
	CHECK(one(high).end == side::active);
	record datagram = init(0);
	datagram.qp_type = IBV_QPT_UD;
	datagram.destination.port = htons(50000);
	CHECK(one(datagram).end == side::unknown);
}

TEST_CASE("beside: the two ends of a run's first connection", "[beside]")
{
	record server = init(0xe);
	server.pid = 200;
	std::swap(server.source, server.destination);
	record other_client = init(0);
	other_client.id = 0x2000;
	other_client.source.port = htons(40001);
	record other_server = server;
	other_server.id = 0x2000;
	other_server.destination.port = htons(40001);
	record other_run = init(0);
	std::strcpy(other_run.run, "again");
	std::vector<record> all{init(0), other_client, other_server, server, other_run};
	all[3].sequence = 1;
	for (std::size_t i = 0; i < all.size(); ++i)
		all[i].time_ns = i;
	all[1].sequence = 1;
	all[4].pid = 300;
	const history seen = make_history(all);
	CHECK(seen.trouble.empty());
	CHECK(seen.runs() == std::vector<std::string>{"rping", "again"});
	CHECK(seen.first_connection("rping") == std::vector<std::size_t>{1, 4});
	CHECK(seen.first_connection("again") == std::vector<std::size_t>{5});
	CHECK(seen.first_connection("nothing").empty());
}

TEST_CASE("beside: missing and double records are noticed", "[beside]")
{
	std::vector<record> gap{good(), good()};
	gap[1].sequence = 2;
	CHECK(has(make_history(gap).trouble, "missing"));
	gap[1].sequence = 0;
	CHECK(has(make_history(gap).trouble, "two records"));
	gap[1].sequence = 1;
	CHECK(make_history(gap).trouble.empty());
	gap[1].sequence = 2;
	gap[1].pid = 101; // a fork child goes on counting
	CHECK(make_history(gap).trouble.empty());
	CHECK_FALSE(objections(of({}), {}).empty());
}

TEST_CASE("beside: files that cannot be read or are damaged", "[beside]")
{
	CHECK(has(read_history("/nonexistent/file").trouble, "No such file"));
	char path[] = "/tmp/beside-test-XXXXXX";
	const int fd = ::mkstemp(path);
	REQUIRE(fd >= 0);
	std::FILE *const file = ::fdopen(fd, "wb");
	record what = good();
	std::fwrite(&what, sizeof what, 1, file);
	std::fflush(file);
	CHECK(read_history(path).trouble.empty());
	CHECK(read_history(path).all.size() == 1);
	std::fwrite(&what, sizeof what - 1, 1, file);
	std::fflush(file);
	CHECK(has(read_history(path).trouble, "record 1 is damaged"));
	what.magic ^= 1;
	std::rewind(file);
	std::fwrite(&what, sizeof what, 1, file);
	std::fclose(file);
	CHECK(has(read_history(path).trouble, "record 0 is damaged"));
	std::remove(path);
}

TEST_CASE("beside: what speaks against the verdict", "[beside]")
{
	CHECK(objections(of({good()}), {{"rping", 1}}).empty());
	CHECK(objections(of({good()}), {{"rping", 2}}) ==
	      std::vector<std::string>{"run 'rping' has 1 transitions, not 2"});
	CHECK(objections(of({good()}), {{"udaddy", 1}}) ==
	      std::vector<std::string>{"run 'udaddy' has 0 transitions, not 1"});
	record different = good();
	different.ours.attr.path_mtu = IBV_MTU_2048;
	CHECK(objections(of({good(), different}), {}) ==
	      std::vector<std::string>{"1 of 2 answers differ from stock's"});
	record foreign = good();
	foreign.ours.stock_commands = 1;
	CHECK(objections(of({good(), foreign}), {}) ==
	      std::vector<std::string>{"1 of 2 answers were not served by qpattr"});
}

TEST_CASE("beside: a table has both values, the sign and the unit", "[beside]")
{
	record what = good();
	const std::string equal = table_of(what);
	CHECK(has(equal, "rping active  INIT -> RTR") == false); // its first: from RESET
	CHECK(has(equal, "rping active  RESET -> RTR  10.0.0.1:40000 -> 10.0.0.2:7174"));
	CHECK(has(equal, "mask 0x129181 = STATE|AV|PATH_MTU"));
	CHECK(has(equal,
		  "  path_mtu                  3                =  3                 1024 bytes"));
	CHECK(has(equal,
		  "min_rnr_timer             0                =  0                 655.36 ms"));
	CHECK_FALSE(has(equal, "!="));
	CHECK_FALSE(has(equal, "\033"));

	what.ours.attr.path_mtu = IBV_MTU_4096;
	what.ours.attr.timeout = 9; // outside of the mask
	const std::string unequal = table_of(what);
	CHECK(has(unequal,
		  "  path_mtu                  5                != 3                 4096 bytes"));
	CHECK(has(unequal, "  timeout                   9                != 0                 "
			   "outside the mask"));
	const std::string coloured = table_of(what, {true, true});
	CHECK(has(coloured, "\u2260"));
	CHECK(has(coloured, "\033[1;31m"));
	CHECK_FALSE(has(table_of(what, {false, true}), "\033"));
}

TEST_CASE("beside: a refusal is shown with its errno", "[beside]")
{
	record what = good();
	what.ours = {};
	what.ours.result = -1;
	what.ours.error = EINVAL;
	what.ours.attr = what.before;
	what.theirs = what.ours;
	what.theirs.stock_commands = 1;
	const std::string same = table_of(what);
	CHECK(has(same, "-1 EINVAL        =  -1 EINVAL         Invalid argument"));
	CHECK(has(same, "left alone by both"));
	what.ours.attr.timeout = 1;
	const std::string touched = table_of(what);
	CHECK_FALSE(has(touched, "left alone by both"));
	CHECK(has(touched, "timeout                   1                != 0"));
}

TEST_CASE("beside: no line is wider than the page, and ASCII is ASCII", "[beside]")
{
	record what = good();
	std::memset(&what.ours.attr, 0xfe, sizeof what.ours.attr);
	what.theirs.attr = what.ours.attr;
	what.source = what.destination = at("fdab:cdef:1234:5678:9abc:def0:1234:5678", 65535);
	what.ours.mask = what.theirs.mask = -1;
	std::strcpy(what.program, "a-program-of-23-letters");
	const std::string ascii = drawn({}, [&](const page &to) {
		to.rule("rping");
		to.table(one(what));
		to.line(one(what));
		to.summary(of({what}));
	});
	std::size_t width = 0;
	std::size_t widest = 0;
	bool only_ascii = true;
	for (const char c : ascii) {
		only_ascii = only_ascii && static_cast<unsigned char>(c) < 0x80;
		width = c == '\n' ? 0 : width + 1;
		widest = std::max(widest, width);
	}
	CHECK(widest <= page_width);
	CHECK(only_ascii);
}

TEST_CASE("beside: JSON has the verdict of each transition", "[beside]")
{
	const auto json = [](const record &what) {
		std::FILE *const file = std::tmpfile();
		REQUIRE(file);
		write_json(file, one(what));
		std::rewind(file);
		std::string out;
		for (int c; (c = std::fgetc(file)) != EOF;)
			out += static_cast<char>(c);
		std::fclose(file);
		return out;
	};
	record what = good();
	std::strcpy(what.run, "a \"run\"\n");
	const std::string equal = json(what);
	CHECK(has(equal, "{\"run\":\"a \\\"run\\\"\\u000a\""));
	CHECK(has(equal, "\"equal\":true,\"served_by_qpattr\":true"));
	CHECK(has(equal, "\"path_mtu\":3"));
	CHECK(has(equal, "\"ah_attr.grh.dgid\":\"::\""));
	CHECK(equal.find('\n') == equal.size() - 1);
	what.ours.attr.timeout = 1;
	CHECK(has(json(what), "\"equal\":false"));
}
