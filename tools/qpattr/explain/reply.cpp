// SPDX-License-Identifier: MIT
// The kernel's reply to INIT_QP_ATTR, by its bytes.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "lib/attr/lint.hpp"
#include "lib/attr/names.hpp"
#include "lib/attr/origin.hpp"
#include "lib/attr/parse.hpp"
#include "lib/attr/translate.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/explain/explain.hpp"
#include "tools/qpattr/explain/follows.hpp"

namespace qpattr::tool {
namespace {

using reply = ib_uverbs_qp_attr;
constexpr std::size_t reply_bytes = sizeof(reply);
static_assert(reply_bytes == 144);

// What the size says about what was taken for a reply.
std::string other_size(std::size_t bytes)
{
	switch (bytes) {
	case 16:
		return ": that is the command's request without its header";
	case 24:
		return ": that is the whole command, as strace shows the write; the reply is at "
		       "the "
		       "address in its bytes 8 to 15";
	case sizeof(ibv_qp_attr):
		return ": that is a struct ibv_qp_attr, which has the same fields in another order";
	default:
		return bytes < reply_bytes ? ": something is cut off"
					   : ": there is something behind it";
	}
}

nlohmann::ordered_json values_of(const ibv_qp_attr &attr, std::uint32_t mask)
{
	auto out = nlohmann::ordered_json::object();
	for (const attr::attribute &each : attr::attributes) {
		if (!attr::in_mask(each, mask))
			continue;
		auto &one = out[each.name];
		one["value"] = spelled([&](attr::text &to) { attr::add_value(to, each, attr); });
		if (each.kind != attr::unit::gid)
			one["number"] = attr::value_number(each, attr);
		const std::string meaning =
			spelled([&](attr::text &to) { attr::add_meaning(to, each, attr); });
		if (!meaning.empty())
			one["meaning"] = meaning;
	}
	return out;
}

// Of a machine with the other order of bytes: its state is none, and is one the other
// way round. The kernel answers for INIT, RTR and RTS only, none of which is 0.
bool is_foreign(const reply &raw)
{
	return raw.qp_state > IBV_QPS_ERR && __builtin_bswap32(raw.qp_state) <= IBV_QPS_ERR;
}

// All its numbers of more than a byte.
void turn_around(reply &raw)
{
	for (std::uint32_t *each :
	     {&raw.qp_attr_mask, &raw.qp_state, &raw.cur_qp_state, &raw.path_mtu,
	      &raw.path_mig_state, &raw.qkey, &raw.rq_psn, &raw.sq_psn, &raw.dest_qp_num,
	      &raw.qp_access_flags, &raw.ah_attr.grh.flow_label, &raw.alt_ah_attr.grh.flow_label,
	      &raw.max_send_wr, &raw.max_recv_wr, &raw.max_send_sge, &raw.max_recv_sge,
	      &raw.max_inline_data})
		*each = __builtin_bswap32(*each);
	for (std::uint16_t *each : {&raw.ah_attr.dlid, &raw.alt_ah_attr.dlid, &raw.pkey_index,
				    &raw.alt_pkey_index})
		*each = __builtin_bswap16(*each);
}

} // namespace

std::string short_name(const attr::attribute &what)
{
	const std::string name = what.name;
	const std::string tail = name.substr(name.rfind('.') + 1);
	return what.mask_bit == IBV_QP_AV && attr::find_short_name(tail) == &what ? tail : name;
}

std::vector<std::vector<std::string>> rows_of(const ibv_qp_attr &attr, std::uint32_t mask)
{
	std::vector<std::vector<std::string>> out;
	for (const attr::attribute &each : attr::attributes) {
		if (!attr::in_mask(each, mask))
			continue;
		// The many zeros of an address on RoCE say nothing; those of a GRH do.
		const bool lid = each.kind == attr::unit::lid || each.kind == attr::unit::count ||
				 each.kind == attr::unit::static_rate;
		if (lid && (each.mask_bit & (IBV_QP_AV | IBV_QP_ALT_PATH)) &&
		    attr::is_zero(each, attr))
			continue;
		out.push_back(
			{short_name(each),
			 spelled([&](attr::text &to) { attr::add_value(to, each, attr); }),
			 spelled([&](attr::text &to) { attr::add_meaning(to, each, attr); })});
	}
	return out;
}

page explain_reply(const std::vector<unsigned char> &bytes)
{
	if (bytes.size() != reply_bytes)
		throw failure{
			fmt::format("the reply to INIT_QP_ATTR has {} bytes, and these are {}{}",
				    reply_bytes, bytes.size(), other_size(bytes.size())),
			usage_status};
	reply raw;
	std::memcpy(&raw, bytes.data(), sizeof raw);
	const bool foreign = is_foreign(raw);
	if (foreign)
		turn_around(raw);
	ibv_qp_attr attr{};
	attr::translate(raw, attr);
	attr.qp_state = static_cast<ibv_qp_state>(raw.qp_state);
	const std::uint32_t mask = raw.qp_attr_mask;

	page out;
	out.data["kind"] = "reply";
	out.data["mask"] = mask;
	out.data["attributes"] = values_of(attr, mask);
	section main;
	main.title =
		fmt::format("a reply to INIT_QP_ATTR for {}",
			    spelled([&](attr::text &to) { attr::add_qp_state(to, raw.qp_state); }));
	main.facts.push_back({"mask", fmt::format("{:#x} = {}", mask, spelled([&](attr::text &to) {
							  attr::add_mask(to, mask);
						  }))});
	if (foreign)
		main.facts.push_back({"byte order", std::endian::native == std::endian::little
							    ? "of a big-endian machine"
							    : "of a little-endian machine"});
	bool known = false;
	for (const known_mask &each : known_masks())
		if (each.mask == mask &&
		    (each.state == raw.qp_state || each.state == IBV_QPS_UNKNOWN)) {
			std::string whose = each.types;
			if (*each.when)
				whose += std::string{", "} + each.when;
			main.facts.push_back({"of", whose});
			known = true;
		}
	if (!known)
		main.facts.push_back({"of", "no QP that is known: are these the right 144 bytes?"});
	main.table.heads = {"attribute", "value", "means"};
	main.table.rows = rows_of(attr, mask);
	for (fact &each : worst_cases(attr, mask, {}))
		main.facts.push_back(std::move(each));

	section outside;
	outside.title = "outside the mask and not 0: ibv_modify_qp() does not read it";
	for (const attr::attribute &each : attr::attributes)
		if (!attr::in_mask(each, mask) && !attr::is_zero(each, attr) &&
		    std::strcmp(each.name, "qp_state") != 0)
			outside.facts.push_back({each.name, spelled([&](attr::text &to) {
							 attr::add_value(to, each, attr);
						 })});
	section from;
	from.title = "where the values come from";
	for (const attr::attribute &each : attr::attributes)
		if (attr::in_mask(each, mask) && each.mask_bit != IBV_QP_ALT_PATH &&
		    *attr::origin_of(each))
			from.facts.push_back({short_name(each), attr::origin_of(each)});
	attr::findings found;
	attr::lint(attr, mask, {}, found);
	section findings;
	findings.title = found.size() ? "findings" : "no findings";
	findings.remarks = remarks_of(found);
	out.sections.push_back(main);
	if (!outside.facts.empty())
		out.sections.push_back(outside);
	out.sections.push_back(findings);
	if (!from.facts.empty())
		out.sections.push_back(from);
	return out;
}

} // namespace qpattr::tool
