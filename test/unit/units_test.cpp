// SPDX-License-Identifier: MIT
// The literals are those of the InfiniBand Architecture Specification's tables
// (and of RFC 2474, 2597 and 3246 for DSCP), not computed.
#include "lib/attr/units.hpp"

#include <arpa/inet.h>
#include <clocale>
#include <initializer_list>
#include <string>

#include "test/support/catch.hpp"

using namespace qpattr::attr;

namespace {

template <class Add, class Value> std::string said(Add add, Value value)
{
	text_of<128> line;
	add(line, value);
	CHECK_FALSE(line.truncated());
	return line.c_str();
}

ibv_gid gid(const char *address)
{
	ibv_gid out{};
	REQUIRE(::inet_pton(AF_INET6, address, out.raw) == 1);
	return out;
}

} // namespace

TEST_CASE("units: timeout exponents", "[units]")
{
	const char *const all[32] = {
		"no timeout (waits for ever)",
		"8.19 us",
		"16.4 us",
		"32.8 us",
		"65.5 us",
		"131 us",
		"262 us",
		"524 us",
		"1.05 ms",
		"2.10 ms",
		"4.19 ms",
		"8.39 ms",
		"16.8 ms",
		"33.6 ms",
		"67.1 ms",
		"134 ms",
		"268 ms",
		"537 ms",
		"1.07 s",
		"2.15 s",
		"4.29 s",
		"8.59 s",
		"17.2 s",
		"34.4 s",
		"68.7 s",
		"2 min 17 s",
		"4 min 35 s",
		"9 min 10 s",
		"18 min 20 s",
		"36 min 39 s",
		"73 min 18 s",
		"2 h 27 min",
	};
	for (unsigned exponent = 0; exponent < 32; ++exponent)
		CHECK(said(add_timeout, exponent) == all[exponent]);
	CHECK(timeout_ns(0) == 0);
	CHECK(timeout_ns(1) == 8192);
	CHECK(timeout_ns(14) == 67108864);
	CHECK(timeout_ns(17) == 536870912);
	CHECK(timeout_ns(19) == 2147483648);
	CHECK(timeout_ns(31) == 8796093022208);
	// The kernel hands an ACK timeout option on unchecked.
	for (const unsigned exponent : {32U, 64U, 255U}) {
		CHECK(timeout_ns(exponent) == 0);
		CHECK(said(add_timeout, exponent) == "out of range (0 to 31)");
	}
}

TEST_CASE("units: RNR timer codes", "[units]")
{
	const char *const all[32] = {"655.36 ms", "0.01 ms",  "0.02 ms",   "0.03 ms",	"0.04 ms",
				     "0.06 ms",	  "0.08 ms",  "0.12 ms",   "0.16 ms",	"0.24 ms",
				     "0.32 ms",	  "0.48 ms",  "0.64 ms",   "0.96 ms",	"1.28 ms",
				     "1.92 ms",	  "2.56 ms",  "3.84 ms",   "5.12 ms",	"7.68 ms",
				     "10.24 ms",  "15.36 ms", "20.48 ms",  "30.72 ms",	"40.96 ms",
				     "61.44 ms",  "81.92 ms", "122.88 ms", "163.84 ms", "245.76 ms",
				     "327.68 ms", "491.52 ms"};
	for (unsigned code = 0; code < 32; ++code)
		CHECK(said(add_rnr_timer, code) == all[code]);
	CHECK(rnr_timer_us(0) == 655360);
	CHECK(rnr_timer_us(1) == 10);
	CHECK(rnr_timer_us(13) == 960);
	CHECK(rnr_timer_us(31) == 491520);
	CHECK(rnr_timer_us(32) == 0);
	CHECK(said(add_rnr_timer, 32U) == "out of range (0 to 31)");
	CHECK(said(add_rnr_timer, 255U) == "out of range (0 to 31)");
}

TEST_CASE("units: path MTU", "[units]")
{
	const unsigned bytes[6] = {0, 256, 512, 1024, 2048, 4096};
	for (std::uint32_t mtu = 1; mtu <= 5; ++mtu) {
		CHECK(mtu_bytes(mtu) == bytes[mtu]);
		CHECK(said(add_path_mtu, mtu) == std::to_string(bytes[mtu]) + " bytes");
	}
	for (const std::uint32_t mtu : {0U, 6U, 7U, 32U, 0xffffffffU}) {
		CHECK(mtu_bytes(mtu) == 0);
		CHECK(said(add_path_mtu, mtu) == "not a path MTU (1 to 5)");
	}
}

TEST_CASE("units: retry counts", "[units]")
{
	CHECK(said(add_retry_cnt, 0U) == "never retried");
	CHECK(said(add_retry_cnt, 1U) == "1 retry");
	CHECK(said(add_retry_cnt, 7U) == "7 retries");
	CHECK(said(add_retry_cnt, 8U) == "out of range (0 to 7)");
	CHECK(said(add_rnr_retry, 0U) == "never retried");
	CHECK(said(add_rnr_retry, 6U) == "6 retries");
	CHECK(said(add_rnr_retry, 7U) == "retried for ever");
	CHECK(said(add_rnr_retry, 255U) == "out of range (0 to 7)");
}

