/* SPDX-License-Identifier: MIT */
/*
 * storm -s|-c|--both -a ADDRESS [-p PORT] [--count 10000] [--in-flight 16] [--hold N] [--message | --no-qp]
 *
 * Connections opened and closed, some at a time, on one channel at each side; with
 * --hold so many are up at once. Making QPs takes most of the time with rxe; --no-qp has
 * numbers that are nobody's instead. Prints the rate. Afterwards nothing may be left:
 * no descriptor, no memory, no id.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "check.h"
#include "endpoint.h"
#include "events.h"
#include "leftovers.h"

enum { warm = 200 };

static struct rdma_event_channel *channel;
static struct sockaddr_storage address;
static int with_message, without_qp, is_server;
static struct ibv_pd *shared_pd;
static struct ibv_cq *shared_cq;
static unsigned char *shared_memory;
static struct ibv_mr *shared_mr;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The parameters of an id that has no QP: a number that no other connection of now has. */
static struct rdma_conn_param parameters(void)
{
	static uint32_t numbers;
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	param.qp_num = 0x100000 * (1 + (uint32_t)is_server) + numbers++ % 0x100000;
	return param;
}

/* All share one CQ: a storm is of connections, not of queues. */
static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_all = 1,
	};

	if (without_qp)
		return;
	if (!shared_cq) {
		shared_pd = HAVE(ibv_alloc_pd(id->verbs));
		shared_cq = HAVE(ibv_create_cq(id->verbs, 4096, NULL, NULL, 0));
		shared_memory = HAVE((unsigned char *)calloc(1, 128));
		shared_mr = HAVE(ibv_reg_mr(shared_pd, shared_memory, 128, IBV_ACCESS_LOCAL_WRITE));
	}
	attr.send_cq = shared_cq;
	attr.recv_cq = shared_cq;
	MUST(rdma_create_qp(id, shared_pd, &attr));
}

static void post_receive(struct rdma_cm_id *id)
{
	struct ibv_sge sge = {.addr = (uintptr_t)shared_memory + 64, .length = 64, .lkey = shared_mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	MUST(ibv_post_recv(id->qp, &wr, &bad));
}

static void send_one(struct rdma_cm_id *id)
{
	struct ibv_sge sge = {.addr = (uintptr_t)shared_memory, .length = 64, .lkey = shared_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	memset(shared_memory, 0x5a, 64);
	MUST(ibv_post_send(id->qp, &wr, &bad));
}

/* Good completions since the last time; those flushed by the end of a connection do not count. */
static long completions(enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc[64];
	long good = 0;
	int got;

	while (shared_cq && (got = ibv_poll_cq(shared_cq, 64, wc)) > 0)
		for (int i = 0; i < got; i++)
			good += wc[i].status == IBV_WC_SUCCESS && wc[i].opcode == opcode;
	return good;
}

static void await_send(void)
{
	double start = seconds();

	while (!completions(IBV_WC_SEND))
		must_(seconds() - start < 10, "a message is acknowledged");
}

static void finish(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
}

/* --- the server ---------------------------------------------------------- */

static long serve_until(long wanted)
{
	long closed = 0, messages = 0;

	while (closed < wanted) {
		struct rdma_cm_event *event = event_next(channel, 60000);
		enum rdma_cm_event_type type;
		struct rdma_conn_param param;
		struct rdma_cm_id *id;

		if (!event) {
			check(0, "events go on", "none came for a minute, %ld of %ld", closed, wanted);
			break;
		}
		type = event->event;
		id = event->id;
		MUST(rdma_ack_cm_event(event));
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			make_qp(id);
			if (with_message)
				post_receive(id);
			param = parameters();
			MUST(rdma_accept(id, without_qp ? &param : NULL));
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			messages += completions(IBV_WC_RECV);
			MUST(rdma_disconnect(id));
			finish(id);
			closed++;
		} else if (type != RDMA_CM_EVENT_ESTABLISHED && type != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
			check(0, "no event but those of connections", "%s came", rdma_event_str(type));
		}
	}
	if (with_message)
		check(messages == wanted, "a message comes by every connection", "%ld of %ld", messages, wanted);
	return closed;
}

/* --- the client ---------------------------------------------------------- */

static void begin(void)
{
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 5000));
}

