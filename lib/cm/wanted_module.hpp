// SPDX-License-Identifier: MIT
// The module that makes the rdma_cm device.
#pragma once

namespace qpattr::cm {

// Asks the kernel for the device by its name, upon which it loads rdma_ucm if that is not
// loaded; so does libibverbs for librdmacm. Returns when that is done, or cannot be.
void want_module() noexcept;

} // namespace qpattr::cm
