/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <rdma/rdma_verbs.h>
#include "check.h"
#include "pingpong.h"

static struct rdma_cm_id *endpoint_at(struct party *party, uint16_t port, int listens)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_flags = listens ? RAI_PASSIVE : 0}, *info;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id;
	char service[8];

	snprintf(service, sizeof service, "%u", port);
	MUST(rdma_getaddrinfo(party->address_text, service, &hints, &info));
	MUST(rdma_create_ep(&id, info, NULL, &attr));
	rdma_freeaddrinfo(info);
	return id;
}

void pingpong_sync(struct party *party, const struct variant *v, uint16_t port,
	struct rdma_conn_param (*parameters)(const struct variant *, int of_server),
	void (*check_private)(const struct variant *, const struct rdma_conn_param *, int of_server),
	void (*play)(struct endpoint *, const struct variant *, int server))
{
	struct rdma_conn_param param = parameters(v, party->is_server);
	struct rdma_cm_id *listener = NULL;
	struct endpoint end = {.sync = 1};

	if (party->is_server) {
		listener = endpoint_at(party, port, 1);
		MUST(rdma_listen(listener, 2));
		meet("listening");
		MUST(rdma_get_request(listener, &end.id));
		check(end.id->event && end.id->event->event == RDMA_CM_EVENT_CONNECT_REQUEST, "the new id has its request", "it has not");
		check_private(v, &end.id->event->param.conn, 0);
	} else {
		end.id = endpoint_at(party, port, 0);
		meet("listening");
	}
	check(end.id->qp && end.id->send_cq && end.id->recv_cq_channel, "the endpoint has its QP", "it has not");
	end.qp = end.id->qp;
	endpoint_memory(&end);
	if (party->is_server) {
		MUST(rdma_accept(end.id, &param));
	} else {
		MUST(rdma_connect(end.id, &param));
		check_private(v, &end.id->event->param.conn, 1);
	}
	play(&end, v, party->is_server);
	meet("played");
	/* Each waits for the other's. */
	MUST(rdma_disconnect(end.id));
	MUST(rdma_dereg_mr(end.mr));
	free(end.buffer);
	rdma_destroy_ep(end.id);
	if (listener)
		rdma_destroy_ep(listener);
}
