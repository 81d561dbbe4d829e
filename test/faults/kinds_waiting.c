/* SPDX-License-Identifier: MIT */
/* Endpoints whose calls wait, so that either end has a thread. Of the two one at a time does
 * something, as far as that can be had: the faults are counted. */
#include "kinds.h"

#include "steps.h"

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static pthread_t thread;
static sem_t begins, is_over;
static int over;
static struct rdma_cm_id *listener;
/* The active end has come to its end. */
static int active_ended;

static struct rdma_addrinfo *info_of(int flags, in_port_t port)
{
	struct sockaddr_in there = device_address();
	struct rdma_addrinfo hints = {.ai_flags = RAI_NUMERICHOST | flags, .ai_port_space = RDMA_PS_TCP}, *info = NULL;
	char host[INET_ADDRSTRLEN], service[8];

	getnameinfo((struct sockaddr *)&there, sizeof there, host, sizeof host, NULL, 0, NI_NUMERICHOST);
	snprintf(service, sizeof service, "%u", ntohs(port));
	return STEP(rdma_getaddrinfo, host, service, &hints, &info) ? info : NULL;
}

static int endpoint(struct rdma_cm_id **made, int flags, in_port_t port)
{
	struct ibv_qp_init_attr init = small_qp(IBV_QPT_RC);
	struct rdma_addrinfo *info = info_of(flags, port);
	int well;

	if (!info)
		return 0;
	well = STEP(rdma_create_ep, made, info, NULL, &init);
	rdma_freeaddrinfo(info);
	return well;
}

static void destroy_endpoint(struct rdma_cm_id *id)
{
	if (id)
		rdma_destroy_ep(id);
}

/* Whether a request can be read: without one nobody waits for it. */
static int request_came(void)
{
	struct pollfd which = {listener->channel->fd, POLLIN, 0};

	while (!__atomic_load_n(&active_ended, __ATOMIC_SEQ_CST))
		if (poll(&which, 1, 20) > 0)
			return 1;
	return 0;
}

static void serve(void)
{
	struct rdma_conn_param param = usual;
	struct rdma_cm_id *passive = NULL;

	if (does_not_wait(listener->channel) && request_came() && STEP(rdma_get_request, listener, &passive) && STEP(rdma_accept, passive, &param))
		STEP(rdma_disconnect, passive);
	destroy_endpoint(passive);
	destroy_endpoint(listener);
}

static void *serves(void *nothing)
{
	for (;;) {
		while (sem_wait(&begins))
			;
		if (over)
			return nothing;
		serve();
		sem_post(&is_over);
	}
}

void begin_thread(void)
{
	sem_init(&begins, 0, 0);
	sem_init(&is_over, 0, 0);
	if (pthread_create(&thread, NULL, serves, NULL))
		printf("wrong: no thread\n");
}

void end_thread(void)
{
	over = 1;
	sem_post(&begins);
	pthread_join(thread, NULL);
}

void synchronous(void)
{
	struct rdma_conn_param param = usual;
	struct rdma_cm_id *active = NULL;

	listener = NULL;
	active_ended = 0;
	if (endpoint(&listener, RAI_PASSIVE, 0) && STEP(rdma_listen, listener, 4)) {
		const in_port_t port = rdma_get_src_port(listener);

		sem_post(&begins);
		if (endpoint(&active, 0, port) && STEP(rdma_connect, active, &param))
			STEP(rdma_disconnect, active);
		destroy_endpoint(active);
		__atomic_store_n(&active_ended, 1, __ATOMIC_SEQ_CST);
		while (sem_wait(&is_over))
			;
	} else {
		destroy_endpoint(listener);
	}
}
