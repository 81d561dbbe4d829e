/* SPDX-License-Identifier: MIT */
/*
 * pingpong -s|-c|--both -a ADDRESS [-p PORT] [VARIANT]...
 * pingpong ... --custom [--sync] [--own-qp] [--migrate] [--private N] [--server-leaves] [--timewait] [--options] [--ece] [--rounds N]
 *
 * Messages to and fro over a reliable connection, made in each way that people make
 * one. Without words all variants are run, each on a port of its own.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "endpoint.h"
#include "events.h"
#include "pingpong.h"

enum { most_of_connect = 56, most_of_accept = 196, tos = 0x68, ack_timeout = 13 };
static const struct ibv_ece client_ece = {.vendor_id = 0x345678, .options = 0x89abcdef}, server_ece = {.vendor_id = 0x15b3, .options = 7};

static const struct variant variants[] = {
	{.name = "plain", .private_bytes = -1},
	{.name = "sync", .private_bytes = 1, .sync = 1},
	{.name = "private-0", .private_bytes = 0},
	{.name = "private-1", .private_bytes = 1},
	{.name = "private-most", .private_bytes = 255},
	{.name = "sync-private-most", .private_bytes = 255, .sync = 1},
	{.name = "server-leaves", .private_bytes = 1, .server_leaves = 1},
	{.name = "timewait", .private_bytes = 1, .timewait = 1},
	{.name = "migrate", .private_bytes = 1, .migrate = 1},
	{.name = "own-qp", .private_bytes = 1, .own_qp = 1},
	{.name = "options", .private_bytes = 1, .options = 1},
	{.name = "ece", .private_bytes = 1, .own_qp = 1, .ece = 1},
};

static size_t private_length(const struct variant *v, int of_server)
{
	size_t most = of_server ? most_of_accept : most_of_connect;

	return v->private_bytes < 0 ? 0 : (size_t)v->private_bytes > most ? most : (size_t)v->private_bytes;
}

static struct rdma_conn_param parameters(const struct variant *v, int of_server)
{
	static unsigned char data[256];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = (uint8_t)private_length(v, of_server),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
	};

	private_fill(data, param.private_data_len, of_server);
	if (!param.private_data_len)
		param.private_data = NULL;
	return param;
}

static void check_private(const struct variant *v, const struct rdma_conn_param *param, int of_server)
{
	size_t sent = private_length(v, of_server), reported = of_server ? most_of_accept : most_of_connect;

	check(private_came(param->private_data, param->private_data_len, sent, reported, of_server), "the other side's private data",
		"%d bytes were reported for %zu", param->private_data_len, sent);
}

static void check_ece(struct rdma_cm_id *id, const struct ibv_ece *wanted)
{
	struct ibv_ece ece = {0};

	MUST(rdma_get_remote_ece(id, &ece));
	check(ece.vendor_id == wanted->vendor_id && ece.options == wanted->options, "the other side's ECE", "%#x/%#x for %#x/%#x", ece.vendor_id,
		ece.options, wanted->vendor_id, wanted->options);
}

/* What the options of the client's id do to the attributes of both sides. */
static void check_options(struct rdma_cm_id *id, int of_server)
{
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR}, rts = {.qp_state = IBV_QPS_RTS};
	struct ibv_device_attr device;
	int mask, life = ack_timeout - 1, wanted = ack_timeout, delay;

	MUST(rdma_init_qp_attr(id, &rtr, &mask));
	MUST(rdma_init_qp_attr(id, &rts, &mask));
	MUST(ibv_query_device(id->verbs, &device));
	check(rtr.ah_attr.grh.traffic_class == tos, "TOS is the traffic class", "%#x", rtr.ah_attr.grh.traffic_class);
	if (of_server) {
		/* The wire carries the packet lifetime, to which the device's delay is added. */
		delay = device.local_ca_ack_delay;
		wanted = life + 1 >= delay ? life + 1 + (delay >= life) : delay + (life + 1 >= delay - 1);
	}
	check(rts.timeout == wanted, "ACK_TIMEOUT is the QP's timeout", "%d for %d", rts.timeout, wanted);
}

