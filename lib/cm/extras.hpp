// SPDX-License-Identifier: MIT
// What few ids need, allocated when one does.
#pragma once

#include <atomic>
#include <cstdint>
#include <pthread.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "uapi/command.hpp"

namespace qpattr::cm {

struct identifier;
struct group;

struct extras {
	pthread_mutex_t lock;	   // of groups
	group *groups;		   // multicast.cpp
	int left_channel;	   // a listener's descriptor before rdma_migrate_id(), or -1
	rdma_event_channel *left_own; // the channel of that descriptor, if it was the id's own
	std::uint8_t connect_len;  // endpoint.cpp
	bool has_qp_init;
	ibv_qp_init_attr qp_init;
	std::uint8_t connect_data[255];
};

// nullptr: there is none yet, or no memory.
[[nodiscard]] extras *extras_of(const identifier &id) noexcept;
[[nodiscard]] extras *make_extras(identifier &id) noexcept;
void free_extras(identifier &id) noexcept;

} // namespace qpattr::cm
