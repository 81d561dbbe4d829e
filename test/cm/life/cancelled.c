/* SPDX-License-Identifier: MIT */
/* Cancellation and signals. */
#include "../programs/check.h"
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *read_one(void *channel)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		return NULL;
	rdma_ack_cm_event(event);
	return channel;
}

static void *start_and_join(void *(*body)(void *), void *argument, void (*meanwhile)(pthread_t))
{
	pthread_t thread;
	void *value;

	MUST(pthread_create(&thread, NULL, body, argument));
	if (meanwhile)
		meanwhile(thread);
	MUST(pthread_join(thread, &value));
	return value;
}

static void cancel_soon(pthread_t thread)
{
	usleep(100000);
	MUST(pthread_cancel(thread));
}

static void in_get_cm_event(void)
{
	struct ends it;
	int cancelled = 0;

	ends_listen(&it);
	for (int at = 0; at < 3; at++)
		cancelled += start_and_join(read_one, it.at_active, cancel_soon) == PTHREAD_CANCELED;
	check(cancelled == 3, "a thread is cancelled in rdma_get_cm_event", "%d of 3 were", cancelled);
	ends_route(&it);
	ends_request(&it);
	ends_response(&it);
	ends_establish(&it);
	check(1, "its channel goes on, no event is lost", " ");
	ends_close(&it);
}

/* Readers are cancelled while events come; each event is read by one of them or
 * is there afterwards, also one that the kernel handed over just as its reader was
 * cancelled. */
static atomic_int read_by_cancelled;

static void *read_many(void *channel)
{
	struct rdma_cm_event *event;

	for (;;) {
		int old;

		if (rdma_get_cm_event(channel, &event))
			return NULL;
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
		atomic_fetch_add(&read_by_cancelled, 1);
		rdma_ack_cm_event(event);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	}
}

static void while_events_come(void)
{
	enum { rounds = 300 };
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	struct sockaddr_in here = machine_address(htons(7));
	struct rdma_cm_id *ids[rounds];
	struct rdma_cm_event *event;
	int left = 0, destroyed = 0;

	for (int at = 0; at < rounds; at++) {
		pthread_t thread;
		void *value;

		MUST(pthread_create(&thread, NULL, read_many, channel));
		MUST(rdma_create_id(channel, &ids[at], NULL, RDMA_PS_TCP));
		MUST(rdma_resolve_addr(ids[at], NULL, (struct sockaddr *)&here, 1000));
		usleep((unsigned)(at * 7) % 2000);
		MUST(pthread_cancel(thread));
		MUST(pthread_join(thread, &value));
	}
	while ((event = next_event(channel, 500))) {
		rdma_ack_cm_event(event);
		left++;
	}
	/* What a cancelled reader had in hand does not wake poll(2). */
	MUST(fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	while (!rdma_get_cm_event(channel, &event)) {
		rdma_ack_cm_event(event);
		left++;
	}
	check(read_by_cancelled + left == rounds && read_by_cancelled > 0,
	      "each event that comes while readers are cancelled is read once", "of %d %d were read, %d left",
	      rounds, read_by_cancelled, left);
	if (read_by_cancelled + left == rounds)
		for (int at = 0; at < rounds; at++)
			destroyed += !rdma_destroy_id(ids[at]);
	check(destroyed == rounds, "and none stays unacknowledged: every id is destroyed", "%d", destroyed);
	rdma_destroy_event_channel(channel);
}

/* With a cancellation pending, all of it runs to its end. */
struct work {
	struct ends it;
	int done;
};

static void *calls(void *argument)
{
	struct work *work = argument;
	struct rdma_conn_param param = foreign_param();
	struct sockaddr_in there = machine_address(rdma_get_src_port(work->it.listener));
	struct rdma_cm_id *id, *bound;

	pthread_cancel(pthread_self());
	if (rdma_create_id(work->it.at_active, &id, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(work->it.at_active, &bound, NULL, RDMA_PS_TCP))
		return NULL;
	there.sin_port = 0;
	/* The first that needs the device: opens it. */
	if (rdma_bind_addr(bound, (struct sockaddr *)&there) || rdma_destroy_id(bound))
		return NULL;
	there.sin_port = rdma_get_src_port(work->it.listener);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&there, 1000))
		return NULL;
	if (rdma_destroy_id(id))
		return NULL;
	if (work->it.active && rdma_connect(work->it.active, &param))
		return NULL;
	work->done = 1;
	pthread_testcancel();
	return NULL;
}

