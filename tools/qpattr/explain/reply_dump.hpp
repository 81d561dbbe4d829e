// SPDX-License-Identifier: MIT
// Bytes out of what people have copied from a terminal: hexdump -C, xxd, od -t x1, gdb's
// x/144xb, strings with \x39, plain digits, or the bytes themselves.
#pragma once

#include <string_view>
#include <vector>

namespace qpattr::tool {

// Whether the text is meant as bytes at all: there are sixteen or more, and nothing but
// offsets and a column of letters beside them.
[[nodiscard]] bool looks_like_dump(std::string_view text);

// Throws `failure` with the number of the line that is none.
[[nodiscard]] std::vector<unsigned char> bytes_of_dump(std::string_view text);

} // namespace qpattr::tool
