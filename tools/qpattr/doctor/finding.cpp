// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/finding.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/qpattr/common/layout.hpp"

namespace qpattr::tool::doctor {
namespace {

constexpr std::size_t verdict_width = 9;
constexpr std::size_t check_width = 11;
constexpr std::size_t usual_width = 80;

struct look {
	const char *name;
	colour how;
};

look look_of(verdict what)
{
	switch (what) {
	case verdict::ok:
		return {"ok", colour::green};
	case verdict::warning:
		return {"warning", colour::yellow};
	case verdict::problem:
		return {"problem", colour::red};
	case verdict::not_applicable:
		break;
	}
	return {"-", colour::dim};
}

// Broken at spaces; the lines after the first begin at `column`.
std::string wrapped(std::string_view text, std::size_t column, std::size_t width)
{
	std::string out;
	std::size_t at = column;
	bool begun = false; // something stands on this line
	while (!text.empty()) {
		const std::size_t end = std::min(text.find(' '), text.size());
		const std::string_view word = text.substr(0, end);
		text.remove_prefix(std::min(end + 1, text.size()));
		if (begun && at + 1 + columns(word) > width) {
			out += '\n' + std::string(column, ' ');
			at = column;
			begun = false;
		}
		if (begun)
			out += ' ';
		out += word;
		at += columns(word) + (begun ? 1 : 0);
		begun = true;
	}
	return out + '\n';
}

std::string counted(std::size_t count, const char *what)
{
	return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

} // namespace

const char *verdict_name(verdict what)
{
	return what == verdict::not_applicable ? "not applicable" : look_of(what).name;
}

std::size_t findings::count(verdict what) const
{
	return static_cast<std::size_t>(std::count_if(
		all_.begin(), all_.end(), [what](const finding &each) { return each.what == what; }));
}

const finding *findings::find(const std::string &check) const
{
	for (const finding &each : all_)
		if (each.check == check)
			return &each;
	return nullptr;
}

std::string as_text(const findings &of, const terminal &on)
{
	const std::size_t width = on.width() ? on.width() : usual_width;
	constexpr std::size_t column = verdict_width + check_width;
	std::string out;
	for (const finding &each : of.all()) {
		const look how = look_of(each.what);
		out += on.paint(how.how, padded(how.name, verdict_width)) +
		       padded(each.check, check_width) +
		       wrapped(harmless(each.text), column, width);
		if (!each.fix.empty())
			out += std::string(column, ' ') +
			       wrapped(fmt::format("{} {}", arrow(), harmless(each.fix)), column + 2,
				       width);
	}
	const std::size_t problems = of.count(verdict::problem);
	const std::size_t warnings = of.count(verdict::warning);
	out += '\n' + (problems ? on.paint(colour::red, counted(problems, "problem"))
				: std::string{"no problem"});
	out += ", " + counted(warnings, "warning") + '\n';
	return out;
}

std::string as_json(const findings &of)
{
	using json = nlohmann::ordered_json;
	json checks = json::array();
	for (const finding &each : of.all())
		checks.push_back({{"check", each.check},
				  {"verdict", verdict_name(each.what)},
				  {"text", each.text},
				  {"fix", each.fix.empty() ? json{} : json(each.fix)}});
	const json all{{"qpattr_doctor", 1},
		       {"problems", of.count(verdict::problem)},
		       {"warnings", of.count(verdict::warning)},
		       {"checks", checks}};
	// A name that is no UTF-8 is no reason to say nothing.
	return all.dump(1, '\t', false, json::error_handler_t::replace) + '\n';
}

} // namespace qpattr::tool::doctor
