/* SPDX-License-Identifier: MIT */
/* Scenarios of fields: datagrams and multicast. */
#include "fields.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static void run_ud(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel = fields_channel();
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_UD);
	struct rdma_conn_param param = fields_param(party->is_server ? "answer" : "question", 0, 0);
	struct rdma_cm_id *id, *listener, *request;

	if (party->is_server) {
		CALL(rdma_create_id(channel, &listener, NULL, RDMA_PS_UDP));
		SHOW(listener);
		CALL(rdma_bind_addr(listener, fields_address(party, RDMA_PS_UDP, base)));
		SHOW(listener);
		CALL(rdma_listen(listener, 3));
		SHOW(listener);
		meet("listening");
		request = EVENT(channel, request);
		CALL(rdma_create_qp(request, NULL, &qp));
		SHOW(request);
		param.qp_num = request->qp->qp_num;
		CALL(rdma_accept(request, &param));
		SETTLE(request);
		meet("established");
		CALL(rdma_disconnect(request));
		VOID(rdma_destroy_qp(request));
		SHOW(request);
		fields_destroy(request);
		meet("rejection");
		request = EVENT(channel, request);
		CALL(rdma_reject(request, "no", 2));
		SHOW(request);
		fields_destroy(request);
		fields_destroy(listener);
		meet("refusal");
	} else {
		for (int i = 0; i < 3; i++) {
			CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
			CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_UDP, base), 2000));
			SETTLE(id);
			EVENT(channel, id);
			CALL(rdma_resolve_route(id, 2000));
			SETTLE(id);
			EVENT(channel, id);
			qp = fields_qp(IBV_QPT_UD);
			CALL(rdma_create_qp(id, NULL, &qp));
			SHOW(id);
			if (i == 0)
				meet("listening");
			else
				meet(i == 1 ? "rejection" : "refusal");
			CALL(rdma_connect(id, &param));
			SETTLE(id);
			EVENT(channel, id);
			if (i == 0) {
				meet("established");
				CALL(rdma_disconnect(id));
				SETTLE(id);
			}
			VOID(rdma_destroy_qp(id));
			fields_destroy(id);
		}
	}
	fields_channel_end(channel);
}

static void run_ud_ep(struct party *party, uint16_t base)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_UDP}, *info;
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_UD);
	struct rdma_conn_param param = fields_param("datagram", 0, 0);
	struct rdma_cm_id *id, *listener, *request;
	char service[8];

	snprintf(service, sizeof service, "%u", base);
	if (party->is_server) {
		hints.ai_flags = RAI_PASSIVE;
		CALL(rdma_getaddrinfo(party->address_text, service, &hints, &info));
		dump_addrinfo(info);
		CALL(rdma_create_ep(&listener, info, NULL, &qp));
		SHOW(listener);
		CALL(rdma_listen(listener, 3));
		SHOW(listener);
		meet("listening");
		CALL(rdma_get_request(listener, &request));
		SHOW(request);
		CALL(rdma_accept(request, &param));
		SETTLE(request);
		meet("established");
		dump_forget(request);
		VOID(rdma_destroy_ep(request));
		dump_forget(listener);
		VOID(rdma_destroy_ep(listener));
	} else {
		CALL(rdma_getaddrinfo(party->address_text, service, &hints, &info));
		dump_addrinfo(info);
		CALL(rdma_create_ep(&id, info, NULL, &qp));
		SHOW(id);
		meet("listening");
		CALL(rdma_connect(id, &param));
		SETTLE(id);
		meet("established");
		dump_forget(id);
		VOID(rdma_destroy_ep(id));
	}
	VOID(rdma_freeaddrinfo(info));
}

static struct sockaddr *group(struct party *party, struct sockaddr_storage *storage, int last)
{
	struct sockaddr_in *in = (struct sockaddr_in *)storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;
	char text[64];

