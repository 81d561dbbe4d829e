/* SPDX-License-Identifier: MIT */
/*
 * From 6.1 on the kernel says UNREACHABLE when the entry of the peer among the
 * machine's neighbours changes, and goes on as if nothing was. Both ends are on
 * this machine, whose own address has no entry: one is made, with a wrong address,
 * which nobody uses.
 */
#include "traps.h"

#include <pthread.h>

static void change_neighbour(void)
{
	static int last;
	char command[200];

	snprintf(command, sizeof command, "ip neigh replace %s lladdr 02:00:00:00:00:%02x dev v0 nud permanent",
		 getenv("QPATTR_VM_IPV4"), 16 + last++ % 200);
	must_(system(command) == 0, command);
}

static int told(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = next_event(channel, kernel() < 601 ? 300 : 3000);
	int is = event && event->event == RDMA_CM_EVENT_UNREACHABLE;

	if (event && !is)
		printf("# %s instead of UNREACHABLE\n", rdma_event_str(event->event));
	if (event)
		rdma_ack_cm_event(event);
	return kernel() < 601 ? !event : is;
}

static void at_each_stage(void)
{
	struct ends it;

	ends_listen(&it);
	ends_route(&it);
	change_neighbour();
	check(told(it.at_active), "7: the kernel tells of a neighbour that changed, before connecting", "it does not");
	ends_request(&it);
	change_neighbour();
	check(told(it.at_active), "7: and while connecting", "it does not");
	ends_response(&it);
	check(1, "7: the id goes on connecting", " ");
	ends_establish(&it);
	change_neighbour();
	check(told(it.at_active), "7: and when established", "it does not");
	check(!next_event(it.at_passive, 300), "7: which the peer does not hear", "it does");
	MUST(rdma_disconnect(it.active));
	check(event_is(it.at_passive, RDMA_CM_EVENT_DISCONNECTED, NULL), "7: the connection lives on to its end",
	      "it does not");
	ends_close(&it);
}

/* A QP of the library's is not put into the error state. */
static void with_a_qp(void)
{
	struct ibv_qp_init_attr init = {.cap = {2, 2, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct ibv_qp_attr attr;
	struct rdma_cm_event *event;
	struct ends it;

	ends_listen(&it);
	ends_route(&it);
	MUST(rdma_create_qp(it.active, NULL, &init));
	MUST(rdma_connect(it.active, &param));
	event = HAVE(next_event(it.at_passive, 20000));
	it.passive = event->id;
	rdma_ack_cm_event(event);
	change_neighbour();
	check(told(it.at_active), "7: a connecting id with a QP", "nothing is told");
	MUST(ibv_query_qp(it.active->qp, &attr, IBV_QP_STATE, &init));
	check(attr.qp_state != IBV_QPS_ERR, "7: keeps its QP from the error state", "state %d", attr.qp_state);
	param = foreign_param();
	MUST(rdma_accept(it.passive, &param));
	must_be(it.at_active, RDMA_CM_EVENT_ESTABLISHED);
	must_be(it.at_passive, RDMA_CM_EVENT_ESTABLISHED);
	change_neighbour();
	told(it.at_active);
	MUST(ibv_query_qp(it.active->qp, &attr, IBV_QP_STATE, &init));
	check(attr.qp_state == IBV_QPS_RTS, "7: also when established", "state %d", attr.qp_state);
	rdma_destroy_qp(it.active);
	ends_close(&it);
}

static void *accept_late(void *ends)
{
	struct ends *it = ends;
	struct rdma_conn_param param = foreign_param();
	struct rdma_cm_event *event = HAVE(next_event(it->at_passive, 20000));

	it->passive = event->id;
	rdma_ack_cm_event(event);
	change_neighbour();
	usleep(500000);
	MUST(rdma_accept(it->passive, &param));
	return NULL;
}

static void in_a_synchronous_call(void)
{
	struct ibv_qp_init_attr init = {.cap = {2, 2, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct sockaddr_in there;
	pthread_t acceptor;
	struct ends it;

	ends_listen(&it);
	there = machine_address(rdma_get_src_port(it.listener));
	MUST(rdma_create_id(NULL, &it.active, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(it.active, NULL, (struct sockaddr *)&there, 1000));
	change_neighbour();
	check(!rdma_resolve_route(it.active, 1000), "7: a synchronous id resolves its route across a change", "it fails");
	change_neighbour();
	MUST(rdma_create_qp(it.active, NULL, &init));
	MUST(pthread_create(&acceptor, NULL, accept_late, &it));
	check(!rdma_connect(it.active, &param), "7: and rdma_connect goes on across changes", "it fails");
	MUST(pthread_join(acceptor, NULL));
	must_be(it.at_passive, RDMA_CM_EVENT_ESTABLISHED);
	change_neighbour();
	MUST(rdma_destroy_id(it.passive)); /* the peer's end, for which the call need not wait */
	it.passive = NULL;
	check(!rdma_disconnect(it.active), "7: and rdma_disconnect", "it fails");
	rdma_destroy_qp(it.active);
	ends_close(&it);
}

void neighbours(void)
{
	at_each_stage();
	with_a_qp();
	in_a_synchronous_call();
}
