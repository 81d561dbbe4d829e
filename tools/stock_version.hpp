// SPDX-License-Identifier: MIT
// The version of an installed librdmacm, for every program in tools.
#pragma once

#include <string>
#include <string_view>

namespace qpattr {

// librdmacm.so.1.3.44.0 is 44.0. Empty for a file that is not called so.
[[nodiscard]] inline std::string stock_version_in(const std::string &path)
{
	constexpr std::string_view before = "librdmacm.so.1.";
	const auto at = path.rfind(before);
	if (at == std::string::npos)
		return {};
	const std::string rest = path.substr(at + before.size());
	const auto dot = rest.find('.');
	return dot == std::string::npos ? rest : rest.substr(dot + 1);
}

} // namespace qpattr
