/* SPDX-License-Identifier: MIT */
/* Scenarios of fields: connections with channels and QPs made by librdmacm. */
#include "fields.h"

/* From the request to the end, on a listener that is set up. */
static void serve(struct rdma_event_channel *channel, const char *answer, uint8_t responder_resources, uint8_t initiator_depth)
{
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_conn_param param = fields_param(answer, responder_resources, initiator_depth);
	struct rdma_cm_id *request;

	meet("listening");
	request = EVENT(channel, request);
	if (!request)
		return;
	CALL(rdma_create_qp(request, NULL, &qp));
	SHOW(request);
	CALL(rdma_accept(request, answer ? &param : NULL));
	SETTLE(request);
	EVENT(channel, request);
	meet("established");
	EVENT(channel, request);
	CALL(rdma_disconnect(request));
	SETTLE(request);
	EVENT(channel, request);
	VOID(rdma_destroy_qp(request));
	SHOW(request);
	fields_destroy(request);
}

static void connect_and_leave(struct rdma_event_channel *channel, struct rdma_cm_id *id, const char *question)
{
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_conn_param param = fields_param(question, 4, 3);

	EVENT(channel, id);
	CALL(rdma_resolve_route(id, 2000));
	SETTLE(id);
	EVENT(channel, id);
	CALL(rdma_create_qp(id, NULL, &qp));
	SHOW(id);
	printf("    what create_qp wrote to the caller's attr: cap %u %u %u %u %u send_cq %s recv_cq %s\n", qp.cap.max_send_wr,
		qp.cap.max_recv_wr, qp.cap.max_send_sge, qp.cap.max_recv_sge, qp.cap.max_inline_data, pointer_text(qp.send_cq).s,
		pointer_text(qp.recv_cq).s);
	meet("listening");
	CALL(rdma_connect(id, question ? &param : NULL));
	EVENT(channel, id);
	meet("established");
	CALL(rdma_disconnect(id));
	SETTLE(id);
	EVENT(channel, id);
	EVENT(channel, id);
	VOID(rdma_destroy_qp(id));
	SHOW(id);
	fields_destroy(id);
}

static void run_rc(struct party *party, uint16_t base)
{
	static int context;
	struct rdma_event_channel *channel = fields_channel();
	struct rdma_cm_id *id, *listener;

	pointer_name(&context, "the context");
	if (party->is_server) {
		CALL(rdma_create_id(channel, &listener, &context, RDMA_PS_TCP));
		SHOW(listener);
		CALL(rdma_bind_addr(listener, fields_address(party, RDMA_PS_TCP, base)));
		SHOW(listener);
		CALL(rdma_listen(listener, 3));
		SHOW(listener);
		serve(channel, "answer", 3, 2);
		SHOW(listener);
		fields_destroy(listener);
	} else {
		CALL(rdma_create_id(channel, &id, &context, RDMA_PS_TCP));
		SHOW(id);
		CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_TCP, base), 2000));
		SETTLE(id);
		connect_and_leave(channel, id, "question");
	}
	fields_channel_end(channel);
}

/* Wildcard listener, bound client, no parameters at all. */
static void run_bound(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel = fields_channel();
	struct rdma_cm_id *id, *listener;

	if (party->is_server) {
		CALL(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
		CALL(rdma_bind_addr(listener, fields_wildcard(party, RDMA_PS_TCP, base)));
		SHOW(listener);
		CALL(rdma_listen(listener, 0));
		SHOW(listener);
		serve(channel, NULL, 0, 0);
		fields_destroy(listener);
	} else {
		CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
		CALL(rdma_bind_addr(id, fields_address(party, RDMA_PS_TCP, (uint16_t)(base + 1))));
		SHOW(id);
		CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_TCP, base), 2000));
		SETTLE(id);
		connect_and_leave(channel, id, NULL);
	}
	fields_channel_end(channel);
}

/* An acknowledgement timeout of more bits than a path record has for what comes of it. */
static void show_long_timeout(struct rdma_event_channel *channel, struct sockaddr *there)
{
	uint8_t ack_timeout = 40;
	struct rdma_cm_id *id;

	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack_timeout, sizeof ack_timeout));
	CALL(rdma_resolve_addr(id, NULL, there, 2000));
	SETTLE(id);
	EVENT(channel, id);
	CALL(rdma_resolve_route(id, 2000));
	SETTLE(id);
	EVENT(channel, id);
	CALL(rdma_destroy_id(id));
}

