/* SPDX-License-Identifier: MIT */
#include "kinds.h"

#include "steps.h"

#include <rdma/rdma_cma.h>
#include <unistd.h>

struct ends {
	struct rdma_event_channel *at_active, *at_passive;
	struct rdma_cm_id *listener, *active, *passive, *member;
};

/* Until the request is there, and both ends have a QP. */
static int request(struct ends *it, enum rdma_port_space space)
{
	struct sockaddr_in there = device_address();
	struct sockaddr *to = (struct sockaddr *)&there;
	struct ibv_qp_init_attr init = small_qp(space == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD), init_too = init;
	struct rdma_conn_param param = usual;

	return MADE(it->at_passive, rdma_create_event_channel) && MADE(it->at_active, rdma_create_event_channel) &&
	       does_not_wait(it->at_passive) && does_not_wait(it->at_active) && STEP(rdma_create_id, it->at_passive, &it->listener, it, space) &&
	       STEP(rdma_bind_addr, it->listener, to) && STEP(rdma_listen, it->listener, 4) && (there.sin_port = rdma_get_src_port(it->listener)) &&
	       STEP(rdma_create_id, it->at_active, &it->active, it, space) && STEP(rdma_resolve_addr, it->active, NULL, to, 2000) &&
	       event_comes(it->at_active, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) && STEP(rdma_resolve_route, it->active, 2000) &&
	       event_comes(it->at_active, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) && STEP(rdma_create_qp, it->active, NULL, &init) &&
	       STEP(rdma_connect, it->active, &param) && event_comes(it->at_passive, RDMA_CM_EVENT_CONNECT_REQUEST, &it->passive) &&
	       STEP(rdma_create_qp, it->passive, NULL, &init_too);
}

static void end(struct ends *it)
{
	destroy(it->member);
	destroy(it->passive);
	destroy(it->active);
	destroy(it->listener);
	if (it->at_passive)
		rdma_destroy_event_channel(it->at_passive);
	if (it->at_active)
		rdma_destroy_event_channel(it->at_active);
}

static int accepted(struct ends *it)
{
	struct rdma_conn_param param = usual;

	param.qp_num = it->passive->qp->qp_num;
	return STEP(rdma_accept, it->passive, &param) && event_comes(it->at_active, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

static int disconnected(struct ends *it)
{
	return STEP(rdma_disconnect, it->active) && event_comes(it->at_passive, RDMA_CM_EVENT_DISCONNECTED, NULL) &&
	       STEP(rdma_disconnect, it->passive) && event_comes(it->at_active, RDMA_CM_EVENT_DISCONNECTED, NULL);
}

void connection(void)
{
	struct ends it = {0};

	if (request(&it, RDMA_PS_TCP) && accepted(&it) && event_comes(it.at_passive, RDMA_CM_EVENT_ESTABLISHED, NULL))
		disconnected(&it);
	end(&it);
}

/* Of this process alone: rxe may keep the QP of one that leaves while another joins. */
static struct sockaddr_in own_group(unsigned base)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(base + (unsigned)getpid())};
}

static int joined(struct ends *it, struct sockaddr_in *group)
{
	return STEP(rdma_join_multicast, it->member, (struct sockaddr *)group, it) &&
	       event_comes(it->at_active, RDMA_CM_EVENT_MULTICAST_JOIN, NULL);
}

/* Leaves one, and is in another when its QP is destroyed. */
static int in_groups(struct ends *it)
{
	struct ibv_qp_init_attr init = small_qp(IBV_QPT_UD);
	struct sockaddr_in one = own_group(0xef000000U), other = own_group(0xee000000U), there = device_address();

	return STEP(rdma_create_id, it->at_active, &it->member, it, RDMA_PS_UDP) && STEP(rdma_bind_addr, it->member, (struct sockaddr *)&there) &&
	       STEP(rdma_create_qp, it->member, NULL, &init) && joined(it, &one) && STEP(rdma_leave_multicast, it->member, (struct sockaddr *)&one) &&
	       joined(it, &other);
}

void datagrams(void)
{
	struct ends it = {0};

	if (request(&it, RDMA_PS_UDP) && accepted(&it))
		in_groups(&it);
	end(&it);
}
