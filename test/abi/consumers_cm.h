/* SPDX-License-Identifier: MIT */
/* What a program of rdma_cm says that must run where there is a device and where
 * there is none. Compiled as C and as C++. */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int look(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id = NULL;

	if (strcmp(rdma_event_str(RDMA_CM_EVENT_ESTABLISHED), "RDMA_CM_EVENT_ESTABLISHED") != 0)
		return 1;
	errno = 0;
	channel = rdma_create_event_channel();
	if (!channel)
		return errno ? 0 : 2;
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) || !id)
		return 3;
	if (rdma_destroy_id(id))
		return 4;
	rdma_destroy_event_channel(channel);
	return 0;
}
