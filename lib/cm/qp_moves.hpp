// SPDX-License-Identifier: MIT
// Moves of a QP from state to state, with the attributes that the kernel gives.
#pragma once

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

// A value of struct rdma_conn_param that the kernel's own is to stand for.
inline constexpr int kernels_own = -1;

// RESET or INIT to INIT; for a datagram QP on to RTR and RTS.
[[nodiscard]] result<void> to_init(const identifier &id, ibv_qp &qp) noexcept;
[[nodiscard]] result<void> to_ready(const identifier &id, ibv_qp &qp, int responder_resources,
				    int initiator_depth) noexcept;
[[nodiscard]] result<void> to_datagram_ready(const identifier &id, ibv_qp &qp) noexcept;
[[nodiscard]] result<void> to_error(ibv_qp &qp) noexcept;

// The active side, on the peer's answer: the id's QP to RTS and ACCEPT; on failure
// the peer is refused and the QP is in error.
[[nodiscard]] result<void> complete_active(identifier &id) noexcept;

// Whether the kernel still has a connection for the id, or is making one.
[[nodiscard]] bool still_connecting(const identifier &id) noexcept;

// Enhanced connection establishment: what the QP offers, and what the peer chose.
// A device without it has nothing to say.
[[nodiscard]] rdma_ucm_ece ece_of(ibv_qp &qp) noexcept;
void set_ece(ibv_qp &qp, const rdma_ucm_ece &peer) noexcept;

} // namespace qpattr::cm
