/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>

struct rdma_cm_event *event_next(struct rdma_event_channel *channel, int timeout_ms)
{
	struct pollfd poll_for = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	int ready;

	do
		ready = poll(&poll_for, 1, timeout_ms);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		errno = ETIME;
	if (ready != 1 || rdma_get_cm_event(channel, &event))
		return NULL;
	return event;
}
