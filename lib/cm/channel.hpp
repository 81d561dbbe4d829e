// SPDX-License-Identifier: MIT
// Event channels: a descriptor of the rdma_cm device, each with the ids and the
// queue of events of its own.
#pragma once

#include "lib/result.hpp"

#include <rdma/rdma_cma.h>

namespace qpattr::cm {

[[nodiscard]] result<rdma_event_channel *> open_channel() noexcept;
void close_channel(rdma_event_channel *channel) noexcept;

} // namespace qpattr::cm
