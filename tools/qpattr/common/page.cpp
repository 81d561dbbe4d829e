// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/page.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"
#include "tools/qpattr/common/layout.hpp"

namespace qpattr::tool {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t margin = 2;
constexpr std::size_t between = 2;

colour colour_of(attr::severity how)
{
	switch (how) {
	case attr::severity::problem:
		return colour::red;
	case attr::severity::warning:
		return colour::yellow;
	case attr::severity::note:
		break;
	}
	return colour::dim;
}

std::string facts_text(const std::vector<fact> &facts, const terminal &on)
{
	std::size_t wide = 0;
	for (const fact &each : facts)
		wide = std::max(wide, columns(each.label));
	std::string out;
	for (const fact &each : facts) {
		const std::string lead = std::string(margin, ' ') + padded(each.label, wide);
		out += wrapped(on, lead + std::string(between, ' '), each.text,
			       margin + wide + between);
	}
	return out;
}

std::string grid_text(const grid &table, const terminal &on)
{
	std::vector<std::size_t> wide;
	for (const std::string &head : table.heads)
		wide.push_back(columns(head));
	for (const auto &row : table.rows)
		for (std::size_t i = 0; i < row.size() && i < wide.size(); ++i)
			wide[i] = std::max(wide[i], columns(row[i]));
	const auto line = [&](const std::vector<std::string> &cells, colour how) {
		std::string lead(margin, ' ');
		for (std::size_t i = 0; i + 1 < cells.size(); ++i)
			lead += padded(cells[i], wide[i]) + std::string(between, ' ');
		const std::string last = cells.empty() ? "" : cells.back();
		if (how != colour::plain)
			return on.paint(how, lead + last) + "\n";
		if (last.empty())
			lead.erase(lead.find_last_not_of(' ') + 1);
		return wrapped(on, lead, last, columns(lead));
	};
	std::string out;
	if (std::any_of(table.heads.begin(), table.heads.end(),
			[](const std::string &head) { return !head.empty(); }))
		out += line(table.heads, colour::dim);
	for (const auto &row : table.rows)
		out += line(row, colour::plain);
	return out;
}

std::string remarks_text(const std::vector<remark> &remarks, const terminal &on)
{
	std::string out;
	for (const remark &each : remarks) {
		const std::string word = attr::severity_name(each.how);
		const std::string lead =
			std::string(margin, ' ') + on.paint(colour_of(each.how), word + ":") + " ";
		const std::size_t indent = margin + word.size() + 2;
		// Painted letters take no columns, so the lead is counted without them.
		std::string reason = each.reason;
		if (each.told)
			reason += " [" + each.id + "]";
		out += lead + wrapped(on, std::string(indent, ' '), reason, indent).substr(indent);
		if (each.told)
			continue;
		out += wrapped(on, std::string(indent, ' ') + arrow() + std::string{" "},
			       each.advice, indent + 2);
		out += std::string(indent, ' ') + on.paint(colour::dim, "[" + each.id + "]") + "\n";
	}
	return out;
}

} // namespace

std::string wrapped(const terminal &on, const std::string &lead, const std::string &text,
		    std::size_t indent, colour how)
{
	std::vector<part> words;
	std::size_t at = 0;
	while (at < text.size()) {
		const std::size_t end = std::min(text.find(' ', at), text.size());
		if (end != at)
			words.push_back({text.substr(at, end - at), how});
		at = end + 1;
	}
	return flow(on, lead, words, indent, " ");
}

std::string listed(const std::vector<std::size_t> &numbers)
{
	std::string out;
	for (std::size_t i = 0; i < numbers.size();) {
		std::size_t last = i;
		while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
			++last;
		out += fmt::format("{}{}", out.empty() ? "" : ", ", numbers[i]);
		if (last != i)
			out += fmt::format("{}{}", last == i + 1 ? ", " : " to ", numbers[last]);
		i = last + 1;
	}
	return out;
}

std::vector<remark> remarks_of(const attr::findings &found)
{
	std::vector<remark> out;
	for (std::size_t i = 0; i < found.size(); ++i) {
		const attr::finding &each = found[i];
		out.push_back({each.how, each.id, each.about ? each.about->name : "",
			       each.reason.c_str(), each.advice, false});
	}
	return out;
}

std::string text_of(const page &what, const terminal &on)
{
	std::string out;
	for (const section &each : what.sections) {
		if (!out.empty())
			out += '\n';
		if (!each.title.empty())
			out += wrapped(on, "", each.title, margin, colour::bold);
		out += facts_text(each.facts, on);
		out += grid_text(each.table, on);
		out += remarks_text(each.remarks, on);
	}
	return out;
}

json json_of(const page &what)
{
	json out{{"qpattr", 1}};
	for (const auto &[key, value] : what.data.items())
		out[key] = value;
	json &sections = out["sections"] = json::array();
	for (const section &each : what.sections) {
		json one{{"title", each.title}};
		if (!each.facts.empty()) {
			json &facts = one["facts"] = json::array();
			for (const fact &said : each.facts)
				facts.push_back({{"label", said.label}, {"text", said.text}});
		}
		if (!each.table.rows.empty()) {
			one["heads"] = each.table.heads;
			one["rows"] = each.table.rows;
		}
		json &findings = one["findings"] = json::array();
		for (const remark &said : each.remarks)
			findings.push_back(
				{{"id", said.id},
				 {"severity", attr::severity_name(said.how)},
				 {"attribute", said.about.empty() ? json{} : json(said.about)},
				 {"reason", said.reason},
				 {"advice", said.advice}});
		sections.push_back(std::move(one));
	}
	return out;
}

void print(const page &what, bool as_json)
{
	// What came from others may be no UTF-8; it is shown all the same.
	const std::string text =
		as_json ? json_of(what).dump(2, ' ', false,
					     nlohmann::json::error_handler_t::replace) +
				  "\n"
			: text_of(what, terminal{STDOUT_FILENO});
	if (!put_out(text))
		throw failure{
			fmt::format("cannot write to standard output: {}", std::strerror(errno))};
}

} // namespace qpattr::tool
