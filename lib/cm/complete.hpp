// SPDX-License-Identifier: MIT
// Synchronous ids: a call waits for the event that ends it, which stays with the
// id (rdma_cm_id::event) until the next call.
#pragma once

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

// At the end of a call whose command was sent; nothing where it does not wait. An
// asynchronous id may be gone by now, destroyed by whoever read the event: whether
// the call waits was looked up before the command was sent.
//
// The errno of an event that tells a failure: its status where that is negative;
// ECONNREFUSED where the peer refused.
[[nodiscard]] result<void> complete(identifier &id, bool waits) noexcept;

// Acknowledges the event that the last call left.
void drop_event(identifier &id) noexcept;

} // namespace qpattr::cm
