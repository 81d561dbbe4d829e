/* SPDX-License-Identifier: MIT */
/*
 * xrc -s|-c|--both -a ADDRESS [-p PORT]
 *
 * XRC by RDMA_PS_IB. rxe has no XRC, so that rdma_create_qp is refused; what is before
 * it is checked: endpoints of the two types, the request, the kernel's attributes for
 * either end. The connection is then rejected. AF_IB has no route over Ethernet, where
 * IPv4 and IPv6 addresses do as well.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "endpoint.h"

static void check_mask(struct rdma_cm_id *id, enum ibv_qp_state state, int wanted, const char *name)
{
	struct ibv_qp_attr attr;
	int mask = 0, result;

	memset(&attr, 0, sizeof attr);
	attr.qp_state = state;
	result = rdma_init_qp_attr(id, &attr, &mask);
	check(result == 0 && mask == wanted, name, "returned %d, mask %#x for %#x", result, mask, wanted);
}

/* With a device that has XRC the program would have to go on to messages: it says so. */
static void check_refused(struct rdma_cm_id *id, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	check(rdma_create_qp(id, NULL, &attr) == -1 && !id->qp, "a device without XRC makes no QP", "it made one: extend this program");
}

static int run(struct party *party)
{
	enum ibv_qp_type type = party->is_server ? IBV_QPT_XRC_RECV : IBV_QPT_XRC_SEND;
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_IB, .ai_qp_type = (int)type, .ai_flags = RAI_NUMERICHOST}, *info;
	struct rdma_conn_param param = {.qp_num = 0x123, .responder_resources = 1, .initiator_depth = 1, .private_data = "xrc", .private_data_len = 3};
	struct rdma_cm_id *id, *request;
	char service[8];

	check_prefix("xrc: %s, %s: ", party->address_text, party->name);
	snprintf(service, sizeof service, "%u", party->port);
	if (party->is_server)
		hints.ai_flags |= RAI_PASSIVE;
	MUST(rdma_getaddrinfo(party->address_text, service, &hints, &info));
	check(info->ai_qp_type == (int)type && info->ai_port_space == RDMA_PS_IB, "getaddrinfo keeps type and port space", "%d and %#x", info->ai_qp_type,
		info->ai_port_space);
	MUST(rdma_create_ep(&id, info, NULL, NULL));
	rdma_freeaddrinfo(info);
	check(id->qp_type == type && id->ps == RDMA_PS_IB, "the endpoint has them", "%d and %#x", id->qp_type, id->ps);
	if (party->is_server) {
		MUST(rdma_listen(id, 1));
		meet("listening");
		MUST(rdma_get_request(id, &request));
		check(request->qp_type == type && request->ps == RDMA_PS_IB, "the request's id has them", "%d and %#x", request->qp_type, request->ps);
		check(!memcmp(request->event->param.conn.private_data, "xrc", 4) && request->event->param.conn.qp_num == 0x123,
			"the request's parameters come", "they do not");
		check_refused(request, type);
		check_mask(request, IBV_QPS_INIT, 0x39, "attributes for INIT");
		check_mask(request, IBV_QPS_RTR, 0x129181, "attributes for RTR, those of a target");
		check_mask(request, IBV_QPS_RTS, 0x10201, "attributes for RTS, those of a target");
		MUST(rdma_reject(request, NULL, 0));
		rdma_destroy_ep(request);
	} else {
		check_refused(id, type);
		check_mask(id, IBV_QPS_INIT, 0x39, "attributes for INIT");
		meet("listening");
		check(rdma_connect(id, &param) == -1 && errno == ECONNREFUSED, "a rejection is ECONNREFUSED", "it is not");
		check(id->event && id->event->event == RDMA_CM_EVENT_REJECTED && id->event->status == 28, "its event is kept", "it is not");
	}
	meet("over");
	rdma_destroy_ep(id);
	return check_status();
}

int main(int argc, char **argv) { return party_run(argc, argv, "", run); }
