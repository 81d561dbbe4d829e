/* SPDX-License-Identifier: MIT */
#include "crowd.h"

#include "../programs/check.h"
#include "ends.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { threads = crowd_threads };
static int rounds;

static void run(void *(*body)(void *), void *arguments, size_t size)
{
	pthread_t started[threads];

	for (int at = 0; at < threads; at++)
		MUST(pthread_create(&started[at], NULL, body, (char *)arguments + (size_t)at * size));
	for (int at = 0; at < threads; at++)
		MUST(pthread_join(started[at], NULL));
}

/* What it is all for: the attributes of each transition. */
static void ask(struct rdma_cm_id *id)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};

	for (unsigned at = 0; at < sizeof states / sizeof *states; at++) {
		struct ibv_qp_attr attr = {.qp_state = states[at]};
		int mask = 0;

		MUST(rdma_init_qp_attr(id, &attr, &mask));
		must_(mask & IBV_QP_STATE, "a mask with the state");
	}
}

/* Whole connections, each thread alone. */
static void *connections_of_its_own(void *done)
{
	struct ends it;

	ends_listen(&it);
	for (int at = 0; at < rounds; at++) {
		ends_route(&it);
		ends_request(&it);
		ends_response(&it);
		ends_establish(&it);
		ask(it.active);
		ask(it.passive);
		MUST(rdma_destroy_id(it.active));
		must_be(it.at_passive, RDMA_CM_EVENT_DISCONNECTED);
		MUST(rdma_destroy_id(it.passive));
		it.active = it.passive = NULL;
		++*(int *)done;
	}
	ends_close(&it);
	return NULL;
}

long crowd_on_own_channels(int each)
{
	int done[threads] = {0};
	long sum = 0;

	rounds = each;
	run(connections_of_its_own, done, sizeof *done);
	for (int at = 0; at < threads; at++)
		sum += done[at];
	return sum;
}

/* Everything on one channel, whose events all threads read. An active id's
 * context is a task that its maker waits for. */
static struct shared {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	unsigned short port_be;
	atomic_int unfinished, disconnected;
	atomic_long served; /* events */
} shared;

struct task {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int step; /* 1 address, 2 route, 3 answered */
};

static void step(struct task *task, int to)
{
	pthread_mutex_lock(&task->lock);
	task->step = to;
	pthread_cond_signal(&task->changed);
	pthread_mutex_unlock(&task->lock);
}

static void await(struct task *task, int wanted)
{
	pthread_mutex_lock(&task->lock);
	while (task->step != wanted)
		pthread_cond_wait(&task->changed, &task->lock);
	pthread_mutex_unlock(&task->lock);
}

/* What fails ends the program: the others would wait for ever for what it leaves out. */
static void serve(struct rdma_cm_event *event)
{
	struct rdma_conn_param param = foreign_param();
	enum rdma_cm_event_type type = event->event;
	struct rdma_cm_id *id = event->id;
	struct task *task = id->context;

	/* Before what is done: a destroyer would wait for it. */
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		id->context = NULL;
		rdma_ack_cm_event(event);
		MUST(rdma_accept(id, &param));
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_ack_cm_event(event);
		if (task)
			return;
		MUST(rdma_destroy_id(id));
		shared.disconnected++;
		return;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		step(task, 1);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		step(task, 2);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		step(task, 3);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		printf("# an event that was not awaited: %s, status %d\n", rdma_event_str(type), event->status);
		must_(0, "only awaited events");
	}
	rdma_ack_cm_event(event);
}

static void *reader(void *unused)
{
	const double patience = 60;
	struct rdma_cm_event *event;
	double last = seconds();
	long served = 0;

	(void)unused;
	while (shared.unfinished || shared.disconnected < threads * rounds) {
		struct pollfd ready = {.fd = shared.channel->fd, .events = POLLIN};

		/* The descriptor does not block: another reader may be first. */
		if (poll(&ready, 1, 50) == 1 && !rdma_get_cm_event(shared.channel, &event)) {
			serve(event);
			shared.served++;
		}
		if (served != shared.served) {
			served = shared.served;
			last = seconds();
		}
		must_(seconds() - last < patience, "an event within a minute");
	}
	return NULL;
}

static void *connector(void *unused)
{
	struct sockaddr_in there = machine_address(shared.port_be);
	struct task task = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

	(void)unused;
	for (int at = 0; at < rounds; at++) {
		struct rdma_conn_param param = foreign_param();
		struct rdma_cm_id *id;

		MUST(rdma_create_id(shared.channel, &id, &task, RDMA_PS_TCP));
		MUST(rdma_resolve_addr(id, NULL, (struct sockaddr *)&there, 5000));
		await(&task, 1);
		MUST(rdma_resolve_route(id, 5000));
		await(&task, 2);
		MUST(rdma_connect(id, &param));
		await(&task, 3);
		MUST(rdma_establish(id));
		/* A reader may hold its event: waits for it. */
		MUST(rdma_destroy_id(id));
	}
	shared.unfinished--;
	return NULL;
}

long crowd_on_one_channel(int each)
{
	struct sockaddr_in here = machine_address(0);
	pthread_t readers[4];
	char unused[threads];
	int flags;

	rounds = each;
	shared.disconnected = 0;
	shared.served = 0;
	shared.channel = HAVE(rdma_create_event_channel());
	flags = fcntl(shared.channel->fd, F_GETFL);
	MUST(fcntl(shared.channel->fd, F_SETFL, flags | O_NONBLOCK));
	MUST(rdma_create_id(shared.channel, &shared.listener, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(shared.listener, (struct sockaddr *)&here));
	MUST(rdma_listen(shared.listener, 256));
	shared.port_be = rdma_get_src_port(shared.listener);
	shared.unfinished = threads;
	for (int at = 0; at < 4; at++)
		MUST(pthread_create(&readers[at], NULL, reader, NULL));
	run(connector, unused, 1);
	for (int at = 0; at < 4; at++)
		MUST(pthread_join(readers[at], NULL));
	MUST(rdma_destroy_id(shared.listener));
	rdma_destroy_event_channel(shared.channel);
	return shared.disconnected;
}
