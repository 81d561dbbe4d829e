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

// For as long as this lives, who destroys the id waits, as for an event that was not
// acknowledged. For calls that touch an id after a command which brings an event or
// hands the id to another thread: that thread may destroy it before the call is done.
// Not around the wait for an event, which a destruction is not to wait for.
class kept {
public:
	explicit kept(std::atomic<std::uint32_t> &acked) noexcept;
	~kept() { acknowledge(acked_); }
	kept(const kept &) = delete;
	kept &operator=(const kept &) = delete;

private:
	std::atomic<std::uint32_t> &acked_;
};

} // namespace qpattr::cm
