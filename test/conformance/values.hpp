// SPDX-License-Identifier: MIT
// What the answers on an established connection must contain, known from what the
// two sides offered each other, whatever any implementation says.
#pragma once

#include "test/conformance/report.hpp"

namespace conformance {

// What the active side connects with and what the passive side accepts with. All
// numbers differ, so that none can stand in for another.
[[nodiscard]] rdma_conn_param offered();
[[nodiscard]] rdma_conn_param accepted();

struct established_side {
	rdma_cm_id *id;
	std::uint32_t qp_number;
};

// Adds a case for each implementation and side.
void check_values(report &to, const established_side &active, const established_side &passive);

} // namespace conformance
