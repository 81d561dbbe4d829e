/* SPDX-License-Identifier: MIT */
/* Scenarios of fields: QPs that the caller makes, and what else is the caller's. */
#include "fields.h"

static struct ibv_qp *own_qp(struct rdma_cm_id *id, struct ibv_pd **pd, struct ibv_cq **cq)
{
	struct ibv_qp_init_attr attr = fields_qp(IBV_QPT_RC);

	*pd = ibv_alloc_pd(id->verbs);
	*cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	attr.send_cq = *cq;
	attr.recv_cq = *cq;
	return ibv_create_qp(*pd, &attr);
}

static void move(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask = 0;

	memset(&attr, 0, sizeof attr);
	attr.qp_state = state;
	CALL(rdma_init_qp_attr(id, &attr, &mask));
	/* The program's own wish, as external QPs have it. */
	CALL(ibv_modify_qp(qp, &attr, mask));
}

static void run_own_qp(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel = fields_channel();
	struct rdma_conn_param param = fields_param("own", 4, 3);
	struct rdma_cm_id *id, *listener, *request;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	if (party->is_server) {
		listener = fields_listener(party, channel, base);
		meet("listening");
		request = EVENT(channel, request);
		qp = own_qp(request, &pd, &cq);
		move(request, qp, IBV_QPS_INIT);
		move(request, qp, IBV_QPS_RTR);
		move(request, qp, IBV_QPS_RTS);
		param.qp_num = qp->qp_num;
		param.srq = 1;
		CALL(rdma_accept(request, &param));
		SETTLE(request);
		EVENT(channel, request);
		meet("established");
		EVENT(channel, request);
		CALL(rdma_disconnect(request));
		EVENT(channel, request);
		fields_destroy(request);
		fields_destroy(listener);
	} else {
		CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
		CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_TCP, base), 2000));
		EVENT(channel, id);
		CALL(rdma_resolve_route(id, 2000));
		EVENT(channel, id);
		qp = own_qp(id, &pd, &cq);
		move(id, qp, IBV_QPS_INIT);
		param.qp_num = qp->qp_num;
		meet("listening");
		CALL(rdma_connect(id, &param));
		SETTLE(id);
		EVENT(channel, id);
		move(id, qp, IBV_QPS_INIT);
		move(id, qp, IBV_QPS_RTR);
		move(id, qp, IBV_QPS_RTS);
		CALL(rdma_establish(id));
		SETTLE(id);
		meet("established");
		CALL(rdma_disconnect(id));
		EVENT(channel, id);
		EVENT(channel, id);
		fields_destroy(id);
	}
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	fields_channel_end(channel);
}

/* rdma_get_devices, and what an id's verbs have to do with it. */
static void run_devices(struct party *party, uint16_t base)
{
	struct ibv_context **devices;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id, *second;
	int count = 0;

	if (party->is_server)
		return;
	devices = POINTER(rdma_get_devices(&count));
	printf("    %d devices\n", count);
	for (int i = 0; i < count; i++) {
		pointer_name(devices[i], "the device");
		printf("    %s, then %s\n", ibv_get_device_name(devices[i]->device), devices[i + 1] ? "more" : "null");
	}
	channel = fields_channel();
	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_bind_addr(id, fields_address(party, RDMA_PS_TCP, base)));
	SHOW(id);
	CALL(rdma_create_id(channel, &second, NULL, RDMA_PS_TCP));
	CALL(rdma_bind_addr(second, fields_address(party, RDMA_PS_TCP, 0)));
	SHOW(second);
	fields_destroy(second);
	fields_destroy(id);
	VOID(rdma_free_devices(devices));
	count = 0;
	devices = POINTER(rdma_get_devices(NULL));
	VOID(rdma_free_devices(devices));
	fields_channel_end(channel);
}

/* rdma_event_str of every number. */
static void run_names(struct party *party, uint16_t base)
{
	static const int more[] = {-1, 20, 100, 0x7fffffff};

	(void)base;
	if (party->is_server)
		return;
	for (int i = 0; i < 20; i++)
		printf("    event %d: %s\n", i, rdma_event_str((enum rdma_cm_event_type)i));
	for (int i = 0; i < 4; i++)
		printf("    event %d: %s\n", more[i], rdma_event_str((enum rdma_cm_event_type)more[i]));
}

const struct scenario own_scenarios[] = {
	{"own_qp", "46", run_own_qp},
	{"devices", "4", run_devices},
	{"names", "4", run_names},
	{0},
};
