// SPDX-License-Identifier: MIT
// The librdmacm that the dynamic linker finds, and whether the preload object comes
// before it.
#pragma once

#include "tools/qpattr/doctor/machine.hpp"

namespace qpattr::tool::doctor {

[[nodiscard]] stock_library look_at_stock();

// Runs the small program that is linked with librdmacm. Of the machine it asks whether
// the device can be opened and whether there is a librdmacm.
[[nodiscard]] interception try_interception(const machine &of);

} // namespace qpattr::tool::doctor
