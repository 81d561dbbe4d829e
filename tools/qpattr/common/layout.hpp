// SPDX-License-Identifier: MIT
// Text in columns: how wide it is, filled up, cut, and broken into lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/qpattr/common/terminal.hpp"

namespace qpattr::tool {

// Columns that a text takes: bytes that continue a character (UTF-8) take none.
[[nodiscard]] std::size_t columns(std::string_view text);

// With spaces up to that many columns; a longer one as it is. On the right of the
// spaces, for numbers, with padded_left().
[[nodiscard]] std::string padded(std::string_view text, std::size_t to);
[[nodiscard]] std::string padded_left(std::string_view text, std::size_t to);

// At most that many columns, the last of which says that something is missing.
[[nodiscard]] std::string cut(std::string_view text, std::size_t to);

// Whether the user's locale has UTF-8; otherwise arrows are "->".
[[nodiscard]] bool utf8();
[[nodiscard]] const char *arrow();

// What a stranger's program named itself, or its peer, is not to move the cursor, nor to turn
// what follows: bytes that are no characters, or command the terminal, become '?'.
[[nodiscard]] std::string harmless(std::string_view text);

// A part of a line, never broken itself.
struct part {
	std::string text;
	colour how = colour::plain;
};

// The parts with a space or two between, in one line or in several where the
// terminal is narrower; the later ones are indented. Ends with the end of a line.
[[nodiscard]] std::string flow(const terminal &on, std::string_view lead,
			       const std::vector<part> &parts, std::size_t indent,
			       std::string_view between = "  ");

// The same of a text, broken at its spaces.
[[nodiscard]] std::string flow_words(const terminal &on, std::string_view lead,
				     std::string_view text, colour how, std::size_t indent);

} // namespace qpattr::tool