/* --- messages ------------------------------------------------------------ */

static void play(struct endpoint *end, const struct variant *v, int server)
{
	const unsigned rounds = v->rounds ? (unsigned)v->rounds : 20;
	unsigned right = 0;
	struct ibv_wc wc;

	for (unsigned i = 0; i < rounds; i++) {
		if (!server && !endpoint_send(end, 2 * i))
			break;
		if (!endpoint_receive(end, 2 * i + (server ? 0 : 1), &wc, 10000))
			break;
		right++;
		endpoint_post_receive(end);
		if (server && !endpoint_send(end, 2 * i + 1))
			break;
	}
	check(right == rounds, "messages come whole and in order", "%u of %u", right, rounds);
}

/* --- with an event channel ----------------------------------------------- */

static void leave(struct rdma_event_channel *channel, struct endpoint *end, const struct variant *v, int first)
{
	meet("played");
	if (first) {
		MUST(rdma_disconnect(end->id));
		check(expect_ack(channel, RDMA_CM_EVENT_DISCONNECTED, 20000) == 0, "DISCONNECTED comes to the one that left", "its status is not 0");
	} else {
		check(expect_ack(channel, RDMA_CM_EVENT_DISCONNECTED, 20000) == 0, "DISCONNECTED comes to the one that was left",
			"its status is not 0");
		MUST(rdma_disconnect(end->id));
	}
	if (v->timewait)
		check(expect_ack(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, 20000) == 0, "TIMEWAIT_EXIT comes", "its status is not 0");
	endpoint_end(end);
	MUST(rdma_destroy_id(end->id));
}

