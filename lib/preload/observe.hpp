// SPDX-License-Identifier: MIT
// A call with a trace or overrides: QPATTR_TRACE or QPATTR_OVERRIDE was set when the
// object was loaded. docs/trace.md is the contract.
#pragma once

#include "lib/preload/foreign_id.hpp"

struct ibv_qp_attr;

namespace qpattr::preload {

// Either of the two is on. Written once, before the program runs.
[[gnu::visibility("hidden")]] extern bool observing;

// What serve_slowly() is then.
[[gnu::cold, gnu::noinline]] int observe(cm_id *id, ibv_qp_attr *attr, int *mask,
					 const void *caller) noexcept;

} // namespace qpattr::preload
