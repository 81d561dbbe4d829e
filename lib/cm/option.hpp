// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

// SET_OPTION. The kernel checks all of it, `optval` too (EFAULT).
[[nodiscard]] result<void> set_option(const identifier &id, int level, int optname,
				      const void *optval, std::size_t optlen) noexcept;

} // namespace qpattr::cm
