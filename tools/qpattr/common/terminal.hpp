// SPDX-License-Identifier: MIT
// What is on the other side of an output: colour and width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qpattr::tool {

enum class colour { plain, bold, dim, red, yellow, green };

class terminal {
public:
	// Of an open descriptor. Colour only where it is a terminal, TERM is not "dumb"
	// and NO_COLOR is not set (or empty).
	explicit terminal(int fd);

	// Columns of the terminal; COLUMNS where that is set; 0, no limit, where it is
	// no terminal.
	[[nodiscard]] std::size_t width() const { return width_; }

	// The text in that colour, or as it is.
	[[nodiscard]] std::string paint(colour what, std::string_view text) const;

private:
	bool colours_ = false;
	std::size_t width_ = 0;
};

} // namespace qpattr::tool
