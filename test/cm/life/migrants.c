/* SPDX-License-Identifier: MIT */
/* A listener moves with its unread requests; their new ids stay behind in the kernel. */
#include "traps.h"

static void moves(const char *name)
{
	struct rdma_event_channel *to = HAVE(rdma_create_event_channel()), *old;
	struct rdma_conn_param param = foreign_param();
	struct rdma_cm_event *event;
	struct ends it;

	ends_listen(&it);
	ends_route(&it);
	MUST(rdma_connect(it.active, &param));
	usleep(300000); /* the request waits unread */
	MUST(rdma_migrate_id(it.listener, to));
	old = it.at_passive;
	it.at_passive = to;
	event = next_event(to, 3000);
	if (check(event && event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->id->channel == to, name,
		  "it is not read there")) {
		it.passive = event->id;
		rdma_ack_cm_event(event);
		ends_response(&it);
		ends_establish(&it);
	} else if (event) {
		rdma_ack_cm_event(event);
	}
	ends_close(&it);
	rdma_destroy_event_channel(old);
}

void migrants(void)
{
	moves("15: an unread request is served on the channel that its listener moved to");
}
