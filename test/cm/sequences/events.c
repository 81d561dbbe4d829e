/* SPDX-License-Identifier: MIT */
/* Operations on channels and events. */
#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../programs/dump.h"

/* --- channels ------------------------------------------------------------ */

static const char *prepare_channel(struct call *call)
{
	struct channel_slot *slot = channel_named(call->word[1]);

	return slot && !slot->channel ? NULL : "taken";
}

static int make_channel(struct call *call)
{
	call->channel = rdma_create_event_channel();
	return call->channel ? 0 : -1;
}

static void after_channel(struct call *call)
{
	if (!call->channel)
		return;
	/* Nothing here waits for ever. */
	fcntl(call->channel->fd, F_SETFL, fcntl(call->channel->fd, F_GETFL) | O_NONBLOCK);
	channel_named(call->word[1])->channel = call->channel;
	pointer_name(call->channel, channel_named(call->word[1])->name);
}

static const char *prepare_close(struct call *call)
{
	struct channel_slot *slot = channel_named(call->word[1]);

	if (!slot || !slot->channel)
		return "no such channel";
	if (ids_on(slot->channel))
		return "avoided: it has ids";
	for (int i = 0; i < EVENT_SLOTS; i++)
		if (world.events[i].event)
			return "avoided: events are not acknowledged";
	return NULL;
}

static int make_close(struct call *call)
{
	struct channel_slot *slot = channel_named(call->word[1]);

	pointer_forget(slot->channel);
	rdma_destroy_event_channel(slot->channel);
	slot->channel = NULL;
	return 0;
}

/* --- events -------------------------------------------------------------- */

static void took_place(struct slot *slot, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (slot->stage == RESOLVING)
			slot->stage = event->status || event->event == RDMA_CM_EVENT_ADDR_ERROR ? BOUND : ADDR_RESOLVED;
		slot->may_fail = false;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (slot->stage == ADDR_RESOLVED)
			slot->stage = ROUTE_RESOLVED;
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		slot->stage = RESPONDED;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		slot->stage = ESTABLISHED;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		slot->stage = DISCONNECTED;
		break;
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		slot->stage = ENDED;
		break;
	default:
		break;
	}
}

/* The next that is not left out; NULL and errno if there is none. */
static struct rdma_cm_event *next(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	for (;;) {
		errno = 0;
		if (rdma_get_cm_event(channel, &event))
			return NULL;
		/* Seconds after the rest: whether a sequence still sees it is chance. */
		if (event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
			return event;
		rdma_ack_cm_event(event);
	}
}

/* Shows it and what it did to its id, which comes into the slot `wished` if it is new. */
static struct slot *show(struct rdma_cm_event *event, const char *wished)
{
	bool is_request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
	struct slot *slot = is_request ? slot_empty(wished) : slot_of(event->id);

	/* compare.py takes what comes on different ids in any order. */
	printf("  event on %s\n", is_request ? "a listener" : slot ? slot->name : "another");
	if (is_request && slot) {
		slot->id = event->id;
		slot->stage = REQUESTED;
		slot->sync = false;
		slot->held = 0;
		slot->may_fail = false;
		pointer_name(event->id, slot->name);
	}
	dump_event(event, event->id && is_datagram(event->id));
	if (slot && !is_request)
		took_place(slot, event);
	if (slot)
		dump_slot(slot);
	return is_request ? slot_of(event->listen_id) : slot;
}

static void acknowledge(struct rdma_cm_event *event)
{
	errno = 0;
	int result = rdma_ack_cm_event(event);

	if (result)
		detail("rdma_ack_cm_event %s", result_text(result, errno).s);
}

static struct rdma_event_channel *channel_of(const struct call *call)
{
	struct channel_slot *slot = channel_named(call->word[1]);

	return slot ? slot->channel : NULL;
}

static const char *prepare_drain(struct call *call)
{
	return channel_of(call) ? NULL : "no such channel";
}

/* drain CHANNEL: reads and acknowledges all. */
static void after_drain(struct call *call)
{
	struct rdma_cm_event *event;
	struct rdma_event_channel *channel = channel_of(call);

	for (int turn = 0; turn < 3; turn++) {
		int read = 0;

		while ((event = next(channel))) {
			show(event, NULL);
			acknowledge(event);
			read++;
		}
		if (errno != EAGAIN)
			detail("rdma_get_cm_event %s", result_text(-1, errno).s);
		if (!read)
			break;
		/* What was read may have been answered. */
		settle();
	}
}

/* get CHANNEL EVENT ID: reads one and keeps it. */
static const char *prepare_get(struct call *call)
{
	struct event_slot *kept = event_named(call->word[2]);

	if (!channel_of(call))
		return "no such channel";
	return kept && !kept->event ? NULL : "taken";
}

static void after_get(struct call *call)
{
	struct event_slot *kept = event_named(call->word[2]);

	kept->event = next(channel_of(call));
	if (!kept->event) {
		detail("rdma_get_cm_event %s", result_text(-1, errno).s);
		return;
	}
	kept->counted = show(kept->event, call->word[3]);
	if (kept->counted)
		kept->counted->held++;
	settle();
}

static const char *prepare_ack(struct call *call)
{
	struct event_slot *kept = event_named(call->word[1]);

	return kept && kept->event ? NULL : "no such event";
}

static int make_ack(struct call *call)
{
	struct event_slot *kept = event_named(call->word[1]);
	struct rdma_cm_event *event = kept->event;

	kept->event = NULL;
	if (kept->counted && kept->counted->held)
		kept->counted->held--;
	return rdma_ack_cm_event(event);
}

static void after_wait(struct call *call)
{
	usleep((useconds_t)atoi(call->word[1]) * 1000);
}

/* clang-format off */
const struct operation event_operations[] = {
	/* name      on        words prepare          make          after          waits  stirs */
	{ "channel", ON_WORLD, 1,    prepare_channel, make_channel, after_channel, false, false },
	{ "close",   ON_WORLD, 1,    prepare_close,   make_close,   NULL,          false, false },
	{ "drain",   ON_WORLD, 1,    prepare_drain,   NULL,         after_drain,   false, false },
	{ "get",     ON_WORLD, 3,    prepare_get,     NULL,         after_get,     false, false },
	{ "ack",     ON_WORLD, 1,    prepare_ack,     make_ack,     NULL,          false, true },
	{ "wait",    ON_WORLD, 1,    NULL,            NULL,         after_wait,    false, false },
	{ NULL,      ON_WORLD, 0,    NULL,            NULL,         NULL,          false, false },
};
/* clang-format on */
