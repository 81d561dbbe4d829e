/* SPDX-License-Identifier: MIT */
/*
 * Connects to itself: both ends of a connection, every step of it, in one process. Says
 * which step failed first, and how; destroys all that there is, and does it again,
 * which must be whole then. Linked with ours and with stock. The script calls.py makes the
 * system calls, or the allocations, of the first time fail.
 *
 * connected once: the first time alone. connected on: again and again, until one is not whole.
 */
#include "mark.h"

#include "../cm/programs/events.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { untouched = 12345 };

struct connection {
	struct rdma_event_channel *at_active, *at_passive;
	struct rdma_cm_id *listener, *active, *passive;
};

static int failed;
static unsigned patience_ms = 3000;

static int failed_at(const char *step, int error)
{
	if (!failed)
		printf("failed: %s %s\n", step, error == ETIME ? "ETIME" : error ? strerrorname_np(error) : "0");
	failed = 1;
	return 0;
}

/* A step that returns -1 and errno. */
#define STEP(name, ...) (errno = untouched, (name(__VA_ARGS__)) ? failed_at(#name, errno) : 1)
/* One that returns a pointer. */
#define MADE(to, name, ...) (errno = untouched, ((to) = name(__VA_ARGS__)) ? 1 : failed_at(#name, errno))

/* The event that was awaited; acknowledged. A request's id is kept. */
static int event_comes(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, struct rdma_cm_id **request)
{
	struct rdma_cm_event *event = event_next(channel, (int)patience_ms);
	char text[100];
	int right = event && event->event == wanted;

	if (!event)
		return snprintf(text, sizeof text, "%s", rdma_event_str(wanted)), failed_at(text, errno);
	if (!right)
		snprintf(text, sizeof text, "%s: %s", rdma_event_str(wanted), rdma_event_str(event->event));
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && request)
		*request = event->id;
	if (!right)
		failed_at(text, -event->status > 0 ? -event->status : 0);
	errno = untouched;
	return (rdma_ack_cm_event(event) == 0 || failed_at("rdma_ack_cm_event", errno)) && right;
}

/* A request whose id cannot be queried is refused, and who reads it waits for the next. */
static int does_not_wait(struct rdma_event_channel *channel)
{
	return !fcntl(channel->fd, F_SETFL, O_NONBLOCK) || failed_at("fcntl", errno);
}

static int connect_to(struct connection *it, struct sockaddr_in *there)
{
	struct ibv_qp_init_attr init = {.cap = {2, 2, 1, 1, 0}, .qp_type = IBV_QPT_RC}, init_too = init;
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 2, .rnr_retry_count = 7};

	return MADE(it->at_passive, rdma_create_event_channel) && MADE(it->at_active, rdma_create_event_channel) &&
	       does_not_wait(it->at_passive) && does_not_wait(it->at_active) &&
	       STEP(rdma_create_id, it->at_passive, &it->listener, it, RDMA_PS_TCP) &&
	       STEP(rdma_bind_addr, it->listener, (struct sockaddr *)there) && STEP(rdma_listen, it->listener, 4) &&
	       (there->sin_port = rdma_get_src_port(it->listener)) &&
	       STEP(rdma_create_id, it->at_active, &it->active, it, RDMA_PS_TCP) &&
	       STEP(rdma_resolve_addr, it->active, NULL, (struct sockaddr *)there, 2000) &&
	       event_comes(it->at_active, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) && STEP(rdma_resolve_route, it->active, 2000) &&
	       event_comes(it->at_active, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) &&
	       STEP(rdma_create_qp, it->active, NULL, &init) && STEP(rdma_connect, it->active, &param) &&
	       event_comes(it->at_passive, RDMA_CM_EVENT_CONNECT_REQUEST, &it->passive) &&
	       STEP(rdma_create_qp, it->passive, NULL, &init_too) && STEP(rdma_accept, it->passive, &param) &&
	       event_comes(it->at_active, RDMA_CM_EVENT_ESTABLISHED, NULL) &&
	       event_comes(it->at_passive, RDMA_CM_EVENT_ESTABLISHED, NULL) && STEP(rdma_disconnect, it->active) &&
	       event_comes(it->at_passive, RDMA_CM_EVENT_DISCONNECTED, NULL) && STEP(rdma_disconnect, it->passive) &&
	       event_comes(it->at_active, RDMA_CM_EVENT_DISCONNECTED, NULL);
}

/* What cannot be destroyed for a fault can be, at the second try. */
static void destroy(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	if (STEP(rdma_destroy_id, id))
		return;
	if (rdma_destroy_id(id))
		printf("wrong: rdma_destroy_id fails again: %s\n", strerrorname_np(errno));
}

static void end(struct connection *it)
{
	destroy(it->passive);
	destroy(it->active);
	destroy(it->listener);
	if (it->at_passive)
		rdma_destroy_event_channel(it->at_passive);
	if (it->at_active)
		rdma_destroy_event_channel(it->at_active);
}

static int once(void)
{
	struct sockaddr_in there = {.sin_family = AF_INET};
	struct connection it = {0};
	const char *address = getenv("QPATTR_VM_IPV4");

	if (!address || inet_pton(AF_INET, address, &there.sin_addr) != 1)
		exit(125);
	failed = 0;
	connect_to(&it, &there);
	end(&it);
	return !failed;
}

static int descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	int count = 0;

	while (list && readdir(list))
		count++;
	if (list)
		closedir(list);
	return count - 4; /* and three standard streams are there */
}

static int grows(size_t *bytes)
{
	size_t before = *bytes;

	*bytes = mallinfo2().uordblks;
	return *bytes > before;
}

/* How many ids and events there are room for until ours allocates: fewer, if some are lost. */
static void tell_room(void)
{
	enum { most = 20 };
	struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = 7};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *ids[most];
	struct rdma_cm_event *events[most];
	int room_ids = 0, room_events = 0, made = 0, came = 0;
	size_t bytes = mallinfo2().uordblks;

	inet_pton(AF_INET, getenv("QPATTR_VM_IPV4"), &there.sin_addr);
	for (; made < most && !rdma_create_id(channel, &ids[made], NULL, RDMA_PS_TCP); made++)
		if (grows(&bytes) && !room_ids)
			room_ids = made;
	for (int at = 0; at < made; at++)
		rdma_resolve_addr(ids[at], NULL, (struct sockaddr *)&there, 2000);
	for (grows(&bytes); came < made && (events[came] = event_next(channel, (int)patience_ms)); came++)
		if (grows(&bytes) && !room_events)
			room_events = came;
	printf("room for %d ids, %d events\n", room_ids, room_events);
	for (int at = 0; at < came; at++)
		rdma_ack_cm_event(events[at]);
	for (int at = 0; at < made; at++)
		rdma_destroy_id(ids[at]);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static char buffer[4096];
	struct mallinfo2 first, second;

	if (argc > 1) {
		printf("begins\n");
		fflush(stdout);
		while (once() && !strcmp(argv[1], "on"))
			;
		printf(failed ? "ended\n" : "whole\n");
		return 0;
	}
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	mark(mark_begin);
	if (once())
		printf("whole\n");
	mark(mark_end);
	first = mallinfo2();
	printf(once() ? "again whole\n" : "wrong: the second time is not whole\n");
	second = mallinfo2();
	/* The device stays open, with what it needs. */
	printf("descriptors %d bytes %zu grown %zd\n", descriptors(), second.uordblks, (ssize_t)(second.uordblks - first.uordblks));
	tell_room();
	fflush(stdout);
	mark(mark_last);
	return 0;
}
