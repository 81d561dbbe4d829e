// SPDX-License-Identifier: MIT
// The life of an id: made for the caller or for a connection request, released
// once nothing can reach it.
#pragma once

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

struct id_properties {
	rdma_port_space ps;
	ibv_qp_type qp_type;
	void *context;
};

// An id in memory and in the live table, which the kernel does not know yet.
[[nodiscard]] result<identifier *> make_id(rdma_event_channel *channel,
					   const id_properties &what) noexcept;

// Makes the id in the kernel too. channel == nullptr: the id gets a channel of its
// own and is synchronous.
[[nodiscard]] result<identifier *> create_id(rdma_event_channel *channel,
					     const id_properties &what) noexcept;

// Takes the id out of the table and frees it. The kernel has forgotten it, its
// events are acknowledged.
void release(identifier *id) noexcept;

// The kernel forgets the id; returns how many of its events were delivered.
[[nodiscard]] result<std::uint32_t> destroy_in_kernel(int fd, std::uint32_t handle) noexcept;

// rdma_destroy_id().
[[nodiscard]] result<void> destroy(identifier *id) noexcept;

// Moves the id to another channel's descriptor, where it is synchronous or not; waits
// for its acknowledgements. The id may be gone afterwards, destroyed by whoever read an
// event of it there.
[[nodiscard]] result<void> move(identifier &id, rdma_event_channel *to, bool synchronous) noexcept;

} // namespace qpattr::cm