	memset(storage, 0, sizeof *storage);
	if (party->address.ss_family == AF_INET) {
		in->sin_family = AF_INET;
		snprintf(text, sizeof text, "239.1.2.%d", last);
		inet_pton(AF_INET, text, &in->sin_addr);
	} else {
		in6->sin6_family = AF_INET6;
		snprintf(text, sizeof text, "ff0e::7:%d", last);
		inet_pton(AF_INET6, text, &in6->sin6_addr);
	}
	return (struct sockaddr *)storage;
}

static void run_multicast(struct party *party, uint16_t base)
{
	static int context;
	struct rdma_event_channel *channel;
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_UD);
	struct rdma_cm_join_mc_attr_ex ex = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
	};
	struct sockaddr_storage first, second;
	struct rdma_cm_id *id;

	if (party->is_server)
		return;
	channel = fields_channel();
	pointer_name(&context, "the join's context");
	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	CALL(rdma_join_multicast(id, group(party, &first, 1), &context));
	CALL(rdma_bind_addr(id, fields_address(party, RDMA_PS_UDP, base)));
	SHOW(id);
	/* As mckey does: the group is what is resolved. */
	CALL(rdma_resolve_addr(id, NULL, group(party, &first, 1), 2000));
	SETTLE(id);
	EVENT(channel, id);
	CALL(rdma_create_qp(id, NULL, &qp));
	SHOW(id);
	if (CALL(rdma_join_multicast(id, group(party, &first, 1), &context)) == 0)
		EVENT(channel, id);
	if (CALL(rdma_join_multicast(id, group(party, &first, 1), &context)) == 0)
		EVENT(channel, id);
	ex.addr = group(party, &second, 2);
	if (CALL(rdma_join_multicast_ex(id, &ex, &context)) == 0)
		EVENT(channel, id);
	CALL(rdma_leave_multicast(id, group(party, &first, 1)));
	CALL(rdma_leave_multicast(id, group(party, &first, 1)));
	CALL(rdma_leave_multicast(id, group(party, &first, 1)));
	CALL(rdma_leave_multicast(id, group(party, &first, 9)));
	if (CALL(rdma_join_multicast(id, group(party, &first, 1), NULL)) == 0)
		EVENT(channel, id);
	ex.comp_mask = 0;
	CALL(rdma_join_multicast_ex(id, &ex, &context));
	ex.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS;
	CALL(rdma_join_multicast_ex(id, &ex, &context));
	ex.comp_mask = RDMA_CM_JOIN_MC_ATTR_RESERVED * 2 - 1;
	CALL(rdma_join_multicast_ex(id, &ex, &context));
	ex.comp_mask = RDMA_CM_JOIN_MC_ATTR_RESERVED - 1;
	ex.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	CALL(rdma_join_multicast_ex(id, &ex, &context));
	VOID(rdma_destroy_qp(id));
	fields_destroy(id);
	fields_channel_end(channel);
}

/* Without a QP, and on an id without a channel. */
static void run_multicast_sync(struct party *party, uint16_t base)
{
	static int context;
	struct sockaddr_storage first, second;
	struct rdma_cm_id *id;

	if (party->is_server)
		return;
	pointer_name(&context, "the join's context");
	CALL(rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP));
	CALL(rdma_bind_addr(id, fields_address(party, RDMA_PS_UDP, base)));
	CALL(rdma_join_multicast(id, group(party, &first, 3), &context));
	SHOW(id);
	/* Lets go of the first one's event, for which leave would wait in vain. */
	CALL(rdma_join_multicast(id, group(party, &second, 4), &context));
	SHOW(id);
	CALL(rdma_leave_multicast(id, group(party, &first, 3)));
	SHOW(id);
	fields_destroy(id);
}

const struct scenario datagram_scenarios[] = {
	{"ud", "46", run_ud},
	{"ud_ep", "46", run_ud_ep},
	{"multicast", "46", run_multicast},
	{"multicast_sync", "4", run_multicast_sync},
	{0},
};
