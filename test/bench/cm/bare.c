/* SPDX-License-Identifier: MIT */
/*
 * The names that the bench's programs call, as bare commands: no checks, no
 * table of ids, no errors but -1. What a library costs is counted from here, and
 * no library can be faster. One device, IPv4, RC, ids with a channel only.
 *
 * BARE_SPARE in the environment says which commands are left out, so that each
 * one's price can be measured; added up:
 *   1  QUERY ADDR and GID: one QUERY_ROUTE instead
 *   2  QUERY PATH
 *   4  INIT_QP_ATTR for the first INIT: by hand, port 1 and no access
 *   8  the second MODIFY to INIT: its access flags go along with RTR
 *   16 QUERY ADDR and GID of a connection request
 *   32 moving the QP to ERR at rdma_disconnect
 * Default: all. 0 is the commands that stock makes.
 */
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/bench/cm/bare_commands.h"

struct bare_id {
	struct rdma_cm_id id;
	uint32_t handle;
};

struct bare_cm_event {
	struct rdma_cm_event event;
	unsigned char private_data[256];
};

static struct ibv_context *device;
static unsigned spare = ~0u;

static uint32_t handle_of(struct rdma_cm_id *id)
{
	return ((struct bare_id *)id)->handle;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel;
	const char *text = getenv("BARE_SPARE");

	if (text)
		spare = (unsigned)atoi(text);
	if (!device) {
		struct ibv_device **list = ibv_get_device_list(NULL);
		if (!list || !*list || !(device = ibv_open_device(*list)))
			return NULL;
		ibv_free_device_list(list);
	}
	channel = malloc(sizeof *channel);
	if (channel)
		channel->fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

static struct bare_id *new_id(struct rdma_event_channel *channel, void *context)
{
	struct bare_id *id = calloc(1, sizeof *id);

	if (id) {
		id->id.channel = channel;
		id->id.context = context;
		id->id.ps = RDMA_PS_TCP;
		id->id.qp_type = IBV_QPT_RC;
	}
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	struct bare_id *made = new_id(channel, context);

	if (!made)
		return -1;
	*id = &made->id;
	return bare_create_id(channel->fd, (uintptr_t)made, (uint16_t)ps, &made->handle);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	const int result = bare_destroy_id(id->channel->fd, handle_of(id));

	free(id);
	return result;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	uint16_t port;

	if (bare_bind(id->channel->fd, handle_of(id), (struct sockaddr_in *)addr) ||
	    bare_query_addr(id->channel->fd, handle_of(id), &port))
		return -1;
	id->route.addr.src_sin.sin_port = port;
	return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return id->route.addr.src_sin.sin_port;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	return bare_listen(id->channel->fd, handle_of(id), backlog);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
		      int timeout_ms)
{
	(void)src;
	return bare_resolve_addr(id->channel->fd, handle_of(id), (struct sockaddr_in *)dst,
				 (uint32_t)timeout_ms);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	return bare_resolve_route(id->channel->fd, handle_of(id), (uint32_t)timeout_ms);
}

static int to_init(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	if (!(spare & 4) && bare_init_qp_attr(id->channel->fd, handle_of(id), &attr, &mask))
		return -1;
	return ibv_modify_qp(id->qp, &attr, mask);
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	id->qp = ibv_create_qp(pd, init);
	return id->qp ? to_init(id) : -1;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
}

/* INIT again, now with the connection's access flags; RTR; RTS. */
static int to_rts(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	unsigned access;
	int mask, also = 0;

	if (bare_init_qp_attr(id->channel->fd, handle_of(id), &attr, &mask))
		return -1;
	access = attr.qp_access_flags;
	if (spare & 8)
		also = IBV_QP_ACCESS_FLAGS;
	else if (ibv_modify_qp(id->qp, &attr, mask))
		return -1;
	attr.qp_state = IBV_QPS_RTR;
	if (bare_init_qp_attr(id->channel->fd, handle_of(id), &attr, &mask))
		return -1;
	attr.qp_access_flags = access;
	if (ibv_modify_qp(id->qp, &attr, mask | also))
		return -1;
	attr.qp_state = IBV_QPS_RTS;
	if (bare_init_qp_attr(id->channel->fd, handle_of(id), &attr, &mask))
		return -1;
	return ibv_modify_qp(id->qp, &attr, mask);
}

static struct bare_param parameters(struct rdma_cm_id *id, const struct rdma_conn_param *from)
{
	return (struct bare_param){
		.qp_num = id->qp ? id->qp->qp_num : from->qp_num,
		.private_data = from->private_data,
		.private_data_len = from->private_data_len,
		.responder_resources = from->responder_resources,
		.initiator_depth = from->initiator_depth,
		.retry_count = from->retry_count,
	};
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *from)
{
	const struct bare_param param = parameters(id, from);

	return bare_connect(id->channel->fd, handle_of(id), &param);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *from)
{
	const struct bare_param param = parameters(id, from);

	if (id->qp && to_rts(id))
		return -1;
	return bare_accept(id->channel->fd, handle_of(id), (uintptr_t)id, &param);
}

int rdma_establish(struct rdma_cm_id *id)
{
	return bare_accept(id->channel->fd, handle_of(id), 0, NULL);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (id->qp && !(spare & 32) && ibv_modify_qp(id->qp, &attr, IBV_QP_STATE))
		return -1;
	return bare_disconnect(id->channel->fd, handle_of(id));
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	(void)event;
	return "an event";
}

/* What a resolved or requested id is told about its device and addresses. */
static int ask_addresses(struct rdma_cm_id *id, unsigned bit)
{
	uint16_t port;

	id->verbs = device;
	if (bit == 16 && (spare & bit))
		return 0;
	if (spare & bit)
		return bare_query_route(id->channel->fd, handle_of(id));
	return bare_query_addr(id->channel->fd, handle_of(id), &port) ||
	       bare_query_gid(id->channel->fd, handle_of(id));
}

static int passive(struct rdma_cm_event *event, uint32_t handle)
{
	struct bare_id *id = new_id(event->id->channel, event->id->context);

	if (!id)
		return -1;
	id->handle = handle;
	event->listen_id = event->id;
	event->id = &id->id;
	return ask_addresses(event->id, 16);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
	struct bare_cm_event *made = malloc(sizeof *made);
	struct bare_event got;

	if (!made || bare_get_event(channel->fd, &got))
		return -1;
	made->event.id = (struct rdma_cm_id *)(uintptr_t)got.uid;
	made->event.listen_id = NULL;
	made->event.event = (enum rdma_cm_event_type)got.event;
	made->event.status = got.status;
	made->event.param.conn.private_data = made->private_data;
	made->event.param.conn.private_data_len = got.private_data_len;
	memcpy(made->private_data, got.private_data, got.private_data_len);
	*out = &made->event;
	switch (made->event.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return ask_addresses(made->event.id, 1);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return spare & 2 ? 0 : bare_query_path(channel->fd, got.id);
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return passive(&made->event, got.id);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (!made->event.id->qp)
			return 0;
		made->event.event = RDMA_CM_EVENT_ESTABLISHED;
		return to_rts(made->event.id) || rdma_establish(made->event.id) ? -1 : 0;
	default:
		return 0;
	}
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	return 0;
}
