// SPDX-License-Identifier: MIT
#include "test/demo/render.hpp"

#include <cinttypes>

#include "lib/attr/fields.hpp"
#include "lib/attr/names.hpp"

namespace qpattr::demo {
namespace {

using attr::text_of;

std::string quoted(const std::string &what)
{
	std::string out = "\"";
	for (const char c : what) {
		char escape[8];
		if (c == '"' || c == '\\') {
			out += '\\';
			out += c;
		} else if (static_cast<unsigned char>(c) < 0x20) {
			std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
			out += escape;
		} else {
			out += c;
		}
	}
	return out + '"';
}

std::string state_name(std::uint32_t state)
{
	text_of<32> name;
	attr::add_qp_state(name, state);
	return quoted(name.c_str());
}

// A name or a GID as a string, everything else as a number.
std::string value(const attr::attribute &what, const ibv_qp_attr &from)
{
	if (what.kind != attr::unit::gid && what.kind != attr::unit::qp_state &&
	    what.kind != attr::unit::mig_state)
		return std::to_string(attr::value_number(what, from));
	text_of<64> text;
	attr::add_value(text, what, from);
	return quoted(text.c_str());
}

std::string answer_object(const answer &from)
{
	std::string out = "{\"result\":" + std::to_string(from.result) +
			  ",\"errno\":" + std::to_string(from.error) +
			  ",\"mask\":" + std::to_string(static_cast<std::uint32_t>(from.mask)) +
			  ",\"stock_commands\":" + std::to_string(from.stock_commands) +
			  ",\"attr\":{";
	const char *between = "";
	for (const attr::attribute &each : attr::attributes) {
		out += between + quoted(each.name) + ":" + value(each, from.attr);
		between = ",";
	}
	return out + "}}";
}

std::string boolean(bool value)
{
	return value ? "true" : "false";
}

} // namespace

void write_json(std::FILE *to, const transition &each)
{
	const record &what = each.what;
	const char *const ends[] = {"null", "\"active\"", "\"passive\""};
	text_of<512> mask;
	attr::add_mask(mask, static_cast<std::uint32_t>(what.ours.mask));
	const std::string members[] = {
		"\"run\":" + quoted(each.run),
		"\"program\":" + quoted(what.program),
		"\"pid\":" + std::to_string(what.pid),
		"\"sequence\":" + std::to_string(what.sequence),
		"\"time_ns\":" + std::to_string(what.time_ns),
		"\"connection\":" + std::to_string(each.connection),
		std::string{"\"side\":"} + ends[static_cast<int>(each.end)],
		"\"from\":" + state_name(each.from),
		"\"to\":" + state_name(what.state),
		"\"source\":" + quoted(written(what.source)),
		"\"destination\":" + quoted(written(what.destination)),
		"\"device\":" + quoted(what.device),
		"\"mask_names\":" + quoted(mask.c_str()),
		"\"equal\":" + boolean(each.equal()),
		"\"served_by_qpattr\":" + boolean(each.served()),
		"\"stock_asked\":" + boolean(what.stock_asked),
		"\"qpattr\":" + answer_object(what.ours),
		"\"stock\":" + answer_object(what.theirs),
	};
	const char *between = "{";
	for (const std::string &member : members) {
		std::fprintf(to, "%s%s", between, member.c_str());
		between = ",";
	}
	std::fprintf(to, "}\n");
}

} // namespace qpattr::demo