static void in_other_calls(void)
{
	struct work work = {.done = 0};
	struct sockaddr_in any = {.sin_family = AF_INET};
	void *value;

	/* A wildcard listener has no device: the cancelled thread is to open it. */
	work.it.at_active = HAVE(rdma_create_event_channel());
	work.it.at_passive = HAVE(rdma_create_event_channel());
	MUST(rdma_create_id(work.it.at_passive, &work.it.listener, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(work.it.listener, (struct sockaddr *)&any));
	MUST(rdma_listen(work.it.listener, 4));
	value = start_and_join(calls, &work, NULL);
	check(work.done && value == PTHREAD_CANCELED,
	      "a pending cancellation waits through create, bind, resolve and destroy", "it does not");
	work.done = 0;
	ends_route(&work.it);
	value = start_and_join(calls, &work, NULL);
	check(work.done && value == PTHREAD_CANCELED, "and through connect", "it does not");
	check(event_is(work.it.at_passive, RDMA_CM_EVENT_CONNECT_REQUEST, NULL), "the request arrives",
	      "it does not");
	ends_close(&work.it);
}

/* Ids without a channel open and close one: neither is a place to be cancelled. */
static void *synchronous(void *argument)
{
	int *rounds = argument;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	pthread_cancel(pthread_self());
	for (; *rounds < 5; ++*rounds) {
		if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) || rdma_destroy_id(id))
			return NULL;
		channel = rdma_create_event_channel();
		if (!channel)
			return NULL;
		rdma_destroy_event_channel(channel);
	}
	pthread_testcancel();
	return NULL;
}

static void in_synchronous_ids(void)
{
	int rounds = 0;
	void *value = start_and_join(synchronous, &rounds, NULL);

	check(rounds == 5 && value == PTHREAD_CANCELED,
	      "nor is it acted on in opening and closing a channel", "it was in round %d", rounds);
}

static void note(int signal) { (void)signal; }

static void *interrupted(void *channel)
{
	struct rdma_cm_event *event;

	if (!rdma_get_cm_event(channel, &event)) {
		rdma_ack_cm_event(event);
		return NULL;
	}
	return errno == EINTR ? channel : NULL;
}

static struct rdma_cm_id *waits_for;

static void signal_soon(pthread_t thread)
{
	usleep(100000);
	MUST(pthread_kill(thread, SIGUSR1));
	if (!waits_for)
		return;
	usleep(100000);
	struct sockaddr_in here = machine_address(htons(7));
	MUST(rdma_resolve_addr(waits_for, NULL, (struct sockaddr *)&here, 1000));
}

static void signals(void)
{
	struct sigaction action = {.sa_handler = note};
	struct ends it;

	ends_listen(&it);
	sigaction(SIGUSR1, &action, NULL);
	check(start_and_join(interrupted, it.at_active, signal_soon) == it.at_active,
	      "a signal without SA_RESTART ends rdma_get_cm_event with EINTR", "it does not");
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	MUST(rdma_create_id(it.at_active, &it.active, NULL, RDMA_PS_TCP));
	waits_for = it.active;
	check(!start_and_join(interrupted, it.at_active, signal_soon),
	      "with SA_RESTART it goes on to the event", "it does not");
	ends_close(&it);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(60);
	check_prefix("cancelled: ");
	in_other_calls();
	in_synchronous_ids();
	in_get_cm_event();
	while_events_come();
	signals();
	return check_status();
}
