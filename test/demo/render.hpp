// SPDX-License-Identifier: MIT
// Transitions as a person reads them: tables of both answers side by side, one
// line each where that is enough, a summary by run.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "test/demo/transitions.hpp"

namespace qpattr::demo {

inline constexpr std::size_t page_width = 110;

struct look {
	bool colours = false;
	bool utf8 = false; // else ASCII only
};

// Of a table: how wide its names and its values are.
struct columns {
	std::size_t name;
	std::size_t value;
};

enum class style { plain, bold, dim, good, bad };

class page {
public:
	page(std::FILE *to, look how) : to_{to}, how_{how} {}

	void rule(const std::string &title) const;
	// Both answers, field by field.
	void table(const transition &each) const;
	void line(const transition &each) const;
	void summary(const history &from) const;
	void say(style how, const std::string &what) const;

private:
	struct part {
		style how;
		std::string text;
	};
	[[nodiscard]] std::string in(style how, const std::string &what) const;
	[[nodiscard]] std::string unequal_sign() const { return how_.utf8 ? "\u2260" : "!="; }
	[[nodiscard]] std::string arrow() const { return how_.utf8 ? "\u2192" : "->"; }
	[[nodiscard]] std::string states(const transition &each) const;
	[[nodiscard]] std::string way(const transition &each) const;
	void flow(const std::string &lead, const std::vector<part> &parts) const;
	void head(const transition &each) const;
	void row(const std::string &name, const std::string &ours, const std::string &stock,
		 bool equal, std::string meaning, const columns &wide) const;

	std::FILE *to_;
	look how_;
};

// One JSON object in one line.
void write_json(std::FILE *to, const transition &each);

} // namespace qpattr::demo
