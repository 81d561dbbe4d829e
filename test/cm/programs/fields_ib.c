/* SPDX-License-Identifier: MIT */
/* Scenarios of fields: RDMA_PS_IB, and addresses that are GIDs by rdma_getaddrinfo. */
#include "fields.h"

#include <endian.h>
#include <unistd.h>
#include <infiniband/sa.h>

/* QPs of each type: which the id takes is a matter of its own type too. */
static void try_types(struct rdma_cm_id *id)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct ibv_qp_init_attr qp = fields_qp(types[i]);

		if (CALL(rdma_create_qp(id, NULL, &qp)) == 0)
			VOID(rdma_destroy_qp(id));
		SHOW(id);
	}
}

/*
 * Endpoints of a QP type. Where the provider has not got that type (rxe has no XRC),
 * the connection is asked for with a number that is nobody's, and rejected: the ids,
 * the events and the kernel's attributes up to there are the same. Accepted, stock's
 * client would wait for ever, as it drops the response that it cannot move a QP by.
 */
static void run_kind(struct party *party, uint16_t base, enum rdma_port_space ps, enum ibv_qp_type client, enum ibv_qp_type server)
{
	struct rdma_addrinfo hints = {.ai_port_space = ps, .ai_flags = RAI_FAMILY | RAI_NUMERICHOST, .ai_family = AF_IB}, *info = NULL;
	struct rdma_conn_param param = fields_param(party->is_server ? "answer" : "question", 4, 3);
	enum ibv_qp_type type = party->is_server ? server : client;
	struct ibv_qp_init_attr qp = fields_qp(type);
	struct rdma_cm_id *id = NULL, *listener = NULL, *request = NULL;
	const char *host = party->address_text + (strncmp(party->address_text, "gid:", 4) ? 0 : 4);
	char service[8];
	int made;

	if (party->address.ss_family != AF_IB)
		hints.ai_flags = RAI_NUMERICHOST;
	snprintf(service, sizeof service, "%u", base);
	hints.ai_qp_type = (int)type;
	if (party->is_server)
		hints.ai_flags |= RAI_PASSIVE;
	param.qp_num = 0x123;
	CALL(rdma_getaddrinfo(host, service, &hints, &info));
	dump_addrinfo(info);
	if (!info)
		return;
	made = CALL(rdma_create_ep(party->is_server ? &listener : &id, info, NULL, NULL)) == 0;
	if (made && party->is_server) {
		SHOW(listener);
		made = CALL(rdma_listen(listener, 3)) == 0;
		SHOW(listener);
	} else if (made) {
		SHOW(id);
		try_types(id);
		CALL(rdma_create_qp(id, NULL, &qp));
		SHOW(id);
	}
	made &= (int)meet_number("ready", (uint64_t)made);
	if (made && party->is_server) {
		CALL(rdma_get_request(listener, &request));
		SHOW(request);
		try_types(request);
		if (CALL(rdma_create_qp(request, NULL, &qp))) {
			CALL(rdma_reject(request, "no", 2));
			meet("established");
			dump_forget(request);
			VOID(rdma_destroy_ep(request));
			goto end;
		}
		SHOW(request);
		CALL(rdma_accept(request, &param));
		SHOW(request);
		meet("established");
		usleep(200000);
		/* Of a datagram id no event comes, for which the call would wait for ever. */
		if (type != IBV_QPT_UD) {
			CALL(rdma_disconnect(request));
			SHOW(request);
		}
		id = request;
	} else if (made && !id->qp) {
		CALL(rdma_connect(id, &param));
		SHOW(id);
		meet("established");
	} else if (made) {
		CALL(rdma_connect(id, &param));
		SHOW(id);
		meet("established");
		if (type != IBV_QPT_UD) {
			CALL(rdma_disconnect(id));
			SHOW(id);
		}
	}
	if (id) {
		dump_forget(id);
		VOID(rdma_destroy_ep(id));
	}
end:
	if (listener) {
		dump_forget(listener);
		VOID(rdma_destroy_ep(listener));
	}
	VOID(rdma_freeaddrinfo(info));
}

