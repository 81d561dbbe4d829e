// SPDX-License-Identifier: MIT
// What a person writes for an attribute as the number that goes into its field:
// "timeout=500ms", "traffic_class=dscp:EF", "retry_cnt=3".
//
// The other direction of units.hpp. A bare number is the field's code; a number
// with a unit is rounded to the code that is at least as long, as far as there is
// one. What the two ends of a connection have agreed on, or what belongs to the QP
// and not to the answer, is refused here: it cannot be overridden from one side.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/attr/fields.hpp"
#include "lib/attr/text.hpp"

namespace qpattr::attr {

struct setting {
	const attribute *what = nullptr;
	std::uint32_t number = 0;
	bool rounded = false; // to another value than was written
};

// Of what a person wrote, what fits on a line, and no byte that a terminal acts upon.
void add_quoted(text &to, std::string_view what) noexcept;

// By its name or the end of it: traffic_class is ah_attr.grh.traffic_class, and
// alt_traffic_class that of the alternate path. Upper case is as good. nullptr
// where there is none of that name.
[[nodiscard]] const attribute *find_short_name(std::string_view name) noexcept;

// nullptr where an override makes sense; else why not, the rest of a sentence that
// begins with "cannot be overridden: ".
[[nodiscard]] const char *why_not_settable(const attribute &what) noexcept;

// Ranges are those of verbs and of the wire; a device may have narrower ones. On
// failure `out` is untouched and `why` has one line that names the thing and tells
// what to write instead. 320 bytes are room for the longest.
[[nodiscard]] bool parse_setting(std::string_view name, std::string_view value, setting &out,
				 text &why) noexcept;

// "timeout=500ms becomes 17, 537 ms": what was written, the code, what it means.
void add_setting(text &to, const setting &set, std::string_view written) noexcept;

// The field as a number of any width; nothing for a GID.
void store_number(ibv_qp_attr &to, const attribute &what, std::uint32_t number) noexcept;

} // namespace qpattr::attr
