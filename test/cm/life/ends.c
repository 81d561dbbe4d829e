/* SPDX-License-Identifier: MIT */
#include "ends.h"

#include "../programs/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sockaddr_in machine_address(unsigned short port_be)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port_be};
	const char *text = getenv("QPATTR_VM_IPV4");

	if (!text || inet_pton(AF_INET, text, &address.sin_addr) != 1) {
		fprintf(stderr, "QPATTR_VM_IPV4 is set in the machine only (./run vm)\n");
		exit(125);
	}
	return address;
}

uint32_t fresh_qpn(void)
{
	/* The kernel keeps a pair of numbers for seconds after the end. */
	static atomic_uint last = 0x1000;

	return (atomic_fetch_add(&last, 1) + 1) & 0xffffff;
}

struct rdma_conn_param foreign_param(void)
{
	return (struct rdma_conn_param){.qp_num = fresh_qpn(), .responder_resources = 1,
					.initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
}

struct rdma_cm_event *next_event(struct rdma_event_channel *channel, int ms)
{
	struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	if (poll(&ready, 1, ms) != 1) {
		errno = ETIMEDOUT;
		return NULL;
	}
	return rdma_get_cm_event(channel, &event) ? NULL : event;
}

int event_is(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, int *status)
{
	struct rdma_cm_event *event = next_event(channel, 20000);
	int good = event && event->event == wanted;

	if (!good)
		printf("# %s was awaited, there came %s (status %d)\n", rdma_event_str(wanted),
		       event ? rdma_event_str(event->event) : "nothing", event ? event->status : errno);
	if (status && event)
		*status = event->status;
	if (event)
		rdma_ack_cm_event(event);
	return good;
}

void must_be(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted)
{
	must_(event_is(channel, wanted, NULL), rdma_event_str(wanted));
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void ends_listen(struct ends *it)
{
	struct sockaddr_in here = machine_address(0);

	memset(it, 0, sizeof *it);
	it->at_active = HAVE(rdma_create_event_channel());
	it->at_passive = HAVE(rdma_create_event_channel());
	MUST(rdma_create_id(it->at_passive, &it->listener, it, RDMA_PS_TCP));
	MUST(rdma_bind_addr(it->listener, (struct sockaddr *)&here));
	MUST(rdma_listen(it->listener, 128));
}

void ends_route(struct ends *it)
{
	struct sockaddr_in there = machine_address(rdma_get_src_port(it->listener));

	MUST(rdma_create_id(it->at_active, &it->active, it, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(it->active, NULL, (struct sockaddr *)&there, 2000));
	must_be(it->at_active, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(rdma_resolve_route(it->active, 2000));
	must_be(it->at_active, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

void ends_request(struct ends *it)
{
	struct rdma_conn_param param = foreign_param();
	struct rdma_cm_event *event;

	MUST(rdma_connect(it->active, &param));
	event = HAVE(next_event(it->at_passive, 20000));
	must_(event->event == RDMA_CM_EVENT_CONNECT_REQUEST, "the connection request");
	it->passive = event->id;
	rdma_ack_cm_event(event);
}

void ends_response(struct ends *it)
{
	struct rdma_conn_param param = foreign_param();

	MUST(rdma_accept(it->passive, &param));
	must_be(it->at_active, RDMA_CM_EVENT_CONNECT_RESPONSE);
}

void ends_establish(struct ends *it)
{
	MUST(rdma_establish(it->active));
	must_be(it->at_passive, RDMA_CM_EVENT_ESTABLISHED);
}

void ends_close(struct ends *it)
{
	if (it->passive)
		MUST(rdma_destroy_id(it->passive));
	if (it->active)
		MUST(rdma_destroy_id(it->active));
	if (it->listener)
		MUST(rdma_destroy_id(it->listener));
	rdma_destroy_event_channel(it->at_active);
	rdma_destroy_event_channel(it->at_passive);
	memset(it, 0, sizeof *it);
}
