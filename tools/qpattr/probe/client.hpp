// SPDX-License-Identifier: MIT
// The active end of a probe.
#pragma once

#include "tools/qpattr/probe/plan.hpp"
#include "tools/qpattr/probe/report.hpp"

namespace qpattr::tool::probe {

// One connection from its beginning to its end. Throws `failure` with what went wrong and
// what to do.
[[nodiscard]] report call(const place &where, const plan &how);

} // namespace qpattr::tool::probe