/* Ports that the kernel chooses; a source address given to resolve_addr; options, ECE. */
static void run_options(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel = fields_channel();
	struct ibv_ece ece = {.vendor_id = 0x1234, .options = 0x567890ab};
	struct sockaddr_storage source;
	uint8_t tos = 0x68, ack_timeout = 13;
	int on = 1;
	struct rdma_cm_id *id, *listener;

	if (party->is_server) {
		CALL(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
		CALL(rdma_set_option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof on));
		CALL(rdma_set_option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof on));
		CALL(rdma_bind_addr(listener, fields_wildcard(party, RDMA_PS_TCP, 0)));
		SHOW(listener);
		meet_number("port", ntohs(rdma_get_src_port(listener)));
		CALL(rdma_listen(listener, 3));
		SHOW(listener);
		serve(channel, "", 255, 255);
		fields_destroy(listener);
	} else {
		uint16_t port = (uint16_t)meet_number("port", 0);

		CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
		CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos));
		CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack_timeout, sizeof ack_timeout));
		CALL(rdma_set_local_ece(id, &ece));
		CALL(rdma_resolve_addr(id, party_address(party, RDMA_PS_TCP, (uint16_t)(base + 2), &source),
			fields_address(party, RDMA_PS_TCP, port), 2000));
		SETTLE(id);
		connect_and_leave(channel, id, "");
		show_long_timeout(channel, fields_address(party, RDMA_PS_TCP, port));
	}
	fields_channel_end(channel);
}

/* listen without bind: the kernel's wildcard and port. */
static void run_unbound(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;

	(void)base;
	if (!party->is_server)
		return;
	channel = fields_channel();
	CALL(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	CALL(rdma_listen(listener, 3));
	SHOW(listener);
	fields_destroy(listener);
	fields_channel_end(channel);
}

/* The client moves after the address is resolved, the server before it accepts. */
static void run_migrate(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel = fields_channel(), *other = fields_channel();
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_conn_param param = fields_param("moved", 1, 1);
	struct rdma_cm_id *id, *listener, *request;

	if (party->is_server) {
		listener = fields_listener(party, channel, base);
		meet("listening");
		request = EVENT(channel, request);
		CALL(rdma_migrate_id(request, other));
		SHOW(request);
		CALL(rdma_create_qp(request, NULL, &qp));
		CALL(rdma_accept(request, &param));
		SETTLE(request);
		EVENT(other, request);
		meet("established");
		EVENT(other, request);
		CALL(rdma_disconnect(request));
		VOID(rdma_destroy_qp(request));
		fields_destroy(request);
		CALL(rdma_migrate_id(listener, other));
		SHOW(listener);
		fields_destroy(listener);
	} else {
		CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
		CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_TCP, base), 2000));
		EVENT(channel, id);
		CALL(rdma_migrate_id(id, other));
		SHOW(id);
		CALL(rdma_resolve_route(id, 2000));
		SETTLE(id);
		EVENT(other, id);
		/* To no channel: the id is synchronous from now on. */
		CALL(rdma_migrate_id(id, NULL));
		SHOW(id);
		pointer_name(id->channel, "the id's own channel");
		CALL(rdma_create_qp(id, NULL, &qp));
		meet("listening");
		CALL(rdma_connect(id, &param));
		SETTLE(id);
		/* And back. */
		CALL(rdma_migrate_id(id, channel));
		SHOW(id);
		meet("established");
		CALL(rdma_disconnect(id));
		SETTLE(id);
		EVENT(channel, id);
		VOID(rdma_destroy_qp(id));
		fields_destroy(id);
	}
	fields_channel_end(channel);
	fields_channel_end(other);
}

const struct scenario rc_scenarios[] = {
	{"rc", "46", run_rc},
	{"bound", "46", run_bound},
	{"options", "46", run_options},
	{"unbound", "4", run_unbound},
	{"migrate", "4", run_migrate},
	{0},
};
