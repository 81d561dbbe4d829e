/* SPDX-License-Identifier: MIT */
/*
 * Many threads: on a channel each, on one channel for all, destroying what others
 * use. Also built with the sources of the library for the thread sanitizer.
 */
#include "../programs/check.h"
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { threads = 16 };
static int rounds = 20;

static void run(void *(*body)(void *), void *arguments, size_t size)
{
	pthread_t started[threads];

	for (int at = 0; at < threads; at++)
		MUST(pthread_create(&started[at], NULL, body, (char *)arguments + (size_t)at * size));
	for (int at = 0; at < threads; at++)
		MUST(pthread_join(started[at], NULL));
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
		MUST(rdma_destroy_id(it.active));
		must_be(it.at_passive, RDMA_CM_EVENT_DISCONNECTED);
		MUST(rdma_destroy_id(it.passive));
		it.active = it.passive = NULL;
		++*(int *)done;
	}
	ends_close(&it);
	return NULL;
}

static void on_channels_of_their_own(void)
{
	int done[threads] = {0}, sum = 0;

	run(connections_of_its_own, done, sizeof *done);
	for (int at = 0; at < threads; at++)
		sum += done[at];
	check(sum == threads * rounds, "16 threads connect on 16 channels", "%d of %d", sum, threads * rounds);
}

/* Everything on one channel, whose events all threads read. An active id's
 * context is a task that its maker waits for. */
static struct shared {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	unsigned short port_be;
	atomic_int unfinished, failures, established, disconnected;
} shared;

struct task {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int step; /* 1 address, 2 route, 3 answered, -1 failed */
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
	while (task->step != wanted && task->step != -1)
		pthread_cond_wait(&task->changed, &task->lock);
	must_(task->step == wanted, "the awaited event");
	pthread_mutex_unlock(&task->lock);
}

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
		if (rdma_accept(id, &param))
			shared.failures++;
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_ack_cm_event(event);
		if (task)
			return;
		shared.disconnected++;
		if (rdma_destroy_id(id))
			shared.failures++;
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
		shared.established++;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		printf("# an event that was not awaited: %s\n", rdma_event_str(type));
		shared.failures++;
		if (task)
			step(task, -1);
	}
	rdma_ack_cm_event(event);
}

static void *reader(void *unused)
{
	struct rdma_cm_event *event;

	(void)unused;
	/* The descriptor does not block: another reader may be first. */
	while (shared.unfinished || shared.disconnected < threads * rounds) {
		struct pollfd ready = {.fd = shared.channel->fd, .events = POLLIN};

		if (poll(&ready, 1, 50) == 1 && !rdma_get_cm_event(shared.channel, &event))
			serve(event);
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

static void on_one_channel(void)
{
	struct sockaddr_in here = machine_address(0);
	pthread_t readers[4];
	char unused[threads];
	int flags;

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
	check(!shared.failures && shared.disconnected == threads * rounds,
	      "16 threads connect on one channel, 4 read its events", "%d failures, %d of %d ended",
	      shared.failures, shared.disconnected, threads * rounds);
	MUST(rdma_destroy_id(shared.listener));
	rdma_destroy_event_channel(shared.channel);
}

/* Destroying an id of which another thread holds an event. */
static atomic_int acknowledged;

static void *hold(void *event)
{
	usleep(700000);
	acknowledged = 1;
	rdma_ack_cm_event(event);
	return NULL;
}

static void destroy_waits(void)
{
	struct rdma_cm_event *event;
	struct ends it;
	pthread_t holder;
	double begin;

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	MUST(rdma_reject(it.passive, NULL, 0));
	event = HAVE(next_event(it.at_active, 20000));
	MUST(pthread_create(&holder, NULL, hold, event));
	begin = seconds();
	MUST(rdma_destroy_id(it.active));
	check(acknowledged && seconds() - begin > 0.4,
	      "rdma_destroy_id waits for an event that another thread holds", "%.1f s, acknowledged: %d",
	      seconds() - begin, acknowledged);
	MUST(pthread_join(holder, NULL));
	it.active = NULL;
	ends_close(&it);
}

/* A reader that sleeps is not woken by the end of the last id, and hinders nobody. */
static void *read_blocking(void *channel)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		return NULL;
	rdma_ack_cm_event(event);
	return channel;
}

static void destroy_under_a_reader(void)
{
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	struct sockaddr_in here = machine_address(htons(7));
	struct rdma_cm_id *id;
	pthread_t sleeper;
	void *value;
	double begin;

	MUST(pthread_create(&sleeper, NULL, read_blocking, channel));
	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	usleep(100000);
	begin = seconds();
	MUST(rdma_destroy_id(id));
	check(seconds() - begin < 3, "rdma_destroy_id does not wait for a thread in rdma_get_cm_event",
	      "%.1f s", seconds() - begin);
	usleep(100000);
	check(pthread_kill(sleeper, 0) == 0, "which goes on to sleep", "it is gone");
	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(id, NULL, (struct sockaddr *)&here, 1000));
	MUST(pthread_join(sleeper, &value));
	check(value == channel, "and gets the event of a later id", "it got none");
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* Two threads accept one request. */
static struct both {
	struct ends it;
	pthread_barrier_t start;
	atomic_int accepted, refused;
} both;

static void *accept_it(void *unused)
{
	struct rdma_conn_param param = foreign_param();

	pthread_barrier_wait(&both.start);
	if (!rdma_accept(both.it.passive, &param))
		both.accepted++;
	else if (errno == EINVAL)
		both.refused++;
	return unused;
}

static void accept_twice(void)
{
	const int times = 30;
	int once = 0, alive = 0;

	ends_listen(&both.it);
	MUST(pthread_barrier_init(&both.start, NULL, 2));
	for (int at = 0; at < times; at++) {
		pthread_t other;

		ends_route(&both.it);
		ends_request(&both.it);
		both.accepted = both.refused = 0;
		MUST(pthread_create(&other, NULL, accept_it, NULL));
		accept_it(NULL);
		MUST(pthread_join(other, NULL));
		once += both.accepted == 1 && both.refused == 1;
		if (event_is(both.it.at_active, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL) &&
		    !rdma_establish(both.it.active) &&
		    event_is(both.it.at_passive, RDMA_CM_EVENT_ESTABLISHED, NULL))
			alive++;
		MUST(rdma_destroy_id(both.it.active));
		if (!event_is(both.it.at_passive, RDMA_CM_EVENT_DISCONNECTED, NULL))
			alive--;
		MUST(rdma_destroy_id(both.it.passive));
		both.it.active = both.it.passive = NULL;
	}
	check(once == times, "of two threads that accept a request exactly one does", "%d times of %d", once,
	      times);
	check(alive == times, "and the connection is made", "%d times of %d", alive, times);
	ends_close(&both.it);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_prefix("%s: ", argc > 1 ? argv[1] : "threads");
	if (argc > 2)
		rounds = atoi(argv[2]);
	alarm(300);
	on_channels_of_their_own();
	on_one_channel();
	destroy_waits();
	destroy_under_a_reader();
	accept_twice();
	return check_status();
}
