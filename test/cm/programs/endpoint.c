/* SPDX-License-Identifier: MIT */
#include "endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rdma/rdma_verbs.h>
#include "check.h"
#include "events.h"

/* --- QPs ----------------------------------------------------------------- */

void endpoint_qp(struct endpoint *end, enum ibv_qp_type type, int own)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_all = 1,
	};

	if (!own) {
		MUST(rdma_create_qp(end->id, NULL, &attr));
		end->qp = end->id->qp;
		return;
	}
	end->pd = HAVE(ibv_alloc_pd(end->id->verbs));
	end->cq = HAVE(ibv_create_cq(end->id->verbs, 8, NULL, NULL, 0));
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	end->qp = HAVE(ibv_create_qp(end->pd, &attr));
	endpoint_move(end, IBV_QPS_INIT);
}

void endpoint_move(struct endpoint *end, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask;

	/* What is not answered must not matter. */
	memset(&attr, 0xa5, sizeof attr);
	attr.qp_state = state;
	MUST(rdma_init_qp_attr(end->id, &attr, &mask));
	MUST(ibv_modify_qp(end->qp, &attr, mask));
}

/* --- messages ------------------------------------------------------------ */

static void fill(unsigned char *message, unsigned number)
{
	for (unsigned i = 0; i < message_bytes; i++)
		message[i] = (unsigned char)(number * 31 + i * 7 + (number >> 8));
}

void endpoint_memory(struct endpoint *end)
{
	size_t length = 2 * message_bytes + grh_bytes;

	end->buffer = HAVE((unsigned char *)calloc(1, length));
	end->mr = HAVE(end->cq ? ibv_reg_mr(end->pd, end->buffer, length, IBV_ACCESS_LOCAL_WRITE) : rdma_reg_msgs(end->id, end->buffer, length));
	endpoint_post_receive(end);
}

static size_t receive_room(const struct endpoint *end)
{
	return message_bytes + (size_t)(end->qp->qp_type == IBV_QPT_UD ? grh_bytes : 0);
}

void endpoint_post_receive(struct endpoint *end)
{
	unsigned char *room = end->buffer + message_bytes;
	struct ibv_sge sge = {.addr = (uintptr_t)room, .length = (uint32_t)receive_room(end), .lkey = end->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	memset(room, 0, receive_room(end));
	if (end->cq)
		MUST(ibv_post_recv(end->qp, &wr, &bad));
	else
		MUST(rdma_post_recv(end->id, NULL, room, receive_room(end), end->mr));
}

/* 1, 0 if the time is over, -1. */
static int completion(struct ibv_cq *cq, struct ibv_wc *wc, int timeout_ms)
{
	const struct timespec pause = {.tv_nsec = 200000};
	struct timespec start, now;
	int got;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!(got = ibv_poll_cq(cq, 1, wc))) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 > timeout_ms)
			return 0;
		nanosleep(&pause, NULL);
	}
	return got;
}

static int sent(struct endpoint *end)
{
	struct ibv_wc wc = {0};
	int got;

	if (end->sync)
		got = rdma_get_send_comp(end->id, &wc);
	else
		got = completion(end->cq ? end->cq : end->id->send_cq, &wc, 10000);
	if (got == 1 && wc.status == IBV_WC_SUCCESS)
		return 1;
	return check(0, "a message is sent", "%d completions, status %s", got, ibv_wc_status_str(wc.status));
}

int endpoint_send(struct endpoint *end, unsigned number)
{
	struct ibv_sge sge = {.addr = (uintptr_t)end->buffer, .length = message_bytes, .lkey = end->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	fill(end->buffer, number);
	if (end->cq)
		MUST(ibv_post_send(end->qp, &wr, &bad));
	else
		MUST(rdma_post_send(end->id, NULL, end->buffer, message_bytes, end->mr, IBV_SEND_SIGNALED));
	return sent(end);
}

int endpoint_send_to(struct endpoint *end, unsigned number, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct ibv_sge sge = {.addr = (uintptr_t)end->buffer, .length = message_bytes, .lkey = end->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	fill(end->buffer, number);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = qkey;
	MUST(ibv_post_send(end->qp, &wr, &bad));
	return sent(end);
}

int endpoint_receive(struct endpoint *end, unsigned number, struct ibv_wc *wc, int timeout_ms)
{
	unsigned char wanted[message_bytes];
	unsigned char *room = end->buffer + message_bytes + receive_room(end) - message_bytes;
	int got;

	if (end->sync)
		got = rdma_get_recv_comp(end->id, wc);
	else
		got = completion(end->cq ? end->cq : end->id->recv_cq, wc, timeout_ms);
	fill(wanted, number);
	return got == 1 && wc->status == IBV_WC_SUCCESS && wc->byte_len == receive_room(end) && !memcmp(room, wanted, message_bytes);
}

void endpoint_end(struct endpoint *end)
{
	if (end->mr)
		MUST(rdma_dereg_mr(end->mr));
	free(end->buffer);
	if (end->cq) {
		MUST(ibv_destroy_qp(end->qp));
		MUST(ibv_destroy_cq(end->cq));
		MUST(ibv_dealloc_pd(end->pd));
	} else if (end->qp) {
		rdma_destroy_qp(end->id);
	}
	end->qp = NULL;
}

/* --- connections --------------------------------------------------------- */

struct rdma_cm_event *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int timeout_ms)
{
	struct rdma_cm_event *event = event_next(channel, timeout_ms);

	if (!event || event->event != type) {
		check(0, rdma_event_str(type), "%s, status %d, came", event ? rdma_event_str(event->event) : "nothing", event ? event->status : 0);
		fflush(stdout);
		_exit(1);
	}
	return event;
}

int expect_ack(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int timeout_ms)
{
	struct rdma_cm_event *event = expect(channel, type, timeout_ms);
	int status = event->status;

	MUST(rdma_ack_cm_event(event));
	return status;
}

struct rdma_cm_id *dial(struct rdma_event_channel *channel, const struct party *party, enum rdma_port_space ps, uint16_t port)
{
	struct sockaddr_storage storage;
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, ps));
	MUST(rdma_resolve_addr(id, NULL, party_address(party, ps, port, &storage), 5000));
	if (channel)
		expect_ack(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 10000);
	MUST(rdma_resolve_route(id, 5000));
	if (channel)
		expect_ack(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 10000);
	return id;
}

struct rdma_cm_id *answer_at(
	struct rdma_event_channel *channel, const struct party *party, enum rdma_port_space ps, uint16_t port, int backlog)
{
	struct sockaddr_storage storage;
	struct rdma_cm_id *listener;

	MUST(rdma_create_id(channel, &listener, NULL, ps));
	MUST(rdma_bind_addr(listener, party_address(party, ps, port, &storage)));
	MUST(rdma_listen(listener, backlog));
	return listener;
}

void private_fill(unsigned char *data, size_t length, int of_server)
{
	for (size_t i = 0; i < length; i++)
		data[i] = (unsigned char)(i * 3 + (of_server ? 0x80 : 0x11));
}

int private_came(const void *data, size_t length, size_t sent_bytes, size_t reported, int of_server)
{
	unsigned char wanted[256] = {0};

	private_fill(wanted, sent_bytes, of_server);
	/* The wire has no length: always the most, with zeros after. */
	return data && length == reported && !memcmp(data, wanted, length);
}
