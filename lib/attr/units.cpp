// SPDX-License-Identifier: MIT
#include "lib/attr/units.hpp"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <netinet/in.h>

namespace qpattr::attr {
namespace {

// TIMER values of the RNR NAK by code, in units of 10 us.
constexpr std::array<std::uint32_t, rnr_timer_max + 1> rnr_timers_10us{
	65536, 1,    2,	   3,	  4,	 6,	8,     12,    // 0 to 7
	16,    24,   32,   48,	  64,	 96,	128,   192,   // 8 to 15
	256,   384,  512,  768,	  1024,	 1536,	2048,  3072,  // 16 to 23
	4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152, // 24 to 31
};

// Nominal rates by enum ibv_rate, in units of 100 Mb/s. 0: no rate.
constexpr std::array<std::uint16_t, 25> rates_100mbps{
	0,     0,    25,   100, 300, 50,   200,	 400,  // 2: 2.5 Gb/s; 3: 10; 4: 30; 5: 5
	600,   800,  1200, 140, 560, 1120, 1680, 250,  // 11: 14 Gb/s; 12: 56; 15: 25
	1000,  2000, 3000, 280, 500, 4000, 6000, 8000, // 16: 100 Gb/s; 19: 28; 20: 50
	12000,
};
static_assert(IBV_RATE_10_GBPS == 3 && IBV_RATE_5_GBPS == 5 && IBV_RATE_80_GBPS == 9);
static_assert(IBV_RATE_56_GBPS == 12 && IBV_RATE_25_GBPS == 15 && IBV_RATE_50_GBPS == 20);

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;
constexpr std::uint64_t s = 1000 * ms;
constexpr std::uint64_t minute = 60 * s;
constexpr std::uint64_t hour = 60 * minute;

// Without a sum that could overflow.
unsigned rounded(std::uint64_t ns, std::uint64_t unit) noexcept
{
	return static_cast<unsigned>(ns / unit + (ns % unit >= unit / 2 ? 1 : 0));
}

// `ns` in `unit` with three digits that matter. By integers: printf's %f would
// write the decimal point of the host program's locale.
void add_scaled(text &to, std::uint64_t ns, std::uint64_t unit, const char *name) noexcept
{
	const unsigned hundredths = rounded(ns, unit / 100);
	const unsigned tenths = rounded(ns, unit / 10);
	if (hundredths < 1000)
		to.addf("%u.%02u %s", hundredths / 100, hundredths % 100, name);
	else if (tenths < 1000)
		to.addf("%u.%u %s", tenths / 10, tenths % 10, name);
	else
		to.addf("%u %s", rounded(ns, unit), name);
}

// The names of the code points that have one: class selector (RFC 2474),
// assured forwarding by class and drop precedence (RFC 2597), expedited
// forwarding (RFC 3246).
void add_dscp_name(text &to, unsigned dscp) noexcept
{
	if (dscp == 0)
		return;
	if (dscp == 46)
		to.add(" (EF)");
	else if (dscp % 8 == 0)
		to.addf(" (CS%u)", dscp / 8);
	else if (dscp % 2 == 0 && dscp / 8 >= 1 && dscp / 8 <= 4)
		to.addf(" (AF%u%u)", dscp / 8, dscp % 8 / 2);
}

bool is_ipv4(const ibv_gid &gid) noexcept
{
	constexpr std::uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	return std::memcmp(gid.raw, prefix, sizeof prefix) == 0;
}

} // namespace

std::uint64_t timeout_ns(unsigned exponent) noexcept
{
	if (exponent == 0 || exponent > timeout_max)
		return 0;
	return std::uint64_t{4096} << exponent;
}

std::uint32_t rnr_timer_us(unsigned code) noexcept
{
	return code <= rnr_timer_max ? rnr_timers_10us[code] * 10 : 0;
}

unsigned mtu_bytes(std::uint32_t mtu) noexcept
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << mtu : 0;
}

unsigned rate_mbps(std::uint32_t rate) noexcept
{
	return rate < rates_100mbps.size() ? rates_100mbps[rate] * 100U : 0;
}

