/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include "../cm/programs/events.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int failed;

const struct rdma_conn_param usual = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 2, .rnr_retry_count = 7};

struct ibv_qp_init_attr small_qp(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr){.cap = {2, 2, 1, 1, 0}, .qp_type = type};
}

int failed_at(const char *step, int error)
{
	if (!__atomic_exchange_n(&failed, 1, __ATOMIC_SEQ_CST))
		printf("failed: %s %s\n", step, error == ETIME ? "ETIME" : error ? strerrorname_np(error) : "0");
	return 0;
}

int event_comes(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, struct rdma_cm_id **request)
{
	struct rdma_cm_event *event = event_next(channel, patience_ms);
	char text[100];
	int right = event && event->event == wanted;

	if (!event)
		return snprintf(text, sizeof text, "%s", rdma_event_str(wanted)), failed_at(text, errno);
	if (!right)
		snprintf(text, sizeof text, "%s: %s", rdma_event_str(wanted), rdma_event_str(event->event));
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && request)
		*request = event->id;
	if (!right)
		failed_at(text, -event->status > 0 ? -event->status : 0);
	errno = untouched;
	return (rdma_ack_cm_event(event) == 0 || failed_at("rdma_ack_cm_event", errno)) && right;
}

int does_not_wait(struct rdma_event_channel *channel)
{
	return !fcntl(channel->fd, F_SETFL, O_NONBLOCK) || failed_at("fcntl", errno);
}

void destroy(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	if (STEP(rdma_destroy_id, id))
		return;
	if (rdma_destroy_id(id))
		printf("wrong: rdma_destroy_id fails again: %s\n", strerrorname_np(errno));
}

struct sockaddr_in device_address(void)
{
	struct sockaddr_in there = {.sin_family = AF_INET};
	const char *address = getenv("QPATTR_VM_IPV4");

	if (!address || inet_pton(AF_INET, address, &there.sin_addr) != 1)
		exit(125);
	return there;
}
