// SPDX-License-Identifier: MIT
// Multicast groups that an id joined.
#pragma once

#include <atomic>
#include <cstdint>

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

struct group {
	group *next;
	identifier *member;
	void *context;			  // comes back in the event
	sockaddr_storage address;
	std::uint32_t handle;
	std::atomic<std::uint32_t> acked; // acks.hpp
	bool send_only;
	std::atomic<bool> attached;	  // the id's QP receives from it
	union ibv_gid gid;
	std::uint16_t lid;
};

// The join succeeded: the id's QP, where it has one and is to receive, gets the
// group's messages.
[[nodiscard]] result<void> attach(group &joined, const rdma_ud_param &where) noexcept;

// Before the id's QP is destroyed: the kernel does not destroy one that is attached.
void detach_all(identifier &id) noexcept;

// With their id: the kernel has left them, their events are acknowledged.
void free_groups(identifier &id) noexcept;

} // namespace qpattr::cm