TEST_CASE("units: static rates are those of libibverbs", "[units]")
{
	CHECK(said(add_static_rate, 0U) == "the port's rate");
	CHECK(said(add_static_rate, 1U) == "not a rate");
	CHECK(said(add_static_rate, 2U) == "2.5 Gb/s");
	CHECK(said(add_static_rate, 3U) == "10 Gb/s");
	CHECK(said(add_static_rate, 5U) == "5 Gb/s");
	CHECK(said(add_static_rate, 10U) == "120 Gb/s");
	CHECK(said(add_static_rate, 11U) == "14 Gb/s");
	CHECK(said(add_static_rate, 15U) == "25 Gb/s");
	CHECK(said(add_static_rate, 16U) == "100 Gb/s");
	CHECK(said(add_static_rate, 24U) == "1200 Gb/s");
	CHECK(said(add_static_rate, 25U) == "not a rate");
	CHECK(said(add_static_rate, 255U) == "not a rate");
	const unsigned nominal_mbps[25] = {0,	   0,	   2500,   10000,  30000,  5000,  20000,
					   40000,  60000,  80000,  120000, 14000,  56000, 112000,
					   168000, 25000,  100000, 200000, 300000, 28000, 50000,
					   400000, 600000, 800000, 1200000};
	for (std::uint32_t rate = 0; rate < 25; ++rate)
		CHECK(rate_mbps(rate) == nominal_mbps[rate]);
	CHECK(rate_mbps(25) == 0);
}

TEST_CASE("units: rate limit", "[units]")
{
	CHECK(said(add_rate_limit, 0U) == "no limit");
	CHECK(said(add_rate_limit, 250000U) == "250000 kb/s");
}

TEST_CASE("units: traffic class as DSCP and ECN", "[units]")
{
	CHECK(said(add_traffic_class, 0U) == "DSCP 0, ECN 0");
	CHECK(said(add_traffic_class, 104U) == "DSCP 26 (AF31), ECN 0");
	CHECK(said(add_traffic_class, 106U) == "DSCP 26 (AF31), ECN 2");
	CHECK(said(add_traffic_class, 0x28U) == "DSCP 10 (AF11), ECN 0");
	CHECK(said(add_traffic_class, 0x98U) == "DSCP 38 (AF43), ECN 0");
	CHECK(said(add_traffic_class, 0xb8U) == "DSCP 46 (EF), ECN 0");
	CHECK(said(add_traffic_class, 0xc0U) == "DSCP 48 (CS6), ECN 0");
	CHECK(said(add_traffic_class, 0x04U) == "DSCP 1, ECN 0");
	CHECK(said(add_traffic_class, 0x08U) == "DSCP 2, ECN 0");
	CHECK(said(add_traffic_class, 0xffU) == "DSCP 63, ECN 3");
}

TEST_CASE("units: hop limit", "[units]")
{
	CHECK(said(add_hop_limit, 0U) == "not forwarded by a router");
	CHECK(said(add_hop_limit, 1U) == "not forwarded by a router");
	CHECK(said(add_hop_limit, 64U) == "64 hops");
	CHECK(said(add_hop_limit, 255U) == "255 hops");
}

TEST_CASE("units: GIDs", "[units]")
{
	struct {
		const char *written;
		const char *meaning;
	} const all[] = {
		{"::ffff:10.0.0.1", "IPv4 10.0.0.1"},
		{"::ffff:255.255.255.255", "IPv4 255.255.255.255"},
		{"fe80::5054:ff:fe12:3456", "link-local"},
		{"febf::1", "link-local"},
		{"fd77::1", ""},
		{"2001:db8::1", ""},
		{"ff12:401b::1", "multicast"},
		{"::", "not set"},
		{"::1", ""},
	};
	for (const auto &each : all) {
		CHECK(said(add_gid, gid(each.written)) == each.written);
		CHECK(said(add_gid_meaning, gid(each.written)) == each.meaning);
	}
	// The longest one.
	ibv_gid long_one;
	for (std::uint8_t &byte : long_one.raw)
		byte = 0xab;
	CHECK(said(add_gid, long_one) == "abab:abab:abab:abab:abab:abab:abab:abab");
}

TEST_CASE("units: numbers as the field's tools print them", "[units]")
{
	CHECK(said(add_number24, 0U) == "0x000000");
	CHECK(said(add_number24, 17U) == "0x000011");
	CHECK(said(add_number24, 0xabcdefU) == "0xabcdef");
	CHECK(said(add_number24, 0xffffffffU) == "0xffffffff");
	CHECK(said(add_flow_label, 0xab12U) == "0x0ab12");
	CHECK(said(add_flow_label, 0xfffffU) == "0xfffff");
	CHECK(said(add_lid, 1U) == "0x0001");
	CHECK(said(add_lid, 0xc000U) == "0xc000");
}

TEST_CASE("units: Q_Keys", "[units]")
{
	CHECK(said(add_qkey_meaning, 0x01234567U) == "the rdma connection manager's own");
	CHECK(said(add_qkey_meaning, 0x80010000U) == "controlled: for privileged QPs");
	CHECK(said(add_qkey_meaning, 0U).empty());
}

TEST_CASE("units: time over its whole range", "[units]")
{
	struct {
		std::uint64_t ns;
		const char *written;
	} const all[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{9994, "9.99 us"},
		{9996, "10.0 us"},
		{99960, "100 us"},
		{1000000, "1.00 ms"},
		{1000000000, "1.00 s"},
		{119000000000, "119 s"},
		{120000000000, "2 min 0 s"},
		{179600000000, "3 min 0 s"},
		{7199000000000, "119 min 59 s"},
		{7200000000000, "2 h 0 min"},
		{0xffffffffffffffff, "5124095 h 35 min"},
	};
	for (const auto &each : all)
		CHECK(said(add_time, each.ns) == each.written);
}

TEST_CASE("units: a program's locale does not show", "[units]")
{
	// Where the system has such a locale at all.
	for (const char *name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"})
		if (std::setlocale(LC_ALL, name))
			break;
	CHECK(said(add_timeout, 14U) == "67.1 ms");
	CHECK(said(add_rnr_timer, 0U) == "655.36 ms");
	CHECK(said(add_static_rate, 2U) == "2.5 Gb/s");
	std::setlocale(LC_ALL, "C");
}
