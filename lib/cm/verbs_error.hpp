// SPDX-License-Identifier: MIT
// What a verb meant that answered an int other than 0: an errno, or -1 with errno
// set, or, from some providers, -1 alone. errno is to be 0 before the call.
#pragma once

#include <cerrno>

#include "lib/result.hpp"

namespace qpattr::cm {

[[nodiscard]] inline failure verbs_failure(int answer) noexcept
{
	const int code = answer > 0 ? answer : errno > 0 ? errno : EIO;
	return {code, QPATTR_STAGE_COMMAND};
}

} // namespace qpattr::cm
