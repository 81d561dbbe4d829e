// SPDX-License-Identifier: MIT
// Traces as the preload object would have written them of connections that never were.
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/attr/fields.hpp"
#include "lib/attr/names.hpp"

namespace fake {

using json = nlohmann::ordered_json;

// One end; change what the test is about.
struct end {
	bool active = true;
	bool datagram = false;
	std::string program = "prog";
	std::uint64_t pid = 100;
	std::string id = "0x1000";
	std::optional<std::string> device = "mlx5_0";
	std::optional<std::uint64_t> qp_num = 17;
	std::optional<std::string> src = "10.0.0.1:40000";
	std::optional<std::string> dst = "10.0.0.2:7174";
	ibv_qp_attr attr{};
	std::string fails; // this state is answered EINVAL: "RTR"
	json overrides = json::array();
	std::uint64_t time_ns = 1000;
};

inline void set_gid(ibv_qp_attr &attr, const char *gid)
{
	::inet_pton(AF_INET6, gid, attr.ah_attr.grh.dgid.raw);
}

// The two ends of a connection that fits and has nothing to find.
inline std::pair<end, end> connection()
{
	end client, server;
	ibv_qp_attr &a = client.attr;
	a.path_mtu = IBV_MTU_1024;
	a.rq_psn = 0x111111;
	a.sq_psn = 0x222222;
	a.dest_qp_num = 18;
	a.qp_access_flags = 0xe;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = a.port_num = 1;
	a.ah_attr.grh.flow_label = 0x1234;
	a.ah_attr.grh.sgid_index = 3;
	a.ah_attr.grh.hop_limit = 64;
	a.ah_attr.grh.traffic_class = 104;
	a.max_rd_atomic = a.max_dest_rd_atomic = 16;
	a.min_rnr_timer = 12;
	a.timeout = 16;
	a.retry_cnt = a.rnr_retry = 7;
	set_gid(a, "::ffff:10.0.0.2");
	server.attr = a;
	server.active = false;
	server.pid = 200;
	server.id = "0x2000";
	server.qp_num = 18;
	std::swap(server.attr.rq_psn, server.attr.sq_psn);
	server.attr.dest_qp_num = 17;
	std::swap(server.src, server.dst);
	set_gid(server.attr, "::ffff:10.0.0.1");
	return {client, server};
}

inline json call_of(const end &of, const char *asked, std::uint32_t mask, std::uint32_t state,
		    std::uint64_t seq)
{
	using namespace qpattr::attr;
	const bool fails = of.fails == asked;
	ibv_qp_attr attr = of.attr;
	attr.qp_state = static_cast<ibv_qp_state>(state);
	if (seq == 1 && of.active)
		attr.qp_access_flags = 0;
	const auto maybe = [](const auto &value) { return value ? json(*value) : json{}; };
	json attributes = json::object();
	json names = json::array();
	for (const attribute &each : qpattr::attr::attributes) {
		if (fails || !in_mask(each, mask))
			continue;
		text_of<128> value, meaning;
		add_value(value, each, attr);
		add_meaning(meaning, each, attr);
		json &one = attributes[each.name] = {{"value", value.c_str()}};
		if (each.kind != unit::gid)
			one["number"] = value_number(each, attr);
		if (!meaning.empty())
			one["meaning"] = meaning.c_str();
	}
	for (unsigned bit = 0; !fails && bit < 32; ++bit)
		if (mask & 1U << bit)
			names.push_back(mask_bit_name(1U << bit));
	return {{"qpattr", 1},
		{"type", "call"},
		{"seq", seq},
		{"time_ns", of.time_ns + seq},
		{"duration_ns", 5000},
		{"pid", of.pid},
		{"tid", of.pid},
		{"program", of.program},
		{"id", of.id},
		{"handle", 1},
		{"device", maybe(of.device)},
		{"port", 1},
		{"port_space", of.datagram ? "UDP" : "TCP"},
		{"qp_type", of.datagram ? "UD" : "RC"},
		{"qp_num", maybe(of.qp_num)},
		{"src", maybe(of.src)},
		{"dst", maybe(of.dst)},
		{"asked", asked},
		{"result", fails ? -1 : 0},
		{"errno", fails ? json("EINVAL") : json{}},
		{"errno_number", fails ? json(22) : json{}},
		{"served_by", "qpattr"},
		{"mask", fails ? 0 : mask},
		{"mask_names", names},
		{"attributes", attributes},
		{"matched", json::array()},
		{"overrides", std::string{asked} == "RTS" ? of.overrides : json::array()},
		{"refused", json::array()},
		{"lost", 0}};
}

inline std::string trace_of(const std::vector<end> &ends)
{
	std::string out;
	const auto add = [&](const json &record) { out += record.dump() + "\n"; };
	for (const end &each : ends) {
		std::uint64_t seq = 0;
		if (each.datagram) {
			add(call_of(each, "INIT", 0x71, IBV_QPS_INIT, ++seq));
			continue;
		}
		if (each.active)
			add(call_of(each, "INIT", 0x39, IBV_QPS_INIT, ++seq));
		else
			++seq;
		add(call_of(each, "INIT", 0x39, IBV_QPS_INIT, ++seq));
		add(call_of(each, "RTR", 0x129181, IBV_QPS_RTR, ++seq));
		add(call_of(each, "RTS", 0x12e01, IBV_QPS_RTS, ++seq));
	}
	return out;
}

} // namespace fake
