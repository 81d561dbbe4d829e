// SPDX-License-Identifier: MIT
// The values of parse.hpp: numbers, times, sizes, rates and names as fields hold them.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/attr/fields.hpp"
#include "lib/attr/text.hpp"

namespace qpattr::attr {

[[nodiscard]] constexpr char lower(char c) noexcept
{
	return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Names are as good in upper case.
[[nodiscard]] constexpr bool same_name(std::string_view a, std::string_view b) noexcept
{
	if (a.size() != b.size())
		return false;
	for (std::size_t i = 0; i < a.size(); ++i)
		if (lower(a[i]) != lower(b[i]))
			return false;
	return true;
}

[[nodiscard]] constexpr bool begins(std::string_view whole, std::string_view with) noexcept
{
	return whole.size() >= with.size() &&
	       same_name(std::string_view{whole.data(), with.size()}, with);
}

// A whole text that is a number, decimal or hexadecimal.
[[nodiscard]] bool number_of(std::string_view from, std::uint32_t &out) noexcept;

enum class outcome {
	done,
	not_this, // it is not in the field's units
	refused,  // it is, and there is none such; the text says why
};

// A value in the units of its field; a number alone is not_this, but for the sizes
// of a path MTU.
[[nodiscard]] outcome take_with_unit(std::string_view value, unit kind, std::uint32_t &number,
				     bool &rounded, text &why) noexcept;

} // namespace qpattr::attr
