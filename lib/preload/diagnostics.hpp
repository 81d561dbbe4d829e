// SPDX-License-Identifier: MIT
// What the preload object says on standard error, and only when asked to:
// QPATTR_DEBUG=1 in the environment of a program that is not set-user-ID.
#pragma once

#include "lib/preload/discover.hpp"

namespace qpattr::preload {

// Both are called at most once a process, outside the hot path. A process that ends
// without either, and that has librdmacm or libibverbs loaded, says that.
void report_found(std::size_t offset) noexcept;
void report_stock(const discovery &why) noexcept;

} // namespace qpattr::preload
