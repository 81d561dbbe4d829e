// SPDX-License-Identifier: MIT
// What it meant that a verb failed. errno is to be 0 before the call: some providers
// do not set it.
#pragma once

#include <cerrno>

#include "lib/result.hpp"

namespace qpattr::cm {

// The verb gave no object.
[[nodiscard]] inline failure nothing_made(int otherwise) noexcept
{
	return {errno > 0 ? errno : otherwise, QPATTR_STAGE_COMMAND};
}

// The verb answered an int other than 0: an errno, or -1 with errno set, or -1 alone.
[[nodiscard]] inline failure verbs_failure(int answer) noexcept
{
	return answer > 0 ? failure{answer, QPATTR_STAGE_COMMAND} : nothing_made(EIO);
}

} // namespace qpattr::cm
