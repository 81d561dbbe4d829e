// SPDX-License-Identifier: MIT
// One event as it was read: the public struct, what its acknowledgement counts
// on, and the kernel's reply, into which private_data points.
#pragma once

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

struct group;

// Filled by take_effect() and event.cpp, freed by rdma_ack_cm_event().
struct event_record : rdma_cm_event {
	identifier *counted; // the kernel counts the event on this id; nullptr: no more
	group *counted_too;  // and, if not nullptr, on this multicast group
	event_record *next;  // among the left ones (left_events.cpp)
	int fd;		     // of the channel that it was read from
	uapi::get_event::reply reply;
};

// Whose event a reply is: the id's, and where it tells of a multicast group, the
// group's too. nullptr: nobody's that lives.
struct owner {
	identifier *id;
	group *joined;
};
[[nodiscard]] owner owner_of(const uapi::get_event::reply &reply) noexcept;

// What an event does to its id, by its number: see event_effects.cpp. False: the
// program is not to see it.
[[nodiscard]] bool take_effect(event_record &happened) noexcept;

} // namespace qpattr::cm
