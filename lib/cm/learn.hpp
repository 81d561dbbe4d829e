// SPDX-License-Identifier: MIT
// What the public struct shows of an id, asked of the kernel: addresses, device,
// port, paths.
#pragma once

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

// Bytes of an address of this family, 0 for one that the kernel does not take.
[[nodiscard]] std::uint16_t address_len(const sockaddr *address) noexcept;

// QUERY_ROUTE tells all of it in one command, save addresses of AF_IB, which are
// longer than its room: those cost one command more.
//
// Fills route.addr and, where the id has a device, verbs, pd, port_num, ibaddr and
// the paths. Nothing is changed on failure. ENOMEM; what the kernel or opening
// the device gave.
[[nodiscard]] result<void> learn(identifier &id) noexcept;

// The paths alone, after the route was resolved.
[[nodiscard]] result<void> learn_paths(identifier &id) noexcept;

} // namespace qpattr::cm
