/* SPDX-License-Identifier: MIT */
#include "pair.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { queue_len = 16, resolve_ms = 5000, calls_max = 50 };

void give_up(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

double now_s(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static struct addrinfo *address_of(const char *address, const char *port)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;

	if (getaddrinfo(address, port, &hints, &found))
		give_up(address);
	return found;
}

static void make_queues(struct end *self)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = queue_len, .max_recv_wr = queue_len, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	self->cq = ibv_create_cq(self->id->verbs, 2 * queue_len, NULL, NULL, 0);
	if (!self->cq)
		give_up("ibv_create_cq");
	attr.send_cq = attr.recv_cq = self->cq;
	if (rdma_create_qp(self->id, NULL, &attr))
		give_up("rdma_create_qp");
	self->memory = ibv_reg_mr(self->id->pd, self->bytes, sizeof(self->bytes), IBV_ACCESS_LOCAL_WRITE);
	if (!self->memory)
		give_up("ibv_reg_mr");
}

/* The id of the event, or NULL for another event than that. */
static struct rdma_cm_id *await(struct end *self, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(self->channel, &event))
		give_up("rdma_get_cm_event");
	id = event->event == wanted ? event->id : NULL;
	rdma_ack_cm_event(event);
	return id;
}

static void open_channel(struct end *self)
{
	self->channel = rdma_create_event_channel();
	if (!self->channel)
		give_up("rdma_create_event_channel");
}

static void resolve(struct end *self, struct sockaddr *to)
{
	if (rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP))
		give_up("rdma_create_id");
	if (rdma_resolve_addr(self->id, NULL, to, resolve_ms) || !await(self, RDMA_CM_EVENT_ADDR_RESOLVED))
		give_up("rdma_resolve_addr");
}

static void send_request(struct end *self)
{
	struct rdma_conn_param param = { .retry_count = 6, .rnr_retry_count = 7 };

	if (rdma_resolve_route(self->id, resolve_ms) || !await(self, RDMA_CM_EVENT_ROUTE_RESOLVED))
		give_up("rdma_resolve_route");
	make_queues(self);
	if (rdma_connect(self->id, &param))
		give_up("rdma_connect");
}

void begin_resolve(struct end *self, const char *address, const char *port)
{
	struct addrinfo *to = address_of(address, port);

	open_channel(self);
	resolve(self, to->ai_addr);
	freeaddrinfo(to);
}

void begin_call(struct end *self, const char *address, const char *port)
{
	begin_resolve(self, address, port);
	send_request(self);
}

void call_peer(struct end *self, const char *address, const char *port)
{
	struct addrinfo *to = address_of(address, port);

	open_channel(self);
	/* The peer may not listen yet. */
	for (int i = 0; i < calls_max; i++) {
		resolve(self, to->ai_addr);
		send_request(self);
		if (await(self, RDMA_CM_EVENT_ESTABLISHED)) {
			freeaddrinfo(to);
			return;
		}
		ibv_dereg_mr(self->memory);
		rdma_destroy_qp(self->id);
		ibv_destroy_cq(self->cq);
		rdma_destroy_id(self->id);
		usleep(100000);
	}
	errno = ECONNREFUSED;
	give_up("rdma_connect");
}

void be_called(struct end *self, const char *address, const char *port)
{
	struct addrinfo *at = address_of(address, port);
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_id *listener;

	open_channel(self);
	if (rdma_create_id(self->channel, &listener, NULL, RDMA_PS_TCP))
		give_up("rdma_create_id");
	if (rdma_bind_addr(listener, at->ai_addr) || rdma_listen(listener, 1))
		give_up("rdma_listen");
	freeaddrinfo(at);
	self->id = await(self, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!self->id)
		give_up("no connection request");
	make_queues(self);
	post_receive(self);
	if (rdma_accept(self->id, &param) || !await(self, RDMA_CM_EVENT_ESTABLISHED))
		give_up("rdma_accept");
}

static struct ibv_sge whole(struct end *self)
{
	return (struct ibv_sge){ .addr = (uintptr_t)self->bytes, .length = MESSAGE_LEN, .lkey = self->memory->lkey };
}

void post_receive(struct end *self)
{
	struct ibv_sge piece = whole(self);
	struct ibv_recv_wr work = { .sg_list = &piece, .num_sge = 1 }, *bad;

	if (ibv_post_recv(self->id->qp, &work, &bad))
		give_up("ibv_post_recv");
}

void post_send(struct end *self)
{
	struct ibv_sge piece = whole(self);
	struct ibv_send_wr work = { .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED }, *bad;

	if (ibv_post_send(self->id->qp, &work, &bad))
		give_up("ibv_post_send");
}

int next_status(struct end *self, double seconds)
{
	const double until = now_s() + seconds;
	struct ibv_wc done;
	int count;

	do {
		count = ibv_poll_cq(self->cq, 1, &done);
		if (count < 0)
			give_up("ibv_poll_cq");
		if (count)
			return (int)done.status;
		usleep(20);
	} while (now_s() < until);
	return -1;
}
