// SPDX-License-Identifier: MIT
// Events that were read and not yet acknowledged keep an id alive: whoever ends
// or moves the id waits until as many were acknowledged as the kernel says that
// it delivered.
//
// The count and "somebody waits" share one word, which the waiter sleeps on; an
// acknowledgement makes a system call only where somebody waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace qpattr::cm {

// One event more is acknowledged. What `acked` lies in may be freed by the
// waiter at any moment after; nothing here touches it then.
void acknowledge(std::atomic<std::uint32_t> &acked) noexcept;

// Waits until `delivered` (the kernel's count, which grows over the id's life)
// are acknowledged. `what` and `handle` are for the line that is printed with
// QPATTR_DEBUG when it takes long.
void await_acks(std::atomic<std::uint32_t> &acked, std::uint32_t delivered, const char *what,
		std::uint32_t handle) noexcept;

} // namespace qpattr::cm
