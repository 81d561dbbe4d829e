// SPDX-License-Identifier: MIT
// One communication identifier: the public struct rdma_cm_id and, behind it,
// what only the library knows. Kept small: stacks hold thousands of ids.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "uapi/command.hpp"

#include <rdma/rdma_cma.h>

namespace qpattr::cm {

struct extras;

// Where an id stands, as far as the calls on it and the events that were read
// tell. The kernel knows better and is the judge, save where its verdict would
// cost the connection or hang: those calls are refused here (connect.cpp,
// accept.cpp, resolve.cpp).
enum class stage : std::uint8_t {
	idle,
	bound,
	resolving,	// RESOLVE_ADDR was sent
	addr_resolved,
	route_resolved,
	listening,
	connecting,	// active: CONNECT was sent
	responded,	// active: CONNECT_RESPONSE was read, the QP is the caller's
	requested,	// passive: CONNECT_REQUEST was read
	accepted,	// passive: ACCEPT was sent
	established,
	disconnected,
	ended,		// rejected, unreachable, failed: never was a connection
	removed,	// the device is gone
};

struct identifier : rdma_cm_id {
	std::uint32_t handle;		   // the kernel's number
	std::atomic<std::uint32_t> acked;  // acks.hpp
	std::atomic<stage> at;
	std::uint8_t flags;
	// Of the request, by the names of struct rdma_conn_param: for an accept that names
	// none.
	std::uint8_t responder_resources;
	std::uint8_t initiator_depth;
	std::atomic<extras *> more;	   // what few ids need
	rdma_ucm_ece local_ece;		   // of the QP, or rdma_set_local_ece()'s
	rdma_ucm_ece remote_ece;	   // from CONNECT_REQUEST, CONNECT_RESPONSE

	enum flag : std::uint8_t {
		synchronous = 1, // its channel is its own, calls wait
		no_path = 2,	 // path records are not wanted (qpattr_create_id())
		past_pd = 4,	 // pd was a QP's that is gone, perhaps with the pd
	};
	[[nodiscard]] bool has(flag which) const noexcept { return flags & which; }
	void put(flag which, bool on) noexcept
	{
		flags = static_cast<std::uint8_t>(on ? flags | which : flags & ~which);
	}
};

// With what its pool keeps beside it (pool.hpp) at most 480 bytes an id.
static_assert(sizeof(void *) != 8 || sizeof(identifier) + 16 <= 480);
static_assert(std::is_trivially_destructible_v<identifier>);

inline identifier *own(rdma_cm_id *id) noexcept
{
	return static_cast<identifier *>(id);
}

inline stage stage_of(const identifier &id) noexcept
{
	return id.at.load(std::memory_order_acquire);
}

inline void set_stage(identifier &id, stage to) noexcept
{
	id.at.store(to, std::memory_order_release);
}

// From one stage to another, by one thread of several that try.
inline bool advance(identifier &id, stage from, stage to) noexcept
{
	return id.at.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

// Datagram ids have no connection: one lookup of the peer, no QP to move.
inline bool is_datagram(const identifier &id) noexcept
{
	return id.qp_type == IBV_QPT_UD;
}

} // namespace qpattr::cm
