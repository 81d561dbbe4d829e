/* SPDX-License-Identifier: MIT */
/*
 * Connections of one process to itself over one channel: so many in flight,
 * each created, connected, disconnected and destroyed at both ends. One thread:
 * what one end costs is not hidden behind the other's waiting.
 *
 * storm ADDRESS qp|number IN_FLIGHT COUNT
 * "qp": a small RC QP at each end of each. "number": no QPs, the program
 * gives the number of one, as a stack with queues of its own does.
 *
 * Prints, tab-separated: the mode, in flight, count, nanoseconds of all, the
 * median of nanoseconds from rdma_create_id until both ends are established,
 * which object.
 */
#include "test/bench/cm/common.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct connection {
	struct rdma_cm_id *client, *server;
	uint64_t start;
	int established, disconnected;
};

static struct rdma_event_channel *channel;
static struct sockaddr_in address;
static struct connection *all;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static uint64_t *took;
static bool with_qp;
/* The first rounds load code and fill caches, also the kernel's. */
static uint32_t started, finished, count, warm_up;
static uint64_t start_of_all;

static void start(void)
{
	struct connection *const c = &all[started++];

	c->start = now();
	if (rdma_create_id(channel, &c->client, c, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_resolve_addr(c->client, NULL, (struct sockaddr *)&address, 10000))
		die("rdma_resolve_addr");
}

/* Numbers that no QP has: the kernel knows connections by them. */
static uint32_t number(void)
{
	static uint32_t last = 0x1000;

	return ++last;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr qp;

	if (!with_qp)
		return;
	if (!pd && (!(pd = ibv_alloc_pd(id->verbs)) ||
		    !(cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0))))
		die("queues");
	qp = small_qp(cq);
	if (rdma_create_qp(id, pd, &qp))
		die("rdma_create_qp");
}

static void request(struct rdma_cm_event *event)
{
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	struct connection *c;
	uint32_t which;

	memcpy(&which, event->param.conn.private_data, sizeof which);
	if (which >= started) {
		fprintf(stderr, "storm: a request with private data 0x%x\n", which);
		exit(1);
	}
	c = &all[which];
	c->server = event->id;
	c->server->context = c;
	param.qp_num = number();
	make_qp(c->server);
	if (rdma_accept(c->server, &param))
		die("rdma_accept");
}

static void ask(struct connection *c)
{
	const uint32_t which = (uint32_t)(c - all);
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.private_data = &which,
		.private_data_len = sizeof which,
		.qp_num = number(),
	};

	make_qp(c->client);
	if (rdma_connect(c->client, &param))
		die("rdma_connect");
}

static void established(struct connection *c)
{
	if (++c->established < 2)
		return;
	took[c - all] = now() - c->start;
	if (rdma_disconnect(c->client))
		die("rdma_disconnect");
}

static void finish(struct connection *c)
{
	struct rdma_cm_id *const ends[] = {c->client, c->server};

	for (int i = 0; i < 2; i++) {
		if (with_qp)
			rdma_destroy_qp(ends[i]);
		if (rdma_destroy_id(ends[i]))
			die("rdma_destroy_id");
	}
	if (++finished == warm_up)
		start_of_all = now();
	if (started < count)
		start();
}

static void step(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct connection *c;
	enum rdma_cm_event_type type;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	type = event->event;
	id = event->id;
	c = id->context;
	if (event->status) {
		fprintf(stderr, "storm: %s, status %d\n", rdma_event_str(type), event->status);
		exit(1);
	}
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		request(event);
	rdma_ack_cm_event(event);
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, 10000))
			die("rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ask(c);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (rdma_establish(id))
			die("rdma_establish");
		established(c);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(c);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		/* The server answers, as servers do; this is what ends the client. */
		if (id == c->server)
			rdma_disconnect(id);
		if (++c->disconnected == 2)
			finish(c);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		fprintf(stderr, "storm: %s\n", rdma_event_str(type));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener;
	uint32_t in_flight;
	uint64_t end;

	if (argc != 5 || (strcmp(argv[2], "qp") && strcmp(argv[2], "number")) ||
	    (in_flight = (uint32_t)atoi(argv[3])) == 0 || (count = (uint32_t)atoi(argv[4])) == 0) {
		fprintf(stderr, "usage: storm ADDRESS qp|number IN_FLIGHT COUNT\n");
		return 2;
	}
	address = parse_address(argv[1]);
	with_qp = !strcmp(argv[2], "qp");
	warm_up = in_flight < 10 ? 10 : in_flight;
	count += warm_up;
	all = calloc(count, sizeof *all);
	took = calloc(count, sizeof *took);
	channel = rdma_create_event_channel();
	if (!all || !took || !channel)
		die("storm");
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) || rdma_listen(listener, 1024))
		die("listener");
	address.sin_port = rdma_get_src_port(listener);

	while (started < in_flight && started < count)
		start();
	while (finished < count)
		step();
	end = now();

	printf("%s\t%u\t%u\t%lu\t%lu\t%s\n", argv[2], in_flight, count - warm_up,
	       end - start_of_all, median(took + warm_up, count - warm_up), library());
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return 0;
}