static void run_ib_rc(struct party *party, uint16_t base) { run_kind(party, base, RDMA_PS_IB, IBV_QPT_RC, IBV_QPT_RC); }
static void run_ib_uc(struct party *party, uint16_t base) { run_kind(party, base, RDMA_PS_IB, IBV_QPT_UC, IBV_QPT_UC); }
static void run_ib_ud(struct party *party, uint16_t base) { run_kind(party, base, RDMA_PS_IB, IBV_QPT_UD, IBV_QPT_UD); }
static void run_ib_xrc(struct party *party, uint16_t base) { run_kind(party, base, RDMA_PS_IB, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV); }
static void run_tcp_xrc(struct party *party, uint16_t base) { run_kind(party, base, RDMA_PS_TCP, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV); }

/* Ids of PS_IB made by hand, with either family. */
static void run_ib_id(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	if (party->is_server)
		return;
	channel = fields_channel();
	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_IB));
	SHOW(id);
	CALL(rdma_bind_addr(id, fields_address(party, RDMA_PS_IB, base)));
	SHOW(id);
	CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_IB, (uint16_t)(base + 1)), 2000));
	SETTLE(id);
	EVENT(channel, id);
	CALL(rdma_resolve_route(id, 2000));
	SETTLE(id);
	EVENT(channel, id);
	fields_destroy(id);
	dump_step("RDMA_PS_IPOIB");
	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_IPOIB));
	SHOW(id);
	CALL(rdma_bind_addr(id, fields_address(party, RDMA_PS_IPOIB, base)));
	SHOW(id);
	fields_destroy(id);
	fields_channel_end(channel);
}

/*
 * Ids with GIDs for addresses. Over Ethernet no route is found between two GIDs, so
 * there is a path that the program brings along as well.
 */
static void run_ib_address(struct party *party, uint16_t base)
{
	static const enum rdma_port_space spaces[] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB};
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id, *listener;

	if (party->is_server)
		return;
	channel = fields_channel();
	for (int i = 0; i < 3; i++) {
		enum rdma_port_space ps = spaces[i];
		struct ibv_path_data path;

		dump_step("port space %#x", ps);
		CALL(rdma_create_id(channel, &listener, NULL, ps));
		CALL(rdma_bind_addr(listener, fields_address(party, ps, base)));
		SHOW(listener);
		CALL(rdma_listen(listener, 3));
		SHOW(listener);
		CALL(rdma_create_id(channel, &id, NULL, ps));
		CALL(rdma_bind_addr(id, fields_wildcard(party, ps, (uint16_t)(base + 1))));
		SHOW(id);
		fields_destroy(id);
		CALL(rdma_create_id(channel, &id, NULL, ps));
		CALL(rdma_bind_addr(id, fields_address(party, ps, (uint16_t)(base + 1))));
		SHOW(id);
		CALL(rdma_resolve_addr(id, NULL, fields_address(party, ps, base), 2000));
		SETTLE(id);
		EVENT(channel, id);
		CALL(rdma_resolve_route(id, 2000));
		memset(&path, 0, sizeof path);
		path.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
		path.path.dgid = id->route.addr.addr.ibaddr.dgid;
		path.path.sgid = id->route.addr.addr.ibaddr.sgid;
		path.path.pkey = htobe16(0xffff);
		path.path.reversible_numpath = 0x81;
		path.path.mtu = 0x80 | IBV_MTU_1024;
		path.path.rate = 0x80 | 3;
		path.path.packetlifetime = 0x80 | 14;
		CALL(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path));
		SETTLE(id);
		EVENT(channel, id);
		CALL(rdma_connect(id, NULL));
		SETTLE(id);
		fields_destroy(id);
		fields_destroy(listener);
	}
	fields_channel_end(channel);
}

const struct scenario ib_scenarios[] = {
	{"ib_address", "i", run_ib_address},
	{"ib_rc", "46i", run_ib_rc},
	{"ib_uc", "46i", run_ib_uc},
	{"ib_ud", "46i", run_ib_ud},
	{"ib_xrc", "46i", run_ib_xrc},
	{"tcp_xrc", "4", run_tcp_xrc},
	{"ib_id", "46i", run_ib_id},
	{0},
};
