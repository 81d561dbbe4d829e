// SPDX-License-Identifier: MIT
// What follows from the value of one attribute, with the others it works with at their
// usual values; and from all timers of a connection together.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/attr/fields.hpp"
#include "lib/attr/lint.hpp"
#include "lib/attr/waits.hpp"
#include "tools/qpattr/common/page.hpp"

namespace qpattr::tool {

// "17.2 s to 68.7 s"
[[nodiscard]] std::string span(const attr::time_span &of);

[[nodiscard]] std::vector<fact> what_follows(const attr::attribute &what, std::uint32_t value);

// The worst cases that the mask has attributes for: a dead peer, a lost packet.
[[nodiscard]] std::vector<fact> worst_cases(const ibv_qp_attr &attr, std::uint32_t mask,
					    const attr::surroundings &at);

} // namespace qpattr::tool
