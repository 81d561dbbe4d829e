// SPDX-License-Identifier: MIT
// Where stock librdmacm keeps the kernel's handle inside its rdma_cm_id.
//
// The place is private to librdmacm and may differ with its version, the
// platform and the C library. It is found out in the running process, with the
// kernel as the oracle: ids are made on a descriptor of our own, every 4-byte
// value behind their public part is a candidate, and the kernel tells which
// values are handles. No table of versions, no guess: where not exactly one
// place fits, there is no answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/preload/stock.hpp"
#include "lib/result.hpp"

namespace qpattr::preload {

// Why there was no answer, for diagnostics.
enum class obstacle {
	none,
	no_stock,     // no librdmacm in the process, or one without the functions
	no_device,    // the device cannot be opened
	no_id,	      // stock could not make an id on our descriptor
	no_candidate, // no place holds handles
	ambiguous,    // several places do
	several,      // several librdmacm, whose ids differ
};

[[nodiscard]] const char *obstacle_text(obstacle what) noexcept;

struct discovery {
	std::size_t offset = 0; // of the handle in an id, bytes; 0 if not found
	obstacle what = obstacle::none;
	int code = 0; // errno that goes with it, or 0

	// Worth another try at a later call: descriptors or memory were short, or
	// the device was not there yet. A layout that was read and did not fit
	// will not fit later.
	[[nodiscard]] bool transient() const noexcept
	{
		return what == obstacle::no_device || what == obstacle::no_id;
	}
};

// Finds the place. `device` is a descriptor of the rdma_cm device that nobody
// else uses. Leaves nothing behind: every id is destroyed again.
[[nodiscard]] discovery discover(const stock &library, int device) noexcept;

// The same on a descriptor of its own, opened for it. `channel_fd` belongs to
// the id that the caller asks about: where the node is out of reach (after a
// chroot), the device is opened again through it.
[[nodiscard]] discovery discover(int channel_fd) noexcept;

} // namespace qpattr::preload
