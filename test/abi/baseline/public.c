/* SPDX-License-Identifier: MIT
 * Every struct of <rdma/rdma_cma.h> and <rdma/rdma_verbs.h>, and every enum that functions
 * take, so that abidiff sees their layout: compiled with stock's headers and with ours.
 * values.c has the rest. */
#include <rdma/rdma_verbs.h>

void public_types(struct rdma_cm_id *, struct rdma_cm_event *, struct rdma_event_channel *,
		  struct rdma_addrinfo *, struct rdma_conn_param *, struct rdma_ud_param *,
		  struct rdma_cm_join_mc_attr_ex *, struct rdma_route *, struct rdma_addr *,
		  struct rdma_ib_addr *, enum rdma_cm_event_type, enum rdma_port_space);

void public_types(struct rdma_cm_id *id, struct rdma_cm_event *event,
		  struct rdma_event_channel *channel, struct rdma_addrinfo *info,
		  struct rdma_conn_param *conn, struct rdma_ud_param *ud,
		  struct rdma_cm_join_mc_attr_ex *join, struct rdma_route *route,
		  struct rdma_addr *addr, struct rdma_ib_addr *ib, enum rdma_cm_event_type type,
		  enum rdma_port_space space)
{
	(void)id, (void)event, (void)channel, (void)info, (void)conn, (void)ud, (void)join;
	(void)route, (void)addr, (void)ib, (void)type, (void)space;
}
