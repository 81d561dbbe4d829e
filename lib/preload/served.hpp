// SPDX-License-Identifier: MIT
// How calls are served in this process: decided once, on the first call.
#pragma once

#include <atomic>

#include "lib/preload/foreign_id.hpp"

struct ibv_qp_attr;

namespace qpattr::preload {

// One word tells everything, so that the hot path loads and tests it once:
//   > 0  the handle is at this offset of an id: the hot path
//   = 0  not decided yet
//   -1   by stock's own function: the handle could not be found
//   < -1 at the offset with the sign turned, by serve_slowly(): under valgrind,
//        which does not see the kernel write the reply, and where calls are
//        traced or overridden
// Relaxed order is enough: the word carries no other memory with it.
using placement = std::atomic<int>;
inline constexpr int by_stock = -1;

// Hidden in the declaration too, else the hot path goes through the GOT for it.
[[gnu::visibility("hidden")]] extern placement handle_place;

// A place that cannot be looked for now (no descriptor left, say) is looked for
// again at the next calls, but not for ever: a look costs some dozens of system
// calls. This counts the looks that failed for the moment.
[[gnu::visibility("hidden")]] extern std::atomic<int> failed_looks;
inline constexpr int failed_looks_max = 16;

// Everything that is not the hot path: the first call, the careful way, stock.
// Checks `mask` and the channel, which the hot path had not got to. `caller` is
// where the call comes from.
[[gnu::cold, gnu::noinline]] int serve_slowly(cm_id *id, ibv_qp_attr *attr, int *mask,
					      const void *caller) noexcept;

// The answer alone, without trace and overrides. Sets `stock_served` where stock gave
// it.
[[gnu::cold, gnu::noinline]] int serve(cm_id *id, ibv_qp_attr *attr, int *mask,
				       const void *caller, bool &stock_served) noexcept;

// Sets errno for what sys::write() returned and returns -1.
[[gnu::cold, gnu::noinline]] int refused(long written) noexcept;

} // namespace qpattr::preload
