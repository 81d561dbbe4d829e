/* SPDX-License-Identifier: MIT */
/* Reading events, acknowledging them, and destroying what has some left. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum channel_state { EVENT_THERE, EMPTY, EMPTY_NONBLOCKING, FD_CLOSED, FD_MINUS_ONE, FD_NULL };

static const struct setting unread = { ADDR_UNREAD, RDMA_PS_TCP, false, false };

/* a: state of the channel, b: whether there is a place for the event. */
static void get_event(const struct misuse *self)
{
	struct scene scene;
	struct rdma_cm_event *event;
	struct setting setting = unread;

	if (self->a == EMPTY || self->a == EMPTY_NONBLOCKING)
		setting.stage = CREATED;
	scene_set(&scene, &setting);
	if (self->a == EMPTY_NONBLOCKING)
		MUST(!fcntl(scene.channel->fd, F_SETFL, O_NONBLOCK));
	else if (self->a == FD_CLOSED)
		close(scene.channel->fd);
	else if (self->a == FD_MINUS_ONE)
		scene.channel->fd = -1;
	else if (self->a == FD_NULL)
		MUST(dup2(open("/dev/null", O_RDWR), scene.channel->fd) >= 0);
	output_fill(&event, sizeof(event));
	TRY(rdma_get_cm_event(scene.channel, self->b ? &event : NULL));
	output_check(&event, sizeof(event));
}

static void get_event_no_channel(const struct misuse *self)
{
	struct rdma_cm_event *event;

	(void)self;
	output_fill(&event, sizeof(event));
	TRY(rdma_get_cm_event(NULL, &event));
	output_check(&event, sizeof(event));
}

static void on_alarm(int number)
{
	(void)number;
}

static void get_event_interrupted(const struct misuse *self)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 100000 }, { 0, 300000 } };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;

	(void)self;
	MUST(channel);
	sigaction(SIGALRM, &action, NULL);
	output_fill(&event, sizeof(event));
	setitimer(ITIMER_REAL, &often, NULL);
	TRY(rdma_get_cm_event(channel, &event));
	output_check(&event, sizeof(event));
}

static void ack_null(const struct misuse *self)
{
	(void)self;
	TRY(rdma_ack_cm_event(NULL));
}

static void ack_twice(const struct misuse *self)
{
	struct scene scene;
	struct rdma_cm_event *event;

	(void)self;
	scene_set(&scene, &unread);
	MUST(!rdma_get_cm_event(scene.channel, &event));
	MUST(!rdma_ack_cm_event(event));
	TRY(rdma_ack_cm_event(event));
}

/* An event that no call returned. */
static void ack_foreign(const struct misuse *self)
{
	struct scene scene;
	struct rdma_cm_event *event = calloc(1, 4096);

	scene_set(&scene, &unread);
	MUST(event);
	if (self->a)
		event->id = scene.id;
	TRY(rdma_ack_cm_event(event));
}

enum owner { OWN_EVENT, OF_LISTENER, OF_REQUEST };

/* An event of the id has been read and not acknowledged. a: whose, b: destroy_ep. */
static void destroy_unacknowledged(const struct misuse *self)
{
	struct setting setting = unread;
	struct scene scene;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (self->a != OWN_EVENT)
		setting.stage = CONNECTING;
	scene_set(&scene, &setting);
	MUST(!rdma_get_cm_event(self->a == OWN_EVENT ? scene.channel : scene.peer_channel, &event));
	id = self->a == OF_REQUEST ? event->id : self->a == OF_LISTENER ? event->listen_id : scene.id;
	if (self->b)
		TRY_VOID(rdma_destroy_ep(id));
	else
		TRY(rdma_destroy_id(id));
}

/* The event is there, unread: it goes with the id. */
static void destroy_unread(const struct misuse *self)
{
	struct scene scene;

	(void)self;
	scene_set(&scene, &unread);
	TRY(rdma_destroy_id(scene.id));
	attempt_note("event", scene_next_event(scene.channel, 100));
}

static void migrate_unacknowledged(const struct misuse *self)
{
	struct scene scene;
	struct rdma_cm_event *event;

	(void)self;
	scene_set(&scene, &unread);
	MUST(!rdma_get_cm_event(scene.channel, &event));
	TRY(rdma_migrate_id(scene.id, scene.peer_channel));
}

static void add(struct misuse_list *list, const char *name, int a, int b, enum mark mark)
{
	struct misuse *added = misuse_add(list, "rdma_get_cm_event", get_event, "%s", name);

	added->a = a;
	added->b = b;
	added->mark = mark;
}

void cases_of_events(struct misuse_list *list)
{
	misuse_add(list, "rdma_get_cm_event", get_event_no_channel, "channel NULL");
	add(list, "event NULL, one is there", EVENT_THERE, 0, MARK_NONE);
	add(list, "event NULL, none is there", EMPTY_NONBLOCKING, 0, MARK_NONE);
	add(list, "good", EVENT_THERE, 1, MARK_NONE);
	add(list, "none is there", EMPTY, 1, MARK_WAITS);
	add(list, "none is there, non-blocking", EMPTY_NONBLOCKING, 1, MARK_NONE);
	add(list, "descriptor closed", FD_CLOSED, 1, MARK_NONE);
	add(list, "descriptor -1", FD_MINUS_ONE, 1, MARK_NONE);
	add(list, "descriptor of /dev/null", FD_NULL, 1, MARK_CHANCE);
	misuse_add(list, "rdma_get_cm_event", get_event_interrupted, "interrupted by a signal");

	misuse_add(list, "rdma_ack_cm_event", ack_null, "event NULL");
	misuse_add(list, "rdma_ack_cm_event", ack_twice, "twice")->mark = MARK_UNDEFINED;
	misuse_add(list, "rdma_ack_cm_event", ack_foreign, "of nobody, id NULL")->mark = MARK_UNDEFINED;
	struct misuse *added = misuse_add(list, "rdma_ack_cm_event", ack_foreign, "of nobody, with an id");
	added->a = 1;
	added->mark = MARK_UNDEFINED;

	static const char *const owners[] = { "its event not acknowledged", "its request not acknowledged",
					      "the request that made it not acknowledged" };
	for (int ep = 0; ep < 2; ep++)
		for (int owner = OWN_EVENT; owner <= OF_REQUEST; owner++) {
			added = misuse_add(list, ep ? "rdma_destroy_ep" : "rdma_destroy_id", destroy_unacknowledged, "%s",
					   owners[owner]);
			added->a = owner;
			added->b = ep;
			/* The request's event counts for the listener, not for the new id. */
			added->mark = owner == OF_REQUEST ? MARK_NONE : MARK_WAITS;
		}
	misuse_add(list, "rdma_destroy_id", destroy_unread, "its event unread");
	misuse_add(list, "rdma_migrate_id", migrate_unacknowledged, "its event not acknowledged")->mark = MARK_WAITS;
}
