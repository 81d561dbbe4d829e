/* SPDX-License-Identifier: MIT */
/* Addresses, routes and QPs: what the kernel forgets, and what it adds. */
#include "traps.h"

#include <arpa/inet.h>

static void resolved_twice(void)
{
	struct ends it;
	struct sockaddr_in there;

	ends_listen(&it);
	there = machine_address(rdma_get_src_port(it.listener));
	ends_route(&it);
	check(invalid(rdma_resolve_addr(it.active, NULL, (struct sockaddr *)&there, 1000)),
	      "3: a second rdma_resolve_addr is EINVAL", "it is not");
	ends_request(&it);
	check(1, "3: and the id still finds its peer", " ");
	ends_close(&it);
}

static void path_that_did_not_migrate(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct ends it;
	int mask = 0;

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	ends_response(&it);
	ends_establish(&it);
	check(invalid(rdma_notify(it.active, IBV_EVENT_PATH_MIG)) &&
		      invalid(rdma_notify(it.passive, IBV_EVENT_PATH_MIG)),
	      "4: rdma_notify of a migrated path is EINVAL without an alternate one", "it is not");
	check(!rdma_init_qp_attr(it.active, &attr, &mask) && attr.port_num == 1,
	      "4: the attributes for INIT stay whole", "port %d", attr.port_num);
	attr.qp_state = IBV_QPS_RTS;
	check(!rdma_init_qp_attr(it.active, &attr, &mask) && (mask & IBV_QP_STATE), "4: and those for RTS",
	      "mask %#x", (unsigned)mask);
	ends_close(&it);
}

static void route_without_time(void)
{
	struct ends it;
	struct sockaddr_in there;
	int result;

	ends_listen(&it);
	there = machine_address(rdma_get_src_port(it.listener));
	MUST(rdma_create_id(it.at_active, &it.active, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(it.active, NULL, (struct sockaddr *)&there, 1000));
	must_be(it.at_active, RDMA_CM_EVENT_ADDR_RESOLVED);
	result = rdma_resolve_route(it.active, 0);
	check(kernel() < 601 ? result == 0 : invalid(result), "8: rdma_resolve_route in no time is as the kernel has it",
	      "%d", result);
	if (result)
		MUST(rdma_resolve_route(it.active, 1000));
	must_be(it.at_active, RDMA_CM_EVENT_ROUTE_RESOLVED);
	check(it.active->route.num_paths == 1 && it.active->route.path_rec &&
		      !memcmp(&it.active->route.path_rec->dgid, &it.active->route.addr.addr.ibaddr.dgid, 16),
	      "11: the path is there, on every kernel", "num_paths %d", it.active->route.num_paths);
	ends_close(&it);
}

/* Kernels from 6.12 on add access flags that this libibverbs may not know. */
static void access_flags(void)
{
	struct ibv_qp_init_attr init = {.cap = {2, 2, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct rdma_conn_param param = {.responder_resources = 2, .initiator_depth = 2, .retry_count = 7,
					.rnr_retry_count = 7};
	struct ibv_qp_attr asked = {.qp_state = IBV_QPS_INIT}, set;
	struct rdma_cm_event *event;
	struct ends it;
	int mask;

	ends_listen(&it);
	ends_route(&it);
	MUST(rdma_create_qp(it.active, NULL, &init));
	MUST(rdma_connect(it.active, &param));
	event = HAVE(next_event(it.at_passive, 20000));
	it.passive = event->id;
	rdma_ack_cm_event(event);
	MUST(rdma_create_qp(it.passive, NULL, &init));
	check(!rdma_accept(it.passive, &param) && event_is(it.at_active, RDMA_CM_EVENT_ESTABLISHED, NULL) &&
		      event_is(it.at_passive, RDMA_CM_EVENT_ESTABLISHED, NULL),
	      "10: QPs with this kernel's access flags connect", "they do not");
	MUST(rdma_init_qp_attr(it.active, &asked, &mask));
	MUST(ibv_query_qp(it.active->qp, &set, IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT, &init));
	check(asked.qp_access_flags == set.qp_access_flags && (asked.qp_access_flags & 0xe) == 0xe,
	      "10: none of them is lost", "the kernel gave %#x, the QP has %#x", asked.qp_access_flags,
	      set.qp_access_flags);
	check(kernel() < 612 || (set.qp_access_flags & 0x300), "10: nor those that came with 6.12", "the QP has %#x",
	      set.qp_access_flags);
	asked.qp_state = IBV_QPS_RTS;
	MUST(rdma_init_qp_attr(it.active, &asked, &mask));
	check(asked.timeout == set.timeout && set.timeout == (kernel() < 612 ? 19 : 17),
	      "9: the QP's timeout is this kernel's", "%d, the QP has %d", asked.timeout, set.timeout);
	rdma_destroy_qp(it.active);
	rdma_destroy_qp(it.passive);
	ends_close(&it);
}

static void events_of_later_kernels(void)
{
	struct ends it;
	int result;

	for (int number = 12; number < 300; number++)
		must_(rdma_event_str((enum rdma_cm_event_type)number) != NULL, "rdma_event_str");
	ends_listen(&it);
	MUST(rdma_create_id(it.at_active, &it.active, NULL, RDMA_PS_TCP));
	result = rdma_write_cm_event(it.active, RDMA_CM_EVENT_USER, 3, 0x123456789abcdefULL);
	if (kernel() < 702) {
		check(result == -1 && errno == ENOSYS, "13: an event of a later kernel cannot be written: ENOSYS",
		      "%d", result);
	} else {
		int status = 0;

		check(!result && event_is(it.at_active, RDMA_CM_EVENT_USER, &status) && status == 3,
		      "13: an event above 15 is read", "%d, status %d", result, status);
	}
	ends_close(&it);
}

static void loopback(void)
{
	struct sockaddr_in there = machine_address(htons(7));
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	struct rdma_cm_id *id;

	there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(id, NULL, (struct sockaddr *)&there, 1000));
	must_be(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	check(rdma_resolve_route(id, 1000) == -1 && errno == ENODEV, "27: no route to the loopback address: ENODEV",
	      "it is not");
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void group_that_was_not_left(void)
{
	struct sockaddr_in here = machine_address(0), group = here;
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	struct rdma_cm_id *id;
	double begin;

	group.sin_addr.s_addr = inet_addr("239.7.7.7");
	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	MUST(rdma_bind_addr(id, (struct sockaddr *)&here));
	MUST(rdma_join_multicast(id, (struct sockaddr *)&group, NULL));
	must_be(channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	begin = seconds();
	check(!rdma_destroy_id(id) && seconds() - begin < 3, "30: an id is destroyed with the group it did not leave",
	      "%.1f s", seconds() - begin);
	rdma_destroy_event_channel(channel);
}

void routes(void)
{
	resolved_twice();
	path_that_did_not_migrate();
	route_without_time();
	access_flags();
	events_of_later_kernels();
	loopback();
	group_that_was_not_left();
}
