/* SPDX-License-Identifier: MIT */
/* What comes after a connection, and what a QP number that was used before costs. */
#include "traps.h"

static void timewait(void)
{
	struct ends it;

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	ends_response(&it);
	ends_establish(&it);
	MUST(rdma_disconnect(it.active));
	must_be(it.at_passive, RDMA_CM_EVENT_DISCONNECTED);
	MUST(rdma_disconnect(it.passive));
	must_be(it.at_active, RDMA_CM_EVENT_DISCONNECTED);
	check(event_is(it.at_active, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL) &&
		      event_is(it.at_passive, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL),
	      "19: TIMEWAIT_EXIT comes seconds after DISCONNECTED, and is shown", "it does not");
	ends_close(&it);
}

/* A program that destroys its ids on DISCONNECTED never sees it. */
static void no_timewait(void)
{
	struct rdma_cm_event *event;
	struct ends it;

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	ends_response(&it);
	ends_establish(&it);
	MUST(rdma_destroy_id(it.active));
	it.active = NULL;
	must_be(it.at_passive, RDMA_CM_EVENT_DISCONNECTED);
	MUST(rdma_destroy_id(it.passive));
	it.passive = NULL;
	event = next_event(it.at_passive, 4000);
	check(!event, "19: it does not come for an id that is destroyed", "it does: %s",
	      event ? rdma_event_str(event->event) : "");
	ends_close(&it);
}

static void stale_number(void)
{
	struct rdma_conn_param param = foreign_param();
	struct rdma_cm_id *first_active, *first_passive;
	struct rdma_cm_event *event;
	struct ends it;
	int status = 0, ended = 0;

	ends_listen(&it);
	ends_route(&it);
	MUST(rdma_connect(it.active, &param));
	event = HAVE(next_event(it.at_passive, 20000));
	it.passive = event->id;
	rdma_ack_cm_event(event);
	ends_response(&it);
	ends_establish(&it);
	first_active = it.active;
	first_passive = it.passive;
	it.passive = NULL;
	ends_route(&it);
	MUST(rdma_connect(it.active, &param)); /* the same QP number */
	for (int at = 0; at < 2; at++) {
		event = HAVE(next_event(it.at_active, 20000));
		ended += event->event == RDMA_CM_EVENT_DISCONNECTED && event->id == first_active;
		if (event->event == RDMA_CM_EVENT_REJECTED && event->id == it.active)
			status = event->status;
		rdma_ack_cm_event(event);
	}
	check(ended, "20: a QP number that is in use ends the older connection, as the kernel has it",
	      "it does not");
	check(status == 10, "20: and the newer is REJECTED, status 10", "status %d", status);
	MUST(rdma_destroy_id(first_active));
	MUST(rdma_destroy_id(first_passive));
	ends_close(&it);
}

void endings(void)
{
	timewait();
	no_timewait();
	stale_number();
}
