/* SPDX-License-Identifier: MIT */
/* Waiting for events, with an end. */
#pragma once

#include <rdma/rdma_cma.h>

/* NULL if none comes in time; errno then is ETIME, or get_cm_event's. */
struct rdma_cm_event *event_next(struct rdma_event_channel *channel, int timeout_ms);
