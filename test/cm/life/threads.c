/* SPDX-License-Identifier: MIT */
/*
 * Many threads: on a channel each, on one channel for all, destroying what others
 * use. Also built with the sources of the library for the thread sanitizer.
 */
#include "../programs/check.h"
#include "crowd.h"
#include "ends.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rounds = 20;

static void together(void)
{
	const long wanted = (long)crowd_threads * rounds;
	long done = crowd_on_own_channels(rounds);

	check(done == wanted, "16 threads connect on 16 channels", "%ld of %ld", done, wanted);
	done = crowd_on_one_channel(rounds);
	check(done == wanted, "16 threads connect on one channel, 4 read its events", "%ld of %ld", done, wanted);
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
	together();
	destroy_waits();
	destroy_under_a_reader();
	accept_twice();
	return check_status();
}
