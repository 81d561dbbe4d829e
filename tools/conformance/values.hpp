// SPDX-License-Identifier: MIT
// What the answers on an established connection must contain, known from what the
// two sides offered each other, whatever any implementation says.
#pragma once

#include "tools/conformance/report.hpp"

namespace conformance {

struct established_side {
	rdma_cm_id *id;
	std::uint32_t qp_number;
};

// Adds a case for each implementation and side.
void check_values(report &to, const established_side &active, const established_side &passive);

} // namespace conformance
