// SPDX-License-Identifier: MIT
// A mask of attributes: whose transition it is; and a state: what is asked for it.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "lib/attr/lint.hpp"
#include "lib/attr/names.hpp"
#include "lib/attr/origin.hpp"
#include "tools/qpattr/explain/explain.hpp"

namespace qpattr::tool {
namespace {

constexpr std::uint32_t any_state = IBV_QPS_UNKNOWN;

// What ibv_modify_qp(3) lets a transition have besides, of the bits that occur.
std::uint32_t optional_bits(std::uint32_t state)
{
	switch (state) {
	case IBV_QPS_RTR:
		return IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;
	case IBV_QPS_RTS:
		return IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
		       IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE;
	default:
		return 0;
	}
}

std::string names_of(std::uint32_t mask)
{
	return spelled([&](attr::text &to) { attr::add_mask(to, mask); });
}

std::string state_name(std::uint32_t state)
{
	return spelled([&](attr::text &to) { attr::add_qp_state(to, state); });
}

std::string described(const known_mask &known)
{
	std::string out = known.types;
	out += known.state == any_state ? ", every state" : ", to " + state_name(known.state);
	if (*known.when)
		out += std::string{" "} + known.when;
	return out;
}

// "ah_attr.*" for the eleven fields of an address.
std::string attributes_of(std::uint32_t bit)
{
	if (bit == IBV_QP_AV)
		return "ah_attr.*, the address of the peer";
	if (bit == IBV_QP_ALT_PATH)
		return "alt_ah_attr.*, alt_port_num, alt_timeout, alt_pkey_index";
	if (bit == IBV_QP_CAP)
		return "cap.*";
	for (const attr::attribute &each : attr::attributes)
		if (each.mask_bit == bit)
			return each.name;
	return bit & attr::mask_reserved ? "reserved: ibv_modify_qp() refuses it" : "not known";
}

std::string transition_of_bit(std::uint32_t bit)
{
	for (const attr::attribute &each : attr::attributes)
		if (each.mask_bit == bit) {
			const ibv_qp_state state = attr::transition_of(each);
			return state == IBV_QPS_UNKNOWN ? "" : state_name(state);
		}
	return "";
}

std::optional<std::uint32_t> bits_named(const std::string &text)
{
	std::uint32_t out = 0;
	std::size_t at = 0;
	do {
		const std::size_t end = std::min(text.find_first_of("|+", at), text.size());
		std::string name = upper(text.substr(at, end - at));
		if (name.rfind("IBV_QP_", 0) == 0)
			name.erase(0, 7);
		std::uint32_t bit = 0;
		for (unsigned i = 0; i < 32; ++i)
			if (const char *known = attr::mask_bit_name(1U << i);
			    known && name == known)
				bit = 1U << i;
		if (const auto number = number_of(name); !bit && number && *number <= UINT32_MAX)
			bit = static_cast<std::uint32_t>(*number);
		if (!bit)
			return std::nullopt;
		out |= bit;
		at = end + 1;
	} while (at <= text.size());
	return out;
}

// The words joined by '|', as they may be copied with spaces between.
std::optional<std::uint32_t> mask_of(const words &said)
{
	std::string whole;
	for (const std::string &each : said)
		if (each != "|")
			whole += (whole.empty() || whole.back() == '|' || each.front() == '|'
					  ? ""
					  : "|") +
				 each;
	if (said.size() == 1)
		if (const auto number = number_of(whole))
			return *number <= UINT32_MAX
				       ? std::optional{static_cast<std::uint32_t>(*number)}
				       : std::nullopt;
	return bits_named(whole);
}

std::vector<std::string> bit_row(std::uint32_t bit)
{
	const char *const name = attr::mask_bit_name(bit);
	return {name ? name : "?", fmt::format("{:#x}", bit), transition_of_bit(bit),
		attributes_of(bit)};
}

grid bits_table(std::uint32_t mask)
{
	grid out;
	if (!mask)
		return out;
	out.heads = {"bit", "", "set in", "attribute"};
	for (unsigned i = 0; i < 32; ++i)
		if (mask & 1U << i)
			out.rows.push_back(bit_row(1U << i));
	return out;
}

void add_whose(section &to, std::uint32_t mask, nlohmann::ordered_json &data)
{
	auto &transitions = data["transitions"] = nlohmann::ordered_json::array();
	const known_mask *like = nullptr;
	for (const known_mask &known : known_masks()) {
		if (known.mask == mask) {
			to.facts.push_back({"is", described(known)});
			transitions.push_back(
				{{"qp_types", known.types},
				 {"state",
				  known.state == any_state ? "any" : state_name(known.state)}});
			like = &known;
		}
	}
	if (like) {
		if (mask == IBV_QP_PORT || mask == (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)) {
			to.facts.push_back({"next", "STATE is not in it: there is nothing for "
						    "ibv_modify_qp() to move"});
			return;
		}
		if (const std::uint32_t more = optional_bits(like->state) & ~mask)
			to.facts.push_back({"not in it", names_of(more) +
								 ": verbs allow it in this "
								 "transition and do not need it"});
		to.facts.push_back({"next", "ibv_modify_qp() with exactly this mask"});
		return;
	}
	for (const known_mask &known : known_masks())
		if (!like || std::popcount(known.mask ^ mask) < std::popcount(like->mask ^ mask))
			like = &known;
	to.facts.push_back({"is", "no answer of the connection manager that is known"});
	if (!like || !mask)
		return;
	std::string text = fmt::format("{:#x} ({})", like->mask, described(*like));
	if (const std::uint32_t lacks = like->mask & ~mask)
		text += ", of which it lacks " + names_of(lacks);
	if (const std::uint32_t more = mask & ~like->mask)
		text += std::string{", and it has "} + names_of(more) + " besides";
	to.facts.push_back({"nearest", text});
	data["nearest"] = like->mask;
}

} // namespace

const std::vector<known_mask> &known_masks()
{
	static const std::vector<known_mask> all{
		{0x39, IBV_QPS_INIT, "RC, UC, XRC", ""},
		{0x39, any_state, "RC, UC, XRC", "before the connection: INIT's attributes"},
		{0x71, any_state, "UD", "always: the program sets sq_psn itself"},
		{0x129181, IBV_QPS_RTR, "RC, XRC_TGT", ""},
		{0x12e01, IBV_QPS_RTS, "RC, XRC_INI", ""},
		{0x101181, IBV_QPS_RTR, "UC, XRC_INI", ""},
		{0x10001, IBV_QPS_RTS, "UC", ""},
		{0x10201, IBV_QPS_RTS, "XRC_TGT", ""},
		{0x12d181, IBV_QPS_RTR, "RC, XRC_TGT", "with an alternate path"},
		{0x52e01, IBV_QPS_RTS, "RC, XRC_INI", "with an alternate path"},
		{0x44000, IBV_QPS_RTS, "RC", "after the path has migrated"},
		{0x29, any_state, "iWARP", "(INIT and RTR)"},
		{0x20, IBV_QPS_RTS, "iWARP", "(the driver moves the QP by itself)"},
	};
	return all;
}

std::optional<page> explain_mask(const words &said)
{
	const std::optional<std::uint32_t> mask = mask_of(said);
	if (!mask)
		return std::nullopt;
	page out;
	out.data["kind"] = "mask";
	out.data["mask"] = *mask;
	out.data["mask_names"] = nlohmann::ordered_json::array();
	for (unsigned i = 0; i < 32; ++i)
		if (*mask & 1U << i)
			out.data["mask_names"].push_back(names_of(1U << i));
	section main;
	main.title = fmt::format("mask {:#x} = {}", *mask, names_of(*mask));
	add_whose(main, *mask, out.data);
	main.table = bits_table(*mask);
	attr::findings found;
	attr::lint({}, *mask & attr::mask_reserved, {}, found);
	main.remarks = remarks_of(found);
	out.sections.push_back(main);
	return out;
}

std::optional<page> explain_state(const words &said)
{
	const std::optional<std::uint32_t> state = state_named(said.front());
	if (!state || said.size() > 1)
		return std::nullopt;
	const std::string name = state_name(*state);
	page out;
	out.data["kind"] = "state";
	out.data["state"] = name;
	section main;
	main.title = fmt::format("{}: {}", name, attr::qp_state_long_name(*state));
	main.table.heads = {"QP", "mask", "attributes"};
	const bool moved = *state >= IBV_QPS_INIT && *state <= IBV_QPS_RTS;
	for (const known_mask &known : known_masks())
		if (known.state == *state || (known.state == any_state && known.mask == 0x71))
			main.table.rows.push_back(
				{*known.when ? fmt::format("{} {}", known.types, known.when)
					     : known.types,
				 fmt::format("{:#x}", known.mask), names_of(known.mask)});
	if (moved) {
		main.facts.push_back(
			{"asked",
			 *state == IBV_QPS_INIT
				 ? "once the id has a device (bound or resolved), and again once "
				   "the "
				   "connection is known: only then are the access flags given"
				 : "active side: after CONNECT_RESPONSE; passive side: after "
				   "CONNECT_REQUEST. Before, it is EINVAL or INIT's answer"});
		section from;
		from.title = "where the values come from";
		for (const attr::attribute &each : attr::attributes)
			if (attr::transition_of(each) == static_cast<ibv_qp_state>(*state) &&
			    each.mask_bit != IBV_QP_ALT_PATH)
				from.facts.push_back({each.name, attr::origin_of(each)});
		out.sections.push_back(main);
		out.sections.push_back(from);
		return out;
	}
	main.facts.push_back({"asked",
			      "never with success on an id that has a connection (EINVAL): "
			      "move the QP there by ibv_modify_qp() with IBV_QP_STATE alone"});
	out.sections.push_back(main);
	return out;
}

} // namespace qpattr::tool
