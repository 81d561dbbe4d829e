/* SPDX-License-Identifier: MIT */
/*
 * storms SA_RESTART|plain PORT: a signal every five milliseconds, with SA_RESTART and without, while the calls of
 * a connection wait. One line a call: whether it was interrupted, what errno it gave then, and
 * that it did its work in the end. Linked with ours and with stock, whose lines must be equal.
 */
#include "../cm/life/ends.h"
#include "../cm/programs/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_uint signals;
static void on_alarm(int unused)
{
	(void)unused;
	signals++;
}

static void storm(int flags)
{
	/* Not so often that no call begins to wait in between. */
	const long us = 5000;
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
	const struct itimerval often = {{0, us}, {0, us}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* Until it is not interrupted; how often it was. Any other errno is told. */
#define UNTIL_DONE(call, interrupted) \
	({ \
		int done_; \
		(interrupted) = 0; \
		while ((done_ = (call)) == -1 && errno == EINTR) \
			(interrupted)++; \
		done_; \
	})

static const char *mode;
static void told(const char *what, int result, int code, unsigned interrupted)
{
	printf("# %s, %s: %s, %s\n", mode, what, result ? strerrorname_np(code) : "done",
	       interrupted ? "interrupted by EINTR" : "not interrupted");
}

/* In a thread that gets none: so many that one has met the call that waits. */
static void wait_for_signals(void)
{
	unsigned before = signals;

	while (signals - before < 20)
		usleep(1000);
}

/* Something comes after a while, out of a thread that gets no signals. */
struct later {
	struct rdma_cm_id *id;
	struct sockaddr_in there;
};
static void *resolve_later(void *of)
{
	struct later *it = of;

	wait_for_signals();
	return (void *)(long)rdma_resolve_addr(it->id, NULL, (struct sockaddr *)&it->there, 2000);
}

static pthread_t without_signals(void *(*what)(void *), void *argument)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	must_(!pthread_create(&thread, NULL, what, argument), "pthread_create");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}

static void waiting(void)
{
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	struct later it = {.there = machine_address(htons(7)), .id = NULL};
	struct rdma_cm_event *event;
	unsigned interrupted;
	void *resolved;
	pthread_t thread;
	int result;

	MUST(rdma_create_id(channel, &it.id, NULL, RDMA_PS_TCP));
	thread = without_signals(resolve_later, &it);
	result = UNTIL_DONE(rdma_get_cm_event(channel, &event), interrupted);
	told("rdma_get_cm_event waits", result, errno, interrupted);
	pthread_join(thread, &resolved);
	check(!resolved && !result && event->event == RDMA_CM_EVENT_ADDR_RESOLVED, "the event comes once", "another came");
	rdma_ack_cm_event(event);
	check(!next_event(channel, 200), "and no other", "there is one");
	MUST(rdma_destroy_id(it.id));
	rdma_destroy_event_channel(channel);
}

/* Somebody who listens, accepts after a while, and leaves when told. */
struct server {
	struct rdma_cm_id *listener, *id;
};
static void *serve(void *of)
{
	struct server *it = of;

	if (rdma_get_request(it->listener, &it->id))
		return "rdma_get_request";
	wait_for_signals();
	return rdma_accept(it->id, NULL) ? "rdma_accept" : NULL;
}

static void *leave(void *id)
{
	rdma_disconnect(id);
	return NULL;
}

static struct rdma_cm_id *endpoint(const char *port, int passive)
{
	struct rdma_addrinfo hints = {.ai_flags = passive ? RAI_PASSIVE : 0, .ai_port_space = RDMA_PS_TCP}, *where;
	struct ibv_qp_init_attr init = {.cap = {2, 2, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct rdma_cm_id *id;

	MUST(rdma_getaddrinfo(getenv("QPATTR_VM_IPV4"), port, &hints, &where));
	MUST(rdma_create_ep(&id, where, NULL, &init));
	rdma_freeaddrinfo(where);
	return id;
}

static void synchronous(int flags, const char *port)
{
	struct server server = {.listener = endpoint(port, 1)};
	struct sockaddr_in there = machine_address(htons((unsigned short)atoi(port)));
	struct ibv_qp_init_attr init = {.cap = {2, 2, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct rdma_conn_param param = {.retry_count = 2};
	struct rdma_cm_id *id;
	void *failed;
	pthread_t thread;
	int result;

	MUST(rdma_listen(server.listener, 1));
	thread = without_signals(serve, &server);
	MUST(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(id, NULL, (struct sockaddr *)&there, 2000));
	MUST(rdma_resolve_route(id, 2000));
	MUST(rdma_create_qp(id, NULL, &init));
	storm(flags);
	result = rdma_connect(id, &param);
	told("rdma_connect waits", result, errno, result && errno == EINTR);
	if (result) {
		rdma_destroy_ep(id); /* refuses the other's answer */
		pthread_join(thread, &failed);
	} else {
		pthread_join(thread, &failed);
		check(!failed, "the other end", "%s", (const char *)failed);
		/* Each waits for the other. */
		thread = without_signals(leave, server.id);
		rdma_disconnect(id);
		pthread_join(thread, NULL);
		rdma_destroy_ep(id);
	}
	/* None, if the request was taken back before it was read. */
	if (server.id)
		rdma_destroy_ep(server.id);
	rdma_destroy_ep(server.listener);
}

int main(int argc, char **argv)
{
	const struct itimerval never = {{0, 0}, {0, 0}};
	int flags;

	setvbuf(stdout, NULL, _IOLBF, 0);
	check_prefix("storms: ");
	if (argc != 3)
		return 125;
	mode = argv[1];
	flags = !strcmp(mode, "SA_RESTART") ? SA_RESTART : 0;
	storm(flags);
	waiting();
	setitimer(ITIMER_REAL, &never, NULL);
	synchronous(flags, argv[2]);
	setitimer(ITIMER_REAL, &never, NULL);
	check(signals > 20, "signals came", "%u", signals);
	return check_status();
}