static void serve(struct party *party, const struct variant *v, uint16_t port)
{
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel()), *second = NULL;
	struct rdma_cm_id *listener = answer_at(channel, party, RDMA_PS_TCP, port, 4);
	struct rdma_conn_param param = parameters(v, 1);
	struct endpoint end = {0};
	struct rdma_cm_event *event;

	if (v->options)
		check_sharing(channel, party, (uint16_t)(port + 1));
	meet("listening");
	event = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, 20000);
	end.id = event->id;
	check(event->listen_id == listener && event->status == 0, "the request names its listener", "it does not");
	check_private(v, &event->param.conn, 0);
	MUST(rdma_ack_cm_event(event));
	if (v->ece) {
		check_ece(end.id, &client_ece);
		struct ibv_ece ece = server_ece;
		MUST(rdma_set_local_ece(end.id, &ece));
	}
	if (v->migrate) {
		second = HAVE(rdma_create_event_channel());
		MUST(rdma_migrate_id(end.id, second));
		check(end.id->channel == second, "the id is on the second channel", "it is not");
	}
	endpoint_qp(&end, IBV_QPT_RC, v->own_qp);
	endpoint_memory(&end);
	if (v->own_qp) {
		endpoint_move(&end, IBV_QPS_RTR);
		endpoint_move(&end, IBV_QPS_RTS);
		param.qp_num = end.qp->qp_num;
	}
	if (v->options)
		check_options(end.id, 1);
	MUST(rdma_accept(end.id, &param));
	check(expect_ack(second ? second : channel, RDMA_CM_EVENT_ESTABLISHED, 20000) == 0, "ESTABLISHED comes", "its status is not 0");
	play(&end, v, 1);
	leave(second ? second : channel, &end, v, v->server_leaves);
	if (second) {
		check(!event_next(channel, 200) && errno == ETIME, "no event comes on the channel that was left", "one came");
		rdma_destroy_event_channel(second);
	}
	MUST(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

static void call(struct party *party, const struct variant *v, uint16_t port)
{
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel()), *second = NULL;
	struct rdma_conn_param param = parameters(v, 0), too_long = param;
	struct sockaddr_storage storage;
	struct endpoint end = {0};
	struct rdma_cm_event *event;
	uint8_t type_of_service = tos, timeout = ack_timeout;
	unsigned char much[200];

	MUST(rdma_create_id(channel, &end.id, &end, RDMA_PS_TCP));
	if (v->options) {
		MUST(rdma_set_option(end.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &type_of_service, sizeof type_of_service));
		MUST(rdma_set_option(end.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout));
	}
	MUST(rdma_resolve_addr(end.id, NULL, party_address(party, RDMA_PS_TCP, port, &storage), 5000));
	expect_ack(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 10000);
	if (v->migrate) {
		second = HAVE(rdma_create_event_channel());
		MUST(rdma_migrate_id(end.id, second));
		check(end.id->channel == second, "the id is on the second channel", "it is not");
	}
	MUST(rdma_resolve_route(end.id, 5000));
	event = expect(second ? second : channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 10000);
	check(event->id == end.id && event->id->context == &end, "events name the id, the id its context", "they do not");
	MUST(rdma_ack_cm_event(event));
	endpoint_qp(&end, IBV_QPT_RC, v->own_qp);
	endpoint_memory(&end);
	if (v->own_qp)
		param.qp_num = end.qp->qp_num;
	if (v->ece) {
		struct ibv_ece ece = client_ece;
		MUST(rdma_set_local_ece(end.id, &ece));
	}
	meet("listening");
	if (v->private_bytes > most_of_connect) {
		memset(much, 1, sizeof much);
		too_long.private_data = much;
		too_long.private_data_len = most_of_connect + 1;
		check(rdma_connect(end.id, &too_long) == -1 && errno == EINVAL, "a byte more than the most is EINVAL", "it is not");
	}
	MUST(rdma_connect(end.id, &param));
	event = expect(second ? second : channel, v->own_qp ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_ESTABLISHED, 20000);
	check_private(v, &event->param.conn, 1);
	check(event->param.conn.responder_resources == 1 && event->param.conn.initiator_depth == 1, "the depths are the other's", "%d and %d",
		event->param.conn.responder_resources, event->param.conn.initiator_depth);
	MUST(rdma_ack_cm_event(event));
	/* Options mean something within a vendor's only, so the answer has the asker's vendor. */
	if (v->ece)
		check_ece(end.id, &(struct ibv_ece){.vendor_id = client_ece.vendor_id, .options = server_ece.options});
	if (v->own_qp) {
		endpoint_move(&end, IBV_QPS_INIT);
		endpoint_move(&end, IBV_QPS_RTR);
		endpoint_move(&end, IBV_QPS_RTS);
		MUST(rdma_establish(end.id));
	}
	if (v->options)
		check_options(end.id, 0);
	play(&end, v, 0);
	leave(second ? second : channel, &end, v, !v->server_leaves);
	if (second)
		rdma_destroy_event_channel(second);
	rdma_destroy_event_channel(channel);
}

/* --- all variants -------------------------------------------------------- */

static void run_variant(struct party *party, const struct variant *v, uint16_t port)
{
	check_prefix("pingpong: %s, %s, %s: ", v->name, party->address_text, party->name);
	meet(v->name);
	if (v->sync)
		pingpong_sync(party, v, port, parameters, check_private, play);
	else if (party->is_server)
		serve(party, v, port);
	else
		call(party, v, port);
	meet("over");
}

static int run(struct party *party)
{
	struct variant custom = {.name = "custom", .private_bytes = (int)option_number("private", -1), .sync = option_given("sync"),
		.own_qp = option_given("own-qp"), .migrate = option_given("migrate"), .server_leaves = option_given("server-leaves"),
		.timewait = option_given("timewait"), .options = option_given("options"), .ece = option_given("ece"),
		.rounds = option_number("rounds", 0)};
	uint16_t port = (uint16_t)(party->port + 2);

	if (option_given("custom")) {
		run_variant(party, &custom, party->port);
		return check_status();
	}
	for (size_t i = 0; i < sizeof variants / sizeof *variants; i++, port = (uint16_t)(port + 2)) {
		int wanted = !party->argc;

		for (int word = 0; word < party->argc; word++)
			wanted |= !strcmp(party->argv[word], variants[i].name);
		if (wanted)
			run_variant(party, &variants[i], port);
	}
	return check_status();
}

int main(int argc, char **argv)
{
	return party_run(argc, argv, "custom sync own-qp migrate private: server-leaves timewait options ece rounds:", run);
}
