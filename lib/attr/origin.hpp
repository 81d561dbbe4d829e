// SPDX-License-Identifier: MIT
// Where the value of an attribute comes from, and in which transition of the QP it
// counts.
#pragma once

#include <infiniband/verbs.h>

#include "lib/attr/fields.hpp"

namespace qpattr::attr {

// The state to which ibv_modify_qp() moves the QP when it reads the attribute as the
// connection manager hands it out. IBV_QPS_UNKNOWN for what belongs to every
// transition (qp_state) or is in no answer (cap.max_send_wr).
[[nodiscard]] ibv_qp_state transition_of(const attribute &what) noexcept;

// One sentence, for people; "" for what is in no answer.
[[nodiscard]] const char *origin_of(const attribute &what) noexcept;

} // namespace qpattr::attr
