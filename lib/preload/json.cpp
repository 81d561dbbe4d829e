// SPDX-License-Identifier: MIT
#include "lib/preload/json.hpp"

#include <cstdint>
#include <cstring>

namespace qpattr::preload {
namespace {

// The length of the character at the front, 0 if there is none: cut off, longer than
// need be, half of a surrogate pair, or beyond Unicode.
std::size_t character_len(const char *bytes, std::size_t len) noexcept
{
	const auto at = [&](std::size_t i) noexcept { return static_cast<std::uint8_t>(bytes[i]); };
	const std::uint8_t first = at(0);
	const std::size_t wanted = first < 0x80	  ? 1
				   : first < 0xc2 ? 0
				   : first < 0xe0 ? 2
				   : first < 0xf0 ? 3
				   : first < 0xf5 ? 4
						  : 0;
	if (wanted > len)
		return 0;
	for (std::size_t i = 1; i < wanted; ++i)
		if ((at(i) & 0xc0) != 0x80)
			return 0;
	if ((first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) >= 0xa0) ||
	    (first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) >= 0x90))
		return 0;
	return wanted;
}

} // namespace

void add_json(attr::text &to, const char *bytes, std::size_t len) noexcept
{
	to.add('"');
	while (len) {
		const std::size_t here = character_len(bytes, len);
		const auto first = static_cast<std::uint8_t>(*bytes);
		if (here == 0)
			to.add("\\ufffd");
		else if (first < 0x20 || first == 0x7f)
			to.addf("\\u%04x", first);
		else if (first == '"' || first == '\\')
			to.add('\\').add(*bytes);
		else
			to.add(bytes, here);
		bytes += here ? here : 1;
		len -= here ? here : 1;
	}
	to.add('"');
}

void add_json(attr::text &to, const char *string) noexcept
{
	add_json(to, string, std::strlen(string));
}

} // namespace qpattr::preload
