// SPDX-License-Identifier: MIT
#include "lib/attr/parse.hpp"

#include <cstring>

#include "lib/attr/names.hpp"
#include "lib/attr/parse_value.hpp"
#include "lib/attr/units.hpp"

namespace qpattr::attr {
namespace {

// Of what a person wrote no more is repeated than this.
constexpr std::size_t quoted_max = 48;

bool is_named(const attribute &what, const char *tail) noexcept
{
	const std::size_t len = std::strlen(what.name), tail_len = std::strlen(tail);
	return len >= tail_len && std::strcmp(what.name + len - tail_len, tail) == 0;
}

std::uint32_t code_max(const attribute &what) noexcept
{
	switch (what.kind) {
	case unit::timeout:
		return timeout_max;
	case unit::rnr_timer:
		return rnr_timer_max;
	case unit::retry_cnt:
	case unit::rnr_retry:
		return retry_max;
	case unit::path_mtu:
		return IBV_MTU_4096;
	case unit::mig_state:
		return IBV_MIG_ARMED;
	case unit::flow_label:
		return 0xfffff;
	case unit::count:
		return is_named(what, ".sl") ? 15 : 127; // 4 bits; of a LID mask 7
	default:
		return what.len == 1 ? UINT8_MAX : what.len == 2 ? UINT16_MAX : UINT32_MAX;
	}
}

bool is_code(const attribute &what, std::uint32_t number) noexcept
{
	if (number > code_max(what))
		return false;
	switch (what.kind) {
	case unit::path_mtu:
		return number >= IBV_MTU_256;
	case unit::static_rate:
		return number == IBV_RATE_MAX || rate_mbps(number) != 0;
	case unit::access_flags:
		for (unsigned i = 0; i < 32; ++i)
			if ((number & 1U << i) && !access_bit_name(1U << i))
				return false;
		return true;
	default:
		return true;
	}
}

// What a field takes, the end of "timeout=x: write ".
void add_form(text &to, const attribute &what) noexcept
{
	switch (what.kind) {
	case unit::timeout:
		to.add("a code, 0 to 31, or a time with its unit: 67.1ms, 2s, forever");
		return;
	case unit::rnr_timer:
		to.add("a code, 0 to 31, or a time with its unit: 0.64ms");
		return;
	case unit::path_mtu:
		to.add("a code, 1 to 5, or bytes: 256, 512, 1024, 2048 or 4096");
		return;
	case unit::traffic_class:
		to.add("the whole field, 0 to 255, or a DSCP: dscp:46, dscp:EF, AF31");
		return;
	case unit::static_rate:
		to.add("a code of enum ibv_rate, 0 to 24, or a rate: 100Gb/s, port");
		return;
	case unit::access_flags:
		to.add("names joined by '|', REMOTE_WRITE|REMOTE_READ, or none, or a number of "
		       "bits that have names");
		return;
	case unit::mig_state:
		to.add("MIGRATED, REARM or ARMED, or a number, 0 to 2");
		return;
	case unit::rnr_retry:
		to.add("a number, 0 to 7, where 7 is forever");
		return;
	default:
		to.addf("a number, 0 to %u", code_max(what));
		return;
	}
}

// How many letters must be changed, left out or put in.
unsigned distance(std::string_view a, std::string_view b) noexcept
{
	constexpr std::size_t len_max = 32;
	if (a.size() > len_max || b.size() > len_max)
		return len_max;
	std::uint8_t row[len_max + 1]{};
	for (std::size_t j = 0; j <= b.size(); ++j)
		row[j] = static_cast<std::uint8_t>(j);
	for (std::size_t i = 1; i <= a.size(); ++i) {
		unsigned corner = row[0];
		row[0] = static_cast<std::uint8_t>(i);
		for (std::size_t j = 1; j <= b.size(); ++j) {
			unsigned least = corner + (lower(a[i - 1]) != lower(b[j - 1]));
			corner = row[j];
			least = row[j] + 1U < least ? row[j] + 1U : least;
			least = row[j - 1] + 1U < least ? row[j - 1] + 1U : least;
			row[j] = static_cast<std::uint8_t>(least);
		}
	}
	return row[b.size()];
}

const char *after_last_dot(const char *name) noexcept
{
	const char *const dot = std::strrchr(name, '.');
	return dot ? dot + 1 : name;
}

void add_unknown(text &to, std::string_view name) noexcept
{
	to.add("unknown attribute '");
	add_quoted(to, name);
	const char *nearest = nullptr;
	unsigned least = 3; // further away it is another word
	for (const attribute &each : attributes)
		for (const char *known : {each.name, after_last_dot(each.name)})
			if (const unsigned far = distance(name, known);
			    far < least && far < name.size()) {
				least = far;
				nearest = known;
			}
	if (nearest)
		to.add("': did you mean ").add(nearest).add('?');
	else
		to.add("': write a name as the trace has it, such as timeout or "
		       "ah_attr.grh.hop_limit");
}

} // namespace

void add_quoted(text &to, std::string_view what) noexcept
{
	for (std::size_t i = 0; i < what.size() && i < quoted_max; ++i) {
		const auto c = static_cast<unsigned char>(what[i]);
		to.add(c < 0x20 || c == 0x7f ? '?' : what[i]);
	}
	if (what.size() > quoted_max)
		to.add("...");
}

const attribute *find_short_name(std::string_view name) noexcept
{
	for (const attribute &each : attributes)
		if (same_name(name, each.name))
			return &each;
	// In their order those of the alternate path come after those of the path.
	for (const attribute &each : attributes)
		if (std::strncmp(each.name, "alt_", 4) != 0 &&
		    same_name(name, after_last_dot(each.name)))
			return &each;
	if (!begins(name, "alt_"))
		return nullptr;
	name.remove_prefix(4);
	for (const attribute &each : attributes)
		if (std::strncmp(each.name, "alt_ah_attr.", 12) == 0 &&
		    same_name(name, after_last_dot(each.name)))
			return &each;
	return nullptr;
}

const char *why_not_settable(const attribute &what) noexcept
{
	switch (what.kind) {
	case unit::qp_state:
		return "it is the state that the program asked for";
	case unit::number24:
		return "the two ends have agreed on it, and with another number no packet is taken";
	case unit::gid:
		return "it is where the connection leads; to lead it elsewhere, resolve another "
		       "address";
	case unit::grh_flag:
		return "whether there is a global route is the connection's; without its GID none "
		       "can be added";
	default:
		break;
	}
	if (is_named(what, "port_num"))
		return "the port is the connection's; bind the id to an address of the other port";
	if (what.kind == unit::flag || what.kind == unit::rate_limit || what.mask_bit == IBV_QP_CAP)
		return "no answer of the connection manager has it";
	return nullptr;
}

bool parse_setting(std::string_view name, std::string_view value, setting &out, text &why) noexcept
{
	why.clear();
	setting found;
	found.what = find_short_name(name);
	if (!found.what) {
		add_unknown(why, name);
		return false;
	}
	if (const char *reason = why_not_settable(*found.what)) {
		why.add(found.what->name).add(" cannot be overridden: ").add(reason);
		return false;
	}
	why.add(found.what->name).add('=');
	add_quoted(why, value);
	why.add(": ");
	outcome how = take_with_unit(value, found.what->kind, found.number, found.rounded, why);
	if (how == outcome::not_this && number_of(value, found.number) &&
	    is_code(*found.what, found.number))
		how = outcome::done;
	if (how == outcome::not_this)
		add_form(why.add("write "), *found.what);
	if (how != outcome::done)
		return false;
	why.clear();
	out = found;
	return true;
}

void add_setting(text &to, const setting &set, std::string_view written) noexcept
{
	to.add(set.what->name).add('=');
	add_quoted(to, written);
	to.addf(" becomes %u", set.number);
	ibv_qp_attr attr;
	std::memset(&attr, 0, sizeof attr);
	store_number(attr, *set.what, set.number);
	text_of<96> meaning;
	add_meaning(meaning, *set.what, attr);
	if (!meaning.empty())
		to.add(", ").add(meaning.c_str());
}

void store_number(ibv_qp_attr &to, const attribute &what, std::uint32_t number) noexcept
{
	auto *const at = reinterpret_cast<unsigned char *>(&to) + what.offset;
	const auto byte = static_cast<std::uint8_t>(number);
	const auto half = static_cast<std::uint16_t>(number);
	switch (what.len) {
	case sizeof byte:
		std::memcpy(at, &byte, sizeof byte);
		return;
	case sizeof half:
		std::memcpy(at, &half, sizeof half);
		return;
	case sizeof number:
		std::memcpy(at, &number, sizeof number);
		return;
	}
}

} // namespace qpattr::attr
