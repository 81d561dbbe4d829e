/* SPDX-License-Identifier: MIT */
/*
 * Client connections one after the other, for strace (without -f: the listener
 * is a child). Every part lies between marks:
 *
 *   main, create, created, destroyed, create, created, destroyed
 *
 * client ADDRESS async|sync
 * "async": ids on a channel, events read by the program, a QP with the
 * program's own domain and queue. "sync": ids without a channel, the library
 * waits and makes the queues.
 */
#include "test/bench/cm/common.h"
#include "test/bench/cm/listener.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { connections = 2 };

static void expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	if (event->event != type) {
		fprintf(stderr, "client: %s, expected %s\n", rdma_event_str(event->event),
			rdma_event_str(type));
		exit(1);
	}
	rdma_ack_cm_event(event);
}

static void connect_once(struct rdma_event_channel *channel, struct sockaddr_in address)
{
	static struct ibv_pd *pd;
	static struct ibv_cq *cq;
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_cm_id *id;
	struct ibv_qp_init_attr qp;

	mark("mark-create");
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	mark("mark-created");
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000))
		die("rdma_resolve_addr");
	if (channel)
		expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 2000))
		die("rdma_resolve_route");
	if (channel)
		expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (channel && !pd)
		if (!(pd = ibv_alloc_pd(id->verbs)) ||
		    !(cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0)))
			die("queues");
	qp = small_qp(cq);
	if (rdma_create_qp(id, pd, &qp))
		die("rdma_create_qp");
	if (rdma_connect(id, &param))
		die("rdma_connect");
	if (channel)
		expect(channel, RDMA_CM_EVENT_ESTABLISHED);
	if (rdma_disconnect(id))
		die("rdma_disconnect");
	if (channel)
		expect(channel, RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		die("rdma_destroy_id");
	mark("mark-destroyed");
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = NULL;
	struct sockaddr_in address;

	if (argc != 3 || (strcmp(argv[2], "async") && strcmp(argv[2], "sync"))) {
		fprintf(stderr, "usage: client ADDRESS async|sync\n");
		return 2;
	}
	address = parse_address(argv[1]);
	address.sin_port = listener_start(address);

	mark("mark-main");
	if (!strcmp(argv[2], "async") && !(channel = rdma_create_event_channel()))
		die("rdma_create_event_channel");
	for (int i = 0; i < connections; i++)
		connect_once(channel, address);
	if (channel)
		rdma_destroy_event_channel(channel);
	listener_stop();
	return 0;
}
