/* SPDX-License-Identifier: MIT */
/*
 * queried ADDRESS PORT: connects as a program does that has librdmacm move its QP, and
 * prints what the QP then has by ibv_query_qp: "timeout 19 min_rnr_timer 0 retry_cnt 7".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "queried: %s: %s\n", what, strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints, *where;
	struct rdma_conn_param param;
	struct ibv_qp_init_attr make;
	struct ibv_qp_attr has;
	struct rdma_cm_id *id;

	if (argc != 3) {
		fprintf(stderr, "usage: queried ADDRESS PORT\n");
		return 2;
	}
	memset(&hints, 0, sizeof hints);
	hints.ai_port_space = RDMA_PS_TCP;
	must(rdma_getaddrinfo(argv[1], argv[2], &hints, &where), "rdma_getaddrinfo");
	memset(&make, 0, sizeof make);
	make.qp_type = IBV_QPT_RC;
	make.cap.max_send_wr = make.cap.max_recv_wr = 4;
	make.cap.max_send_sge = make.cap.max_recv_sge = 1;
	must(rdma_create_ep(&id, where, NULL, &make), "rdma_create_ep");
	memset(&param, 0, sizeof param);
	param.responder_resources = param.initiator_depth = 1;
	param.retry_count = param.rnr_retry_count = 7;
	must(rdma_connect(id, &param), "rdma_connect");
	must(ibv_query_qp(id->qp, &has, IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_RETRY_CNT,
			  &make),
	     "ibv_query_qp");
	printf("timeout %u min_rnr_timer %u retry_cnt %u\n", has.timeout, has.min_rnr_timer,
	       has.retry_cnt);
	rdma_disconnect(id);
	rdma_destroy_ep(id);
	rdma_freeaddrinfo(where);
	return 0;
}
