// SPDX-License-Identifier: MIT
// What explain and compare have to say, once: as text for a terminal and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "lib/attr/lint.hpp"
#include "tools/qpattr/common/terminal.hpp"

namespace qpattr::tool {

struct fact {
	std::string label;
	std::string text;
};

// The last column is broken into lines where the terminal is narrow.
struct grid {
	std::vector<std::string> heads;
	std::vector<std::vector<std::string>> rows;
};

struct remark {
	attr::severity how = attr::severity::note;
	std::string id;
	std::string about; // an attribute; empty: none in particular
	std::string reason;
	std::string advice;
	bool told = false; // the advice was given above; text does not repeat it
};

struct section {
	std::string title;
	std::vector<fact> facts;
	grid table;
	std::vector<remark> remarks;
};

// The JSON library says that its move is noexcept; what it asserts there is taken for a throw.
// NOLINTNEXTLINE(bugprone-exception-escape)
struct page {
	// For programs: what it is about, with numbers as numbers. Keys are stable.
	nlohmann::ordered_json data;
	std::vector<section> sections;
};

[[nodiscard]] std::string text_of(const page &what, const terminal &on);

// `data`, and the sections: the same words, for whoever wants them.
[[nodiscard]] nlohmann::ordered_json json_of(const page &what);

// On standard output; throws `failure` where it cannot be written.
void print(const page &what, bool as_json);

// Findings of lint() as remarks, worst first.
[[nodiscard]] std::vector<remark> remarks_of(const attr::findings &found);

// Text with the words kept whole, `lead` before the first line.
[[nodiscard]] std::string wrapped(const terminal &on, const std::string &lead,
				  const std::string &text, std::size_t indent,
				  colour how = colour::plain);

// Ascending numbers: "2 to 5, 7".
[[nodiscard]] std::string listed(const std::vector<std::size_t> &numbers);

// A text of lib/attr, by what adds to it.
template <class Add> std::string spelled(Add add)
{
	attr::text_of<512> text;
	add(text);
	return text.c_str();
}

} // namespace qpattr::tool
