/* SPDX-License-Identifier: MIT */
/* Scenarios of fields: what fails on the way, and what the id is then. */
#include "fields.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

static struct rdma_cm_id *ready(struct party *party, struct rdma_event_channel *channel, uint16_t port, int with_qp)
{
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_cm_id *id;

	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_TCP, port), 2000));
	EVENT(channel, id);
	CALL(rdma_resolve_route(id, 2000));
	EVENT(channel, id);
	if (with_qp) {
		CALL(rdma_create_qp(id, NULL, &qp));
		SHOW(id);
	}
	return id;
}

static void run_rejected(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel = fields_channel();
	struct rdma_conn_param param = fields_param("please", 4, 3);
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_cm_id *id, *listener, *request;

	if (party->is_server) {
		listener = fields_listener(party, channel, base);
		meet("rejection");
		request = EVENT(channel, request);
		CALL(rdma_reject(request, "no", 2));
		SHOW(request);
		CALL(rdma_reject(request, "no", 2));
		fields_destroy(request);
		meet("rejection for ECE");
		request = EVENT(channel, request);
		CALL(rdma_reject_ece(request, "no", 2));
		fields_destroy(request);
		meet("destruction");
		request = EVENT(channel, request);
		CALL(rdma_create_qp(request, NULL, &qp));
		SHOW(request);
		VOID(rdma_destroy_qp(request));
		fields_destroy(request);
		fields_destroy(listener);
		meet("nobody");
	} else {
		static const char *const points[] = {"rejection", "rejection for ECE", "destruction", "nobody"};

		for (int i = 0; i < 4; i++) {
			dump_step("%s", points[i]);
			id = ready(party, channel, base, 1);
			meet(points[i]);
			CALL(rdma_connect(id, &param));
			EVENT(channel, id);
			CALL(rdma_connect(id, &param));
			CALL(rdma_disconnect(id));
			SETTLE(id);
			VOID(rdma_destroy_qp(id));
			fields_destroy(id);
		}
	}
	fields_channel_end(channel);
}

static void run_unreachable(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel;
	struct sockaddr_storage far = party->address;
	struct rdma_cm_id *id;

	(void)base;
	if (party->is_server)
		return;
	channel = fields_channel();
	dump_step("no neighbour there");
	if (far.ss_family == AF_INET)
		((struct sockaddr_in *)&far)->sin_addr.s_addr ^= htonl(0xc0);
	else
		((struct sockaddr_in6 *)&far)->sin6_addr.s6_addr[14] ^= 0xc0;
	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_resolve_addr(id, NULL, (struct sockaddr *)&far, 500));
	SETTLE(id);
	EVENT(channel, id);
	dump_step("again, to where somebody is");
	CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_TCP, base), 2000));
	SETTLE(id);
	EVENT(channel, id);
	fields_destroy(id);
	dump_step("no route there");
	if (far.ss_family == AF_INET)
		((struct sockaddr_in *)&far)->sin_addr.s_addr = htonl(0xcb007101);
	else
		inet_pton(AF_INET6, "2001:db8::1", &((struct sockaddr_in6 *)&far)->sin6_addr);
	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_resolve_addr(id, NULL, (struct sockaddr *)&far, 500));
	SETTLE(id);
	CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_TCP, base), 2000));
	SETTLE(id);
	EVENT(channel, id);
	fields_destroy(id);
	dump_step("the same without a channel");
	CALL(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_resolve_addr(id, NULL, (struct sockaddr *)&far, 500));
	SETTLE(id);
	fields_destroy(id);
	dump_step("a loopback address");
	if (far.ss_family == AF_INET)
		((struct sockaddr_in *)&far)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&far)->sin6_addr = in6addr_loopback;
	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_resolve_addr(id, NULL, (struct sockaddr *)&far, 500));
	SETTLE(id);
	if (EVENT(channel, id)) {
		CALL(rdma_resolve_route(id, 500));
		SETTLE(id);
	}
	fields_destroy(id);
	fields_channel_end(channel);
}

/* The request is not answered while the client gives up. */
static void run_given_up(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel = fields_channel();
	struct rdma_conn_param param = fields_param("please", 4, 3);
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_cm_id *id, *listener, *request;

	if (party->is_server) {
		listener = fields_listener(party, channel, base);
		meet("listening");
		request = EVENT(channel, request);
		CALL(rdma_create_qp(request, NULL, &qp));
		meet("given up");
		CALL(rdma_accept(request, &param));
		SETTLE(request);
		CALL(rdma_accept(request, &param));
		VOID(rdma_destroy_qp(request));
		fields_destroy(request);
		fields_destroy(listener);
	} else {
		id = ready(party, channel, base, 1);
		meet("listening");
		CALL(rdma_connect(id, &param));
		/* The request goes by way of the kernel's own thread. */
		fcntl(channel->fd, F_SETFL, O_NONBLOCK);
		dump_step("a channel that does not block, and no event");
		{
			struct rdma_cm_event *event;

			CALL(rdma_get_cm_event(channel, &event));
		}
		usleep(300000);
		VOID(rdma_destroy_qp(id));
		fields_destroy(id);
		meet("given up");
	}
	fields_channel_end(channel);
}

const struct scenario failure_scenarios[] = {
	{"rejected", "46", run_rejected},
	{"unreachable", "46", run_unreachable},
	{"given_up", "4", run_given_up},
	{0},
};
