// SPDX-License-Identifier: MIT
#include "test/demo/render.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "lib/attr/fields.hpp"
#include "lib/attr/names.hpp"

namespace qpattr::demo {
namespace {

using attr::attribute;
using attr::text_of;

constexpr std::size_t name_width_min = 26;
constexpr std::size_t value_width_min = 16;
constexpr std::size_t value_width_max = 24; // a longer one makes its own row longer

// Columns that a text takes: bytes that continue a character take none.
std::size_t width(const std::string &what)
{
	return static_cast<std::size_t>(std::count_if(what.begin(), what.end(), [](char c) {
		return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
	}));
}

std::string padded(const std::string &what, std::size_t to)
{
	const std::size_t has = width(what);
	return has < to ? what + std::string(to - has, ' ') : what;
}

template <class Add, class... Values> std::string as_text(Add add, const Values &...values)
{
	text_of<512> line;
	add(line, values...);
	return line.c_str();
}

std::string value_of(const attribute &what, const ibv_qp_attr &from)
{
	return as_text(attr::add_value, what, from);
}

std::string hex(std::uint64_t value)
{
	char out[24];
	std::snprintf(out, sizeof out, "0x%" PRIx64, value);
	return out;
}

std::string error_name(int code)
{
#ifdef __GLIBC__
	if (const char *name = code ? ::strerrorname_np(code) : "0")
		return name;
#endif
	return std::to_string(code);
}

// "0", "-1 EINVAL".
std::string result_of(const answer &from)
{
	return from.result == 0 ? "0" : std::to_string(from.result) + " " + error_name(from.error);
}

std::string side_name(side end)
{
	switch (end) {
	case side::active:
		return "active";
	case side::passive:
		return "passive";
	case side::unknown:
		break;
	}
	return "-";
}

// Neither implementation may touch these two; what they hold is the caller's.
bool left_alone(const attribute &what, const transition &each)
{
	const std::string name = what.name;
	return (name == "qp_state" || name == "rate_limit") &&
	       attr::equal_field(what, each.what.ours.attr, each.what.before) &&
	       attr::equal_field(what, each.what.theirs.attr, each.what.before);
}

// The fields of a transition, sorted by what is to be said about them.
struct sorted_fields {
	std::vector<const attribute *> rows; // those in the mask first
	std::size_t zero_in_mask = 0;
	std::size_t zero_outside = 0;
	std::size_t caller_s = 0;
	columns wide{name_width_min, value_width_min};
};

sorted_fields sort_fields(const transition &each)
{
	const ibv_qp_attr &ours = each.what.ours.attr;
	const ibv_qp_attr &stock = each.what.theirs.attr;
	const auto mask = static_cast<std::uint32_t>(each.what.ours.mask);
	sorted_fields out;
	const auto add = [&](const attribute &one) {
		out.rows.push_back(&one);
		out.wide.name = std::max(out.wide.name, std::strlen(one.name) + 1);
		for (const ibv_qp_attr *from : {&ours, &stock})
			if (const std::size_t len = width(value_of(one, *from));
			    len <= value_width_max)
				out.wide.value = std::max(out.wide.value, len);
	};
	// A refused call has written nothing: only a difference is a row.
	for (const attribute &one : attr::attributes)
		if (!each.answered() && !attr::equal_field(one, ours, stock))
			add(one);
	if (!each.answered())
		return out;
	for (const attribute &one : attr::attributes) {
		if (!attr::in_mask(one, mask))
			continue;
		// Address vectors have many fields that are 0 on RoCE, where 0 says
		// nothing. A min_rnr_timer of 0 does.
		const bool of_address = one.mask_bit & (IBV_QP_AV | IBV_QP_ALT_PATH);
		if (of_address && attr::is_zero(one, ours) && attr::is_zero(one, stock))
			++out.zero_in_mask;
		else
			add(one);
	}
	for (const attribute &one : attr::attributes) {
		if (attr::in_mask(one, mask))
			continue;
		if (attr::is_zero(one, ours) && attr::is_zero(one, stock))
			++out.zero_outside;
		else if (left_alone(one, each))
			++out.caller_s;
		else
			add(one);
	}
	return out;
}

std::string in_short(const sorted_fields &fields)
{
	std::string out = "0 in both: ";
	if (fields.zero_in_mask)
		out += std::to_string(fields.zero_in_mask) + " more of the address, ";
	out += std::to_string(fields.zero_outside) + " outside the mask";
	if (fields.caller_s)
		out += "; left alone by both: rate_limit";
	return out;
}

bool untouched(const answer &from, const record &what)
{
	return from.mask == what.mask_before && attr::equal_fields(from.attr, what.before);
}

// Parts of at most `len` columns, broken after a '|' or at a space.
std::vector<std::string> broken(std::string what, std::size_t len)
{
	std::vector<std::string> out;
	while (width(what) > len) {
		std::size_t at = what.find_last_of("| ", len - 1);
		if (at == std::string::npos || at == 0)
			at = len - 1;
		out.push_back(what.substr(0, at + 1));
		what.erase(0, at + 1);
	}
	out.push_back(what);
	return out;
}

} // namespace

std::string page::in(style how, const std::string &what) const
{
	if (!how_.colours || how == style::plain || what.empty())
		return what;
	const char *const codes[] = {"", "1", "2", "32", "1;31"};
	return "\033[" + std::string{codes[static_cast<int>(how)]} + "m" + what + "\033[0m";
}

void page::say(style how, const std::string &what) const
{
	std::fprintf(to_, "%s\n", in(how, what).c_str());
}

void page::rule(const std::string &title) const
{
	const std::size_t used = width(title) + 4;
	const std::string line = how_.utf8 ? "\u2500" : "-";
	std::string rest;
	for (std::size_t i = used; i < page_width; ++i)
		rest += line;
	std::fprintf(to_, "\n%s\n",
		     in(style::bold, line + line + " " + title + " " + rest).c_str());
}

std::string page::states(const transition &each) const
{
	return as_text(attr::add_qp_state, each.from) + " " + arrow() + " " +
	       as_text(attr::add_qp_state, each.what.state);
}

// Parts in one line, or in several where they do not fit.
void page::flow(const std::string &lead, const std::vector<part> &parts) const
{
	constexpr std::size_t indent = 6;
	std::string line = lead;
	std::size_t column = width(lead);
	bool first = true;
	for (const part &each : parts) {
		if (!first && column + 2 + width(each.text) > page_width) {
			std::fprintf(to_, "%s\n", line.c_str());
			line.assign(indent, ' ');
			column = indent;
		} else if (!first) {
			line += "  ";
			column += 2;
		}
		line += in(each.how, each.text);
		column += width(each.text);
		first = false;
	}
	std::fprintf(to_, "%s\n", line.c_str());
}

std::string page::way(const transition &each) const
{
	const bool outward = each.end != side::passive;
	const std::string source = written(each.what.source);
	const std::string destination = written(each.what.destination);
	return outward ? source + " " + arrow() + " " + destination
		       : destination + " " + arrow() + " " + source;
}

void page::head(const transition &each) const
{
	const record &what = each.what;
	std::fprintf(to_, "\n");
	flow("",
	     {{style::bold, what.program + std::string{" "} + side_name(each.end)},
	      {style::bold, states(each)},
	      {style::plain, way(each)},
	      {style::dim, as_text(attr::add_qp_type, what.qp_type) + " on " + what.device +
				   ", pid " + std::to_string(what.pid) + ", id " + hex(what.id)}});
	if (!each.answered())
		return;
	const auto mask = static_cast<std::uint32_t>(what.ours.mask);
	std::string lead = "  mask " + hex(mask) + " = ";
	const std::size_t indent = width(lead);
	for (const std::string &names :
	     broken(as_text(attr::add_mask, mask), page_width - indent)) {
		std::fprintf(to_, "%s%s\n", lead.c_str(), names.c_str());
		lead.assign(indent, ' ');
	}
}

void page::row(const std::string &name, const std::string &ours, const std::string &stock,
	       bool equal, std::string meaning, const columns &wide) const
{
	const style how = equal ? style::plain : style::bad;
	const std::string sign =
		in(equal ? style::good : style::bad, padded(equal ? "=" : unequal_sign(), 3));
	std::string line = "  " + in(how, padded(name, wide.name));
	std::size_t at = 2 + wide.name;
	if (width(ours) > wide.value || width(stock) > wide.value) {
		// Long ones stand below each other.
		std::fprintf(to_, "%s   %s\n", line.c_str(), ours.c_str());
		line = std::string(at, ' ') + sign + in(how, stock);
		at += 3 + width(stock);
	} else {
		line += padded(ours, wide.value) + " " + sign + in(how, padded(stock, wide.value));
		at += wide.value + 4 + wide.value;
	}
	for (const std::string &piece : broken(std::move(meaning), page_width - at - 2)) {
		if (!piece.empty())
			line += "  " + in(style::dim, piece);
		line.erase(line.find_last_not_of(' ') + 1);
		std::fprintf(to_, "%s\n", line.c_str());
		line.assign(at, ' ');
	}
}

void page::table(const transition &each) const
{
	const record &what = each.what;
	const auto mask = static_cast<std::uint32_t>(what.ours.mask);
	const sorted_fields fields = sort_fields(each);
	const columns &wide = fields.wide;
	head(each);
	say(style::dim, "  " + padded("field", wide.name) + padded("qpattr", wide.value + 4) +
				padded("stock", wide.value + 2) + "reads as");

	const bool same_error = what.ours.error == what.theirs.error;
	const bool same_result = what.ours.result == what.theirs.result;
	const bool refused = !each.answered() || what.theirs.result != 0;
	if (refused)
		row("(return)", result_of(what.ours), result_of(what.theirs),
		    same_result && same_error,
		    each.answered() ? "" : std::strerror(what.ours.error), wide);
	else if (!same_error)
		row("(errno afterwards)", error_name(what.ours.error),
		    error_name(what.theirs.error), false, "", wide);
	if (what.ours.mask != what.theirs.mask)
		row("(mask)", hex(mask), hex(static_cast<std::uint32_t>(what.theirs.mask)), false,
		    "", wide);
	for (const attribute *one : fields.rows) {
		const bool in_mask = each.answered() && attr::in_mask(*one, mask);
		row(one->name, value_of(*one, what.ours.attr), value_of(*one, what.theirs.attr),
		    attr::equal_field(*one, what.ours.attr, what.theirs.attr),
		    in_mask ? as_text(attr::add_meaning, *one, what.ours.attr) : "outside the mask",
		    wide);
	}

	if (each.answered())
		say(style::dim, "  " + in_short(fields));
	else if (untouched(what.ours, what) && untouched(what.theirs, what))
		say(style::dim, "  refused; the caller's struct and mask are left alone by both");
	if (!what.stock_asked)
		say(style::bad, "  stock was not asked: there is no librdmacm in the process");
	else if (!each.served())
		say(style::bad, "  not served by qpattr: answered by " + std::string{what.object} +
					(what.ours.stock_commands ? ", which asked stock" : ""));
}

void page::line(const transition &each) const
{
	const record &what = each.what;
	const std::string result =
		each.answered() ? "mask " + hex(static_cast<std::uint32_t>(what.ours.mask))
				: "result " + result_of(what.ours);
	const char *const verdict =
		each.good() ? "equal" : (each.equal() ? "not by qpattr" : "differs");
	flow("  ", {{style::plain, padded(side_name(each.end), 7)},
		    {style::plain, padded(states(each), 13)},
		    {style::plain, padded(way(each), 40)},
		    {style::plain, padded(result, 15)},
		    {each.good() ? style::good : style::bad, verdict}});
}

void page::summary(const history &from) const
{
	constexpr std::size_t first = 24;
	constexpr std::size_t other = 12;
	const auto cells = [&](const std::vector<std::size_t> &numbers) {
		std::string out;
		for (const std::size_t number : numbers) {
			const std::string cell =
				number ? std::to_string(number) : (how_.utf8 ? "\u00b7" : ".");
			out += std::string(other - width(cell), ' ') + cell;
		}
		return out;
	};
	std::string head = padded("run", first);
	for (const char *name :
	     {"transitions", "INIT", "RTR", "RTS", "other", "equal", "different"})
		head += std::string(other - std::strlen(name), ' ') + name;
	rule("summary");
	say(style::bold, head);
	std::vector<std::size_t> total(7);
	for (const std::string &run : from.runs()) {
		std::vector<std::size_t> numbers(7);
		for (const transition &each : from.all) {
			if (each.run != run)
				continue;
			const std::uint32_t state = each.what.state;
			++numbers[0];
			++numbers[state >= IBV_QPS_INIT && state <= IBV_QPS_RTS ? state : 4];
			++numbers[each.equal() ? 5 : 6];
		}
		for (std::size_t i = 0; i < total.size(); ++i)
			total[i] += numbers[i];
		say(numbers[6] ? style::bad : style::plain, padded(run, first) + cells(numbers));
	}
	say(style::bold, padded("all", first) + cells(total));
}

} // namespace qpattr::demo
