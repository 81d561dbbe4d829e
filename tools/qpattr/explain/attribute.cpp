// SPDX-License-Identifier: MIT
// An attribute: alone, the table of its codes; with a value, what that is and what
// follows from it.
#include <arpa/inet.h>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "lib/attr/lint.hpp"
#include "lib/attr/names.hpp"
#include "lib/attr/origin.hpp"
#include "lib/attr/parse.hpp"
#include "lib/attr/units.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/explain/explain.hpp"
#include "tools/qpattr/explain/follows.hpp"

namespace qpattr::tool {
namespace {

// What programs, options and people call them.
struct alias {
	const char *name;
	const char *attribute;
};
constexpr std::array aliases{
	alias{"rnr", "min_rnr_timer"},
	alias{"rnr_timer", "min_rnr_timer"},
	alias{"mtu", "path_mtu"},
	alias{"retry", "retry_cnt"},
	alias{"retries", "retry_cnt"},
	alias{"retry_count", "retry_cnt"},
	alias{"rnr_retry_count", "rnr_retry"},
	alias{"ack_timeout", "timeout"},
	alias{"responder_resources", "max_dest_rd_atomic"},
	alias{"initiator_depth", "max_rd_atomic"},
	alias{"max_qp_rd_atomic", "max_rd_atomic"},
	alias{"tclass", "ah_attr.grh.traffic_class"},
	alias{"tos", "ah_attr.grh.traffic_class"},
	alias{"dscp", "ah_attr.grh.traffic_class"},
	alias{"gid_index", "ah_attr.grh.sgid_index"},
	alias{"dest_qpn", "dest_qp_num"},
	alias{"access_flags", "qp_access_flags"},
	alias{"access", "qp_access_flags"},
	alias{"state", "qp_state"},
};

struct about {
	const char *name;
	const char *what;
};
constexpr std::array abouts{
	about{"qp_state", "the state that the QP is moved to"},
	about{"cur_qp_state", "the state that the program believes the QP to be in"},
	about{"path_mtu", "the payload of the largest packet; longer messages are split"},
	about{"path_mig_state", "whether the QP may change to its alternate path"},
	about{"qkey", "the key that a datagram must carry to be received"},
	about{"rq_psn", "the packet sequence number that is expected first"},
	about{"sq_psn", "the packet sequence number that is sent first"},
	about{"dest_qp_num", "the peer's QP"},
	about{"qp_access_flags", "what the peer may do to this side's memory"},
	about{"ah_attr.grh.dgid", "the peer's GID"},
	about{"ah_attr.grh.flow_label",
	      "of the IPv6 header; on RoCE v2 drivers make the UDP source port of it, by which "
	      "switches spread connections over paths"},
	about{"ah_attr.grh.sgid_index",
	      "which entry of the port's GID table packets are sent from: it decides on address, "
	      "VLAN and RoCE version"},
	about{"ah_attr.grh.hop_limit", "through how many routers packets may go"},
	about{"ah_attr.grh.traffic_class", "DSCP and ECN: which queue of the switches"},
	about{"ah_attr.dlid", "the peer's local identifier (InfiniBand)"},
	about{"ah_attr.sl", "the service level; on RoCE the VLAN priority"},
	about{"ah_attr.src_path_bits", "which of the port's LIDs is the source"},
	about{"ah_attr.static_rate", "the rate that packets are held to"},
	about{"ah_attr.is_global", "whether packets have a global route header; always on RoCE"},
	about{"ah_attr.port_num", "the port packets leave by"},
	about{"pkey_index", "which entry of the port's P_Key table is the QP's partition"},
	about{"max_rd_atomic", "how many READs and atomics of this side are on the way at a time"},
	about{"max_dest_rd_atomic",
	      "how many READs and atomics of the peer are answered at a time"},
	about{"min_rnr_timer",
	      "how long the peer is asked to wait if it sends and no receive is posted here (RNR: "
	      "receiver not ready)"},
	about{"port_num", "the port of the device"},
	about{"timeout",
	      "how long a request waits for its acknowledgement before it is sent again"},
	about{"retry_cnt", "how often a request is sent again before the connection fails"},
	about{"rnr_retry",
	      "how often a message is sent again to a peer that has no receive posted"},
	about{"rate_limit", "the rate that the QP is held to"},
};

const char *about_of(const attr::attribute &what)
{
	for (const about &each : abouts)
		if (std::strcmp(each.name, what.name) == 0)
			return each.what;
	return "";
}

std::string value_of(const attr::attribute &what, const ibv_qp_attr &attr)
{
	return spelled([&](attr::text &to) { attr::add_value(to, what, attr); });
}

std::string meaning_of(const attr::attribute &what, const ibv_qp_attr &attr)
{
	return spelled([&](attr::text &to) { attr::add_meaning(to, what, attr); });
}

struct value {
	ibv_qp_attr attr{};
	std::string said; // how units became a code; empty where a code was given
};

[[noreturn]] void no_value(const attr::attribute &what, const std::string &written,
			   const std::string &why)
{
	throw failure{fmt::format("{} {}: {}", what.name, cut(harmless(written), 40), why),
		      usage_status};
}

bool has_unit_that_is_no_number(const attr::attribute &what, std::uint64_t number)
{
	// path_mtu 1024 is bytes, not a code.
	return what.kind == attr::unit::path_mtu && number > IBV_MTU_4096;
}

value value_named(const attr::attribute &what, std::string written, bool dscp)
{
	value out;
	if (what.kind == attr::unit::gid) {
		ibv_gid gid;
		std::string address = written;
		if (address.find(':') == std::string::npos)
			address.insert(0, "::ffff:");
		if (::inet_pton(AF_INET6, address.c_str(), gid.raw) != 1)
			no_value(what, written, "a GID is written as an IPv6 address");
		std::memcpy(reinterpret_cast<unsigned char *>(&out.attr) + what.offset, gid.raw,
			    sizeof gid.raw);
		return out;
	}
	if (dscp && written.find(':') == std::string::npos)
		written.insert(0, "dscp:");
	if (what.kind == attr::unit::qp_state)
		if (const auto state = state_named(written)) {
			attr::store_number(out.attr, what, *state);
			return out;
		}
	if (const auto number = number_of(written);
	    number && !has_unit_that_is_no_number(what, *number)) {
		if (*number >> (8 * what.len))
			no_value(what, written,
				 fmt::format("the attribute has {} bytes, at most {}", what.len,
					     (std::uint64_t{1} << (8 * what.len)) - 1));
		attr::store_number(out.attr, what, static_cast<std::uint32_t>(*number));
		return out;
	}
	attr::setting set;
	attr::text_of<320> why;
	if (attr::why_not_settable(what))
		no_value(what, written, "write it as a number");
	if (!attr::parse_setting(what.name, written, set, why))
		throw failure{why.c_str(), usage_status};
	attr::store_number(out.attr, what, set.number);
	out.said = spelled([&](attr::text &to) { attr::add_setting(to, set, written); });
	return out;
}

// The last code worth a row; of an attribute that has none, 0.
std::uint32_t last_code(const attr::attribute &what)
{
	switch (what.kind) {
	case attr::unit::timeout:
		return attr::timeout_max;
	case attr::unit::rnr_timer:
		return attr::rnr_timer_max;
	case attr::unit::retry_cnt:
	case attr::unit::rnr_retry:
		return attr::retry_max;
	case attr::unit::path_mtu:
		return IBV_MTU_4096;
	case attr::unit::qp_state:
		return IBV_QPS_ERR;
	case attr::unit::mig_state:
		return IBV_MIG_ARMED;
	case attr::unit::static_rate:
	case attr::unit::traffic_class:
	case attr::unit::access_flags:
		return UINT8_MAX;
	default:
		return 0;
	}
}

// Codes that are none, or that nobody would look for in a table.
bool worth_a_row(const attr::attribute &what, std::uint32_t code)
{
	switch (what.kind) {
	case attr::unit::path_mtu:
		return attr::mtu_bytes(code) != 0;
	case attr::unit::static_rate:
		return code == 0 || attr::rate_mbps(code) != 0;
	case attr::unit::traffic_class: {
		ibv_qp_attr attr{};
		attr::store_number(attr, what, code);
		return code == 0 || (code & 3) == 0
			       ? code == 0 || meaning_of(what, attr).find('(') != std::string::npos
			       : false;
	}
	case attr::unit::access_flags:
		return false; // by bit
	default:
		return true;
	}
}

grid codes_of(const attr::attribute &what)
{
	grid out;
	out.heads = {"value", "means"};
	if (what.kind == attr::unit::access_flags) {
		for (unsigned bit = 0; bit < 32; ++bit)
			if (const char *name = attr::access_bit_name(1U << bit))
				out.rows.push_back({fmt::format("{:#x}", 1U << bit), name});
		return out;
	}
	for (std::uint32_t code = 0; last_code(what) && code <= last_code(what); ++code) {
		if (!worth_a_row(what, code))
			continue;
		ibv_qp_attr attr{};
		attr::store_number(attr, what, code);
		std::string number = fmt::format("{}", code);
		if (what.kind == attr::unit::traffic_class)
			number += fmt::format(" (0x{:02x})", code);
		std::string means = meaning_of(what, attr);
		if (what.kind == attr::unit::qp_state || what.kind == attr::unit::mig_state)
			means = fmt::format("{}{}{}", value_of(what, attr), means.empty() ? "" : ", ", means);
		out.rows.push_back({number, means});
	}
	return out.rows.empty() ? grid{} : out;
}

std::string where_set(const attr::attribute &what)
{
	const char *const bit = attr::mask_bit_name(what.mask_bit);
	std::string bits =
		bit ? fmt::format("mask bit {} ({:#x})", bit, what.mask_bit) : "no bit of the mask";
	const ibv_qp_state state = attr::transition_of(what);
	if (state == IBV_QPS_UNKNOWN)
		return bits;
	return fmt::format("the transition to {}, {}", attr::qp_state_name(state), bits);
}

std::string how_changed(const attr::attribute &what)
{
	if (const char *why = attr::why_not_settable(what))
		return std::string{"cannot be overridden: "} + why;
	const std::string name = what.name;
	const std::size_t dot = name.rfind('.');
	std::string shown = dot == std::string::npos ? name : name.substr(dot + 1);
	if (attr::find_short_name(shown) != &what)
		shown = name;
	return fmt::format("qpattr run --set {}=VALUE -- PROGRAM", shown);
}

// Findings about this attribute, all else being in order.
std::vector<remark> findings_about(const attr::attribute &what, const ibv_qp_attr &given)
{
	ibv_qp_attr attr{};
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid.raw[10] = attr.ah_attr.grh.dgid.raw[11] = 0xff;
	attr.ah_attr.grh.dgid.raw[12] = 10;
	attr.ah_attr.grh.hop_limit = 64;
	std::memcpy(reinterpret_cast<unsigned char *>(&attr) + what.offset,
		    reinterpret_cast<const unsigned char *>(&given) + what.offset, what.len);
	attr::findings found;
	attr::lint(attr, what.mask_bit & ~std::uint32_t{IBV_QP_STATE}, {}, found);
	std::vector<remark> out;
	for (remark &each : remarks_of(found))
		if (each.about == what.name)
			out.push_back(std::move(each));
	return out;
}

void add_general_facts(section &to, const attr::attribute &what)
{
	if (const char *text = about_of(what); *text)
		to.facts.push_back({"is", text});
	to.facts.push_back({"set in", where_set(what)});
	if (const char *from = attr::origin_of(what); *from)
		to.facts.push_back({"comes from", from});
	to.facts.push_back({"change", how_changed(what)});
}

} // namespace

const attr::attribute *attribute_named(std::string_view name)
{
	std::string wanted = lower(name);
	for (const alias &each : aliases)
		if (wanted == each.name)
			return attr::find_attribute(each.attribute);
	return attr::find_short_name(wanted);
}

void add_attribute_names(std::vector<std::string> &to)
{
	for (const attr::attribute &each : attr::attributes) {
		const std::string name = each.name;
		to.push_back(name);
		const std::size_t dot = name.rfind('.');
		if (dot != std::string::npos &&
		    attr::find_short_name(name.substr(dot + 1)) == &each)
			to.push_back(name.substr(dot + 1));
	}
	for (const alias &each : aliases)
		to.emplace_back(each.name);
}

std::optional<page> explain_attribute(const words &said)
{
	const attr::attribute *const what = attribute_named(said.front());
	if (!what)
		return std::nullopt;
	page out;
	section main;
	out.data["kind"] = "attribute";
	out.data["attribute"] = what->name;
	out.data["mask_bit"] = what->mask_bit;
	const ibv_qp_state state = attr::transition_of(*what);
	out.data["transition"] =
		state == IBV_QPS_UNKNOWN ? nlohmann::ordered_json{} : attr::qp_state_name(state);
	if (said.size() == 1) {
		main.title = what->name;
		add_general_facts(main, *what);
		main.table = codes_of(*what);
		out.sections.push_back(main);
		return out;
	}
	// "4 min 35 s" and "dscp: 46" may come in several words.
	std::string written = said[1];
	for (std::size_t i = 2; i < said.size(); ++i)
		written += " " + said[i];
	const value given = value_named(*what, written, lower(said.front()) == "dscp");
	const std::string value = value_of(*what, given.attr);
	const std::string meaning = meaning_of(*what, given.attr);
	main.title = what->name + std::string{" "} + value;
	if (!meaning.empty())
		main.title += " = " + meaning;
	out.data["value"] = value;
	if (what->kind != attr::unit::gid)
		out.data["number"] = attr::value_number(*what, given.attr);
	out.data["meaning"] = meaning;
	add_general_facts(main, *what);
	if (!given.said.empty())
		main.facts.insert(main.facts.begin(), {"written", given.said});
	for (fact &each : what_follows(*what, attr::value_number(*what, given.attr)))
		main.facts.push_back(std::move(each));
	main.remarks = findings_about(*what, given.attr);
	out.sections.push_back(main);
	return out;
}

} // namespace qpattr::tool
