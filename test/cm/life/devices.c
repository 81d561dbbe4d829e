/* SPDX-License-Identifier: MIT */
/*
 * The device goes away under ids of every kind, and another comes on another
 * link. rxe's removal ends only when every process has closed its
 * verbs context, ours too, with the process: it is begun, and the rest is done
 * beside it.
 */
#include "../programs/check.h"
#include "ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef DEVICES_STOCK
#define SUBJECT "stock"
#else
#define SUBJECT "ours"
#endif

static int listed(int *error)
{
	int count = -7;
	struct ibv_context **list;

	errno = 0;
	list = rdma_get_devices(&count);
	*error = errno;
	if (list)
		rdma_free_devices(list);
	else if (count == 0)
		count = -1;
	return count;
}

static struct rdma_cm_id *bound_id(struct rdma_event_channel *channel)
{
	struct sockaddr_in here = machine_address(0);
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(id, (struct sockaddr *)&here));
	return id;
}

/* A removal may be told after the end of a connection whose peer went too. */
static int removals(struct rdma_event_channel *channel, struct rdma_cm_id **wanted, int count)
{
	struct rdma_cm_event *event;
	int found = 0;

	while (found < count && (event = next_event(channel, 5000))) {
		for (int at = 0; at < count; at++)
			found += event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && event->id == wanted[at];
		rdma_ack_cm_event(event);
	}
	return found;
}

/* Where no device is at all: for the comparison with stock's. */
static int without_a_device(void)
{
	struct sockaddr_in here = machine_address(0);
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	int error, count = listed(&error), result;

	printf("# " SUBJECT " without a device: rdma_get_devices %d errno %d\n", count, count < 0 ? error : 0);
	errno = 0;
	channel = rdma_create_event_channel();
	printf("# " SUBJECT " without a device: rdma_create_event_channel %d errno %d\n", !!channel,
	       channel ? 0 : errno);
	if (!channel)
		return 0;
	result = rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
	printf("# " SUBJECT " without a device: rdma_create_id %d errno %d\n", result, result ? errno : 0);
	if (result)
		return 0;
	result = rdma_bind_addr(id, (struct sockaddr *)&here);
	printf("# " SUBJECT " without a device: rdma_bind_addr %d errno %d\n", result, result ? errno : 0);
	rdma_destroy_id(id);
	return 0;
}

static int is_gone(int result) { return result == -1 && errno == ENXIO; }

static void calls_say_so(struct ends *it, struct rdma_cm_id *bound)
{
	struct rdma_conn_param param = foreign_param();
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct rdma_event_channel *other = HAVE(rdma_create_event_channel());
	uint8_t tos = 1;
	int mask;

#define GONE(call) check(is_gone(call), "after the removal " #call " is ENXIO", "it is not")
	GONE(rdma_init_qp_attr(it->active, &attr, &mask));
	GONE(rdma_disconnect(it->active));
	GONE(rdma_notify(it->active, IBV_EVENT_COMM_EST));
	GONE(rdma_resolve_route(bound, 1000));
	GONE(rdma_connect(bound, &param));
	GONE(rdma_listen(bound, 1));
	GONE(rdma_set_option(bound, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos));
	GONE(rdma_migrate_id(bound, other));
	rdma_destroy_event_channel(other);
}

/* A connection with QPs of the new device, both ends of which are ours. */
static void connect_anew(struct ibv_context *old)
{
	struct ibv_qp_init_attr init = {.cap = {2, 2, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct ends it;
	struct rdma_cm_event *event;

	ends_listen(&it);
	ends_route(&it);
	check(it.active->verbs && it.active->verbs != old, "a new id has the new device's context",
	      "it is the old one's");
	if (check(!rdma_create_qp(it.active, NULL, &init), "and makes a QP of it", "it does not")) {
		MUST(rdma_connect(it.active, &param));
		event = HAVE(next_event(it.at_passive, 20000));
		it.passive = event->id;
		rdma_ack_cm_event(event);
		MUST(rdma_create_qp(it.passive, NULL, &init));
		MUST(rdma_accept(it.passive, &param));
		check(event_is(it.at_active, RDMA_CM_EVENT_ESTABLISHED, NULL) &&
			      event_is(it.at_passive, RDMA_CM_EVENT_ESTABLISHED, NULL),
		      "which connects", "it does not");
		rdma_destroy_qp(it.active);
		rdma_destroy_qp(it.passive);
	}
	ends_close(&it);
}

static void removed(void)
{
	struct rdma_cm_id *bound, *wild, *ids[3], *passive;
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct ibv_context *old;
	struct ends it, waiting, unread;
	double begin;
	int error;

	check(listed(&error) == 1, "rdma_get_devices lists the device", "%d", listed(&error));
	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	ends_response(&it);
	ends_establish(&it);
	ends_listen(&waiting); /* a request that was read and not accepted */
	ends_route(&waiting);
	ends_request(&waiting);
	ends_listen(&unread); /* one that was not read */
	ends_route(&unread);
	struct rdma_conn_param param = foreign_param();
	MUST(rdma_connect(unread.active, &param));
	usleep(300000);
	bound = bound_id(it.at_active);
	MUST(rdma_create_id(it.at_active, &wild, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(wild, (struct sockaddr *)&any));
	MUST(rdma_listen(wild, 4));
	old = bound->verbs;

	MUST(system("rdma link del rxe0 >/dev/null 2>&1 &"));
	ids[0] = bound;
	ids[1] = it.active;
	check(removals(it.at_active, ids, 2) == 2, "DEVICE_REMOVAL comes for a bound and a connected id", "it does not");
	ids[0] = it.listener;
	ids[1] = it.passive;
	check(removals(it.at_passive, ids, 2) == 2, "and for a listener and an accepted id", "it does not");
	ids[0] = waiting.listener;
	check(removals(waiting.at_passive, ids, 1) == 1, "and for the listener of an unaccepted request",
	      "it does not");
	ids[0] = unread.listener;
	check(removals(unread.at_passive, ids, 1) == 1, "and for that of an unread one, whose request does no harm",
	      "it does not");
	check(listed(&error) == 0 || listed(&error) == -1, "rdma_get_devices does not list it any more", "%d",
	      listed(&error));
	usleep(500000); /* the kernel closes the ids after it has told */
	calls_say_so(&it, bound);
	GONE(rdma_accept(waiting.passive, &param));
	begin = seconds();
	passive = waiting.passive;
	waiting.passive = NULL;
	check(!rdma_destroy_id(passive) && !rdma_destroy_id(bound), "ids of a removed device are destroyed",
	      "they are not");
	ends_close(&waiting);
	ends_close(&unread);
	check(seconds() - begin < 5, "at once", "in %.1f s", seconds() - begin);

	check(!system("ip addr add 10.78.0.1/24 dev v1 && rdma link add rxe9 type rxe netdev v1"),
	      "another device is added", "it is not");
	MUST(setenv("QPATTR_VM_IPV4", "10.78.0.1", 1));
	usleep(300000);
	check(listed(&error) == 1, "rdma_get_devices lists the new one", "%d", listed(&error));
	check(!rdma_listen(bound = bound_id(it.at_active), 1) && bound->verbs != old,
	      "a new id on an old channel gets the new device", "it does not");
	MUST(rdma_destroy_id(bound));
	connect_anew(old);
	MUST(rdma_destroy_id(wild));
	ends_close(&it);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(60);
	check_prefix("devices: ");
	if (argc > 1 && !strcmp(argv[1], "none"))
		return without_a_device();
	removed();
	return check_status();
}