void add_time(text &to, std::uint64_t ns) noexcept
{
	if (ns < us)
		to.addf("%u ns", static_cast<unsigned>(ns));
	else if (ns < ms)
		add_scaled(to, ns, us, "us");
	else if (ns < s)
		add_scaled(to, ns, ms, "ms");
	else if (ns < 2 * minute)
		add_scaled(to, ns, s, "s");
	else if (ns < 2 * hour)
		to.addf("%u min %u s", rounded(ns, s) / 60, rounded(ns, s) % 60);
	else
		to.addf("%u h %u min", rounded(ns, minute) / 60, rounded(ns, minute) % 60);
}

void add_timeout(text &to, unsigned exponent) noexcept
{
	if (exponent == 0)
		to.add("no timeout (waits for ever)");
	else if (exponent > timeout_max)
		to.add("out of range (0 to 31)");
	else
		add_time(to, timeout_ns(exponent));
}

void add_rnr_timer(text &to, unsigned code) noexcept
{
	if (code > rnr_timer_max)
		to.add("out of range (0 to 31)");
	else
		to.addf("%u.%02u ms", rnr_timers_10us[code] / 100, rnr_timers_10us[code] % 100);
}

void add_path_mtu(text &to, std::uint32_t mtu) noexcept
{
	if (const unsigned bytes = mtu_bytes(mtu))
		to.addf("%u bytes", bytes);
	else
		to.add("not a path MTU (1 to 5)");
}

void add_retry_cnt(text &to, unsigned count) noexcept
{
	if (count > retry_max)
		to.add("out of range (0 to 7)");
	else if (count == 0)
		to.add("never retried");
	else
		to.addf("%u %s", count, count == 1 ? "retry" : "retries");
}

void add_rnr_retry(text &to, unsigned count) noexcept
{
	if (count == rnr_retry_for_ever)
		to.add("retried for ever");
	else
		add_retry_cnt(to, count);
}

void add_static_rate(text &to, std::uint32_t rate) noexcept
{
	if (rate == IBV_RATE_MAX)
		to.add("the port's rate");
	else if (const unsigned mbps = rate_mbps(rate); mbps == 0)
		to.add("not a rate");
	else if (mbps % 1000)
		to.addf("%u.%u Gb/s", mbps / 1000, mbps % 1000 / 100);
	else
		to.addf("%u Gb/s", mbps / 1000);
}

void add_rate_limit(text &to, std::uint32_t kbps) noexcept
{
	if (kbps == 0)
		to.add("no limit");
	else
		to.addf("%u kb/s", kbps);
}

void add_traffic_class(text &to, unsigned value) noexcept
{
	to.addf("DSCP %u", value >> 2);
	add_dscp_name(to, value >> 2);
	to.addf(", ECN %u", value & 3);
}

void add_hop_limit(text &to, unsigned value) noexcept
{
	if (value <= 1)
		to.add("not forwarded by a router");
	else
		to.addf("%u hops", value);
}

void add_gid(text &to, const ibv_gid &gid) noexcept
{
	char line[INET6_ADDRSTRLEN];
	if (::inet_ntop(AF_INET6, gid.raw, line, sizeof line))
		to.add(line);
}

void add_gid_meaning(text &to, const ibv_gid &gid) noexcept
{
	constexpr std::uint8_t zero[sizeof gid.raw] = {};
	if (std::memcmp(gid.raw, zero, sizeof zero) == 0)
		to.add("not set");
	else if (is_ipv4(gid))
		to.addf("IPv4 %u.%u.%u.%u", gid.raw[12], gid.raw[13], gid.raw[14], gid.raw[15]);
	else if (gid.raw[0] == 0xff)
		to.add("multicast");
	else if (gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80)
		to.add("link-local");
}

void add_qkey_meaning(text &to, std::uint32_t qkey) noexcept
{
	// RDMA_UDP_QKEY of <rdma/rdma_cma.h>, which cannot be included here.
	if (qkey == 0x01234567)
		to.add("the rdma connection manager's own");
	else if (qkey & 0x80000000)
		to.add("controlled: for privileged QPs");
}

void add_number24(text &to, std::uint32_t value) noexcept
{
	to.addf("0x%06x", value);
}

void add_flow_label(text &to, std::uint32_t value) noexcept
{
	to.addf("0x%05x", value);
}

void add_lid(text &to, unsigned value) noexcept
{
	to.addf("0x%04x", value);
}

} // namespace qpattr::attr
