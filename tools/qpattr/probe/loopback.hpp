// SPDX-License-Identifier: MIT
// Both ends of a probe in this process.
#pragma once

#include <functional>
#include <string>

#include "tools/qpattr/probe/plan.hpp"
#include "tools/qpattr/probe/report.hpp"

namespace qpattr::tool::probe {

// From and to an address of this machine; where the text is empty, the first that leads to
// an RDMA device. Throws `failure`.
void loop_back(const std::string &address, const plan &how,
	       const std::function<void(const report &)> &on_served);

} // namespace qpattr::tool::probe
