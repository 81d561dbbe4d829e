// SPDX-License-Identifier: MIT
// Where a path leads, for every program in tools.
#pragma once

#include <climits>
#include <cstdlib>
#include <string>

namespace qpattr {

// A path without links; `otherwise` if nothing is there.
[[nodiscard]] inline std::string resolved_or(const std::string &path, const std::string &otherwise)
{
	char real[PATH_MAX];
	return ::realpath(path.c_str(), real) ? real : otherwise;
}

// The same; empty if nothing is there.
[[nodiscard]] inline std::string resolved(const std::string &path)
{
	return resolved_or(path, "");
}

} // namespace qpattr
