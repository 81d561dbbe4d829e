// SPDX-License-Identifier: MIT
// What is alive: the process's ids, events, channels and multicast groups.
#pragma once

#include "lib/cm/event.hpp"
#include "lib/cm/groups.hpp"
#include "lib/cm/identifier.hpp"
#include "lib/cm/pool.hpp"

namespace qpattr::cm {

extern constinit pool<identifier, 4> ids;
extern constinit pool<event_record, 4> events;
extern constinit pool<group, 2> groups;
extern constinit pool<rdma_event_channel, 6> channels;

} // namespace qpattr::cm