/* Opens and closes; with held, closes none before all are up. */
static long call_until(long wanted, long in_flight, struct rdma_cm_id **held)
{
	struct rdma_conn_param param;
	long begun = 0, up = 0, closed = 0, failed = 0;

	while (closed + failed < wanted) {
		struct rdma_cm_event *event;
		struct rdma_cm_id *id;

		while (begun < wanted && begun - (held ? up : closed) - failed < in_flight) {
			begin();
			begun++;
		}
		event = event_next(channel, 60000);
		if (!event) {
			check(0, "events go on", "none came for a minute, %ld of %ld", closed, wanted);
			break;
		}
		id = event->id;
		switch (event->event) {
		case RDMA_CM_EVENT_ADDR_RESOLVED:
			MUST(rdma_ack_cm_event(event));
			MUST(rdma_resolve_route(id, 5000));
			break;
		case RDMA_CM_EVENT_ROUTE_RESOLVED:
			MUST(rdma_ack_cm_event(event));
			make_qp(id);
			param = parameters();
			MUST(rdma_connect(id, &param));
			break;
		case RDMA_CM_EVENT_CONNECT_RESPONSE:
		case RDMA_CM_EVENT_ESTABLISHED:
			MUST(rdma_ack_cm_event(event));
			if (without_qp)
				MUST(rdma_establish(id));
			if (with_message)
				send_one(id);
			if (held)
				held[up] = id;
			up++;
			/* With a message, once that is acknowledged. */
			if (with_message)
				await_send();
			if (!held)
				MUST(rdma_disconnect(id));
			else if (up == wanted)
				for (long i = 0; i < up; i++)
					MUST(rdma_disconnect(held[i]));
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			MUST(rdma_ack_cm_event(event));
			finish(id);
			closed++;
			completions(IBV_WC_SEND);
			break;
		case RDMA_CM_EVENT_TIMEWAIT_EXIT:
			MUST(rdma_ack_cm_event(event));
			break;
		default:
			check(++failed > 5, "a connection is made", "%s, status %d, came", rdma_event_str(event->event), event->status);
			MUST(rdma_ack_cm_event(event));
			finish(id);
		}
	}
	if (held)
		check(up == wanted, "all are up at once", "%ld of %ld", up, wanted);
	return closed;
}

/* --- both ---------------------------------------------------------------- */

static int run(struct party *party)
{
	long count = option_number("count", 10000), in_flight = option_number("in-flight", 16), hold = option_number("hold", 0), closed;
	long wanted = hold ? hold : count;
	struct rdma_cm_id *listener = NULL, **held = hold ? calloc((size_t)hold, sizeof *held) : NULL;
	struct leftovers before, after;
	double start;

	with_message = option_given("message");
	without_qp = option_given("no-qp");
	is_server = party->is_server;
	check_prefix("storm: %ld %s%s, %s: ", wanted, hold ? "held" : "in turn", with_message ? " with a message" : without_qp ? " without QPs" : "", party->name);
	party_address(party, RDMA_PS_TCP, party->port, &address);
	/* Has the buffer of the output made. */
	printf("# storm: %s\n", party->name);
	channel = HAVE(rdma_create_event_channel());
	if (party->is_server)
		listener = answer_at(channel, party, RDMA_PS_TCP, party->port, (int)(2 * in_flight + 16));
	/* What is made once, and the heap's first growth, is not a leak. */
	for (int round = 0; round < 2; round++) {
		long part = round ? wanted : hold ? hold : warm;

		if (round)
			leftovers_count(&before);
		meet("storm");
		start = seconds();
		closed = party->is_server ? serve_until(part) : call_until(part, in_flight, held);
		if (round)
			check(closed == part, "every connection is opened and closed", "%ld of %ld", closed, part);
	}
	if (!party->is_server)
		printf("# storm: %ld connections, %ld in flight: %.0f a second\n", closed, hold ? hold : in_flight,
			(double)closed / (seconds() - start));
	leftovers_count(&after);
	leftovers_check(&before, &after, wanted);
	meet("over");
	if (listener)
		MUST(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
	return check_status();
}

int main(int argc, char **argv) { return party_run(argc, argv, "count: in-flight: hold: message no-qp", run); }
