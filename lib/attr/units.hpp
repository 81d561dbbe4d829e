// SPDX-License-Identifier: MIT
// What the coded attributes mean, in units that a person reads.
//
// The codes are the InfiniBand Architecture Specification's, volume 1: Local
// ACK Timeout, RNR NAK timer field (the table of TIMER values), path MTU, static
// rate. Fields are a byte wide where the wire has 3 or 5 bits, and the kernel
// hands some of them on unchecked, so values beyond a code's range occur; they
// are said to be out of range, never cut.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "lib/attr/text.hpp"

namespace qpattr::attr {

// --- as numbers ---

inline constexpr unsigned timeout_max = 31; // 5 bits
inline constexpr unsigned rnr_timer_max = 31;
inline constexpr unsigned retry_max = 7;	      // 3 bits
inline constexpr unsigned rnr_retry_for_ever = 7;     // of rnr_retry only
inline constexpr std::uint32_t number_max = 0xffffff; // PSNs, QP numbers: 24 bits

// 4.096 us * 2^exponent. 0: no timeout (exponent 0), or none that has a meaning
// (exponent above timeout_max).
[[nodiscard]] std::uint64_t timeout_ns(unsigned exponent) noexcept;

// The wait that a receiver asks for with an RNR NAK. 0 for a code above
// rnr_timer_max.
[[nodiscard]] std::uint32_t rnr_timer_us(unsigned code) noexcept;

// Bytes of an enum ibv_mtu; 0 for a value that is none.
[[nodiscard]] unsigned mtu_bytes(std::uint32_t mtu) noexcept;

// Nominal Mb/s of an enum ibv_rate: 100000 for IBV_RATE_100_GBPS. 0 for the
// port's own rate and for unknown values.
[[nodiscard]] unsigned rate_mbps(std::uint32_t rate) noexcept;

// --- as text ---

// A length of time with three digits that matter: "8.19 us", "67.1 ms",
// "2.15 s", "4 min 35 s", "2 h 27 min".
void add_time(text &to, std::uint64_t ns) noexcept;

void add_timeout(text &to, unsigned exponent) noexcept;	      // "67.1 ms"
void add_rnr_timer(text &to, unsigned code) noexcept;	      // "655.36 ms"
void add_path_mtu(text &to, std::uint32_t mtu) noexcept;      // "1024 bytes"
void add_retry_cnt(text &to, unsigned count) noexcept;	      // "7 retries"
void add_rnr_retry(text &to, unsigned count) noexcept;	      // "retried for ever"
void add_static_rate(text &to, std::uint32_t rate) noexcept;  // "the port's rate", "100 Gb/s"
void add_rate_limit(text &to, std::uint32_t kbps) noexcept;   // "no limit", "250000 kb/s"
void add_traffic_class(text &to, unsigned value) noexcept;    // "DSCP 26 (AF31), ECN 0"
void add_hop_limit(text &to, unsigned value) noexcept;	      // "not forwarded by a router"
void add_gid_meaning(text &to, const ibv_gid &gid) noexcept;  // "IPv4 10.0.0.1", "link-local"
void add_qkey_meaning(text &to, std::uint32_t qkey) noexcept; // "the default of the port space"

// Numbers the way that tools of the field print them.
void add_number24(text &to, std::uint32_t value) noexcept;   // PSN, QP number: 0x00002a
void add_flow_label(text &to, std::uint32_t value) noexcept; // 20 bits: 0x0ab12
void add_lid(text &to, unsigned value) noexcept;	     // 0x0001
void add_gid(text &to, const ibv_gid &gid) noexcept;	     // IPv6 text, ::ffff:10.0.0.1

} // namespace qpattr::attr
