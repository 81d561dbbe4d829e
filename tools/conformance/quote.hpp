// SPDX-License-Identifier: MIT
// Words of a command that is printed to be repeated.
#pragma once

#include <string>

namespace conformance {

// As one word of a shell, whatever is in it.
inline std::string shell_word(const std::string &text)
{
	static const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789+,-./:=@_%";
	if (!text.empty() && text.find_first_not_of(plain) == std::string::npos)
		return text;
	std::string out = "'";
	for (const char each : text)
		each == '\'' ? out.append("'\\''") : out.append(1, each);
	return out + "'";
}

} // namespace conformance
