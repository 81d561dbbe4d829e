// SPDX-License-Identifier: MIT
// What a program of tools runs or preloads: files that are built and installed with it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace qpattr {

// The directory of this program, without a slash at the end.
[[nodiscard]] std::string own_dir();

// Such a file that cannot be used: what is wrong with it, and what to do. One line of both.
struct unusable : std::runtime_error {
	unusable(const std::string &wrong_, const std::string &fix_)
		: runtime_error{wrong_ + ": " + fix_}, wrong{wrong_}, fix{fix_}
	{
	}
	std::string wrong, fix;
};

// The path of such a file, without links: `built` as seen from own_dir() where that ends in
// `room` ("/tools/qpattr"), else `installed`. Empty if it is not there. Throws
// `unusable` if it may be there by the doing of somebody who could not have put another
// program in this one's place.
[[nodiscard]] std::string companion(std::string_view room, const std::string &built, const std::string &installed);

} // namespace qpattr
