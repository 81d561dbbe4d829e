// SPDX-License-Identifier: MIT
// RDMA devices as ids need them: opened on first use, once a process, shared by
// all ids, with the protection domain that ids without one of their own use.
// Never closed: ids and the program's own objects hang on the context.
#pragma once

#include <atomic>
#include <cstdint>

#include <infiniband/verbs.h>

#include "lib/result.hpp"

namespace qpattr::cm {

struct device {
	device *next;
	ibv_context *verbs;
	ibv_pd *pd;
	std::uint64_t guid;		// network byte order
	std::uint32_t index;		// the kernel's; a device that comes back has another
	std::uint8_t max_responder_resources;
	std::uint8_t max_initiator_depth;
	ibv_xrcd *xrcd;			// default_xrcd()'s; nullptr until one is wanted
	std::atomic<std::uint8_t> layers[8]; // of the first ports; 0: not asked yet
};

// Has libibverbs look for its drivers, if it has not yet. It does so once a process, with
// what descriptors, files and rights there are then; found late, some would be missing
// for ever. Opens no device.
void start_verbs() noexcept;

// The device that the kernel means. Looks at what is open without a lock, and
// opens it where it is new. ENODEV: no such device for libibverbs (its driver's
// provider is missing, or it is gone); ENOMEM; what opening it gave.
[[nodiscard]] result<device *> device_of(std::uint64_t guid, std::uint32_t index) noexcept;

// The device that an id is on; nullptr where it has none, or verbs that are not
// ours.
[[nodiscard]] device *device_of(const ibv_context *verbs) noexcept;

// The XRC domain of ids that bring none. EOPNOTSUPP where the device has no XRC.
[[nodiscard]] result<ibv_xrcd *> default_xrcd(const ibv_context *verbs) noexcept;

// Whether the port speaks Ethernet (RoCE, iWARP) rather than InfiniBand.
[[nodiscard]] bool is_ethernet(device &dev, std::uint8_t port) noexcept;

} // namespace qpattr::cm
