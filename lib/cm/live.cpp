// SPDX-License-Identifier: MIT
#include "lib/cm/live.hpp"

namespace qpattr::cm {

constinit pool<identifier, 4> ids;
constinit pool<event_record, 4> events;
constinit pool<group, 2> groups;
constinit pool<rdma_event_channel, 6> channels;

} // namespace qpattr::cm
