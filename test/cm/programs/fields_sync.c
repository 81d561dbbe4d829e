/* SPDX-License-Identifier: MIT */
/* Scenarios of fields: ids without a channel, rdma_getaddrinfo, rdma_create_ep. */
#include "fields.h"

#include <arpa/inet.h>
#include <unistd.h>

static const char *host_of(const struct party *party)
{
	return strncmp(party->address_text, "gid:", 4) ? party->address_text : party->address_text + 4;
}

/* Connects or serves on ids that make QPs and messages in the same way. */
static void serve(struct rdma_cm_id *listener, int make_qp)
{
	struct rdma_conn_param param = fields_param("answer", 3, 2);
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_cm_id *request = NULL;

	CALL(rdma_listen(listener, 3));
	SHOW(listener);
	meet("listening");
	CALL(rdma_get_request(listener, &request));
	SHOW(request);
	SHOW(listener);
	if (!request)
		return;
	if (make_qp) {
		CALL(rdma_create_qp(request, NULL, &qp));
		SHOW(request);
	}
	CALL(rdma_accept(request, &param));
	SHOW(request);
	meet("established");
	/* The client's comes first: both wait for the other's. */
	usleep(200000);
	CALL(rdma_disconnect(request));
	SHOW(request);
	meet("disconnected");
	dump_forget(request);
	VOID(rdma_destroy_ep(request));
}

static void connect_and_leave(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = fields_param("question", 4, 3);

	meet("listening");
	CALL(rdma_connect(id, &param));
	SHOW(id);
	meet("established");
	CALL(rdma_disconnect(id));
	SHOW(id);
	meet("disconnected");
	dump_forget(id);
	VOID(rdma_destroy_ep(id));
}

static void run_sync(struct party *party, uint16_t base)
{
	static int context;
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_cm_id *id, *listener;

	pointer_name(&context, "the context");
	if (party->is_server) {
		CALL(rdma_create_id(NULL, &listener, &context, RDMA_PS_TCP));
		pointer_name(listener->channel, "the id's own channel");
		SHOW(listener);
		CALL(rdma_bind_addr(listener, fields_address(party, RDMA_PS_TCP, base)));
		SHOW(listener);
		serve(listener, 1);
		fields_destroy(listener);
	} else {
		CALL(rdma_create_id(NULL, &id, &context, RDMA_PS_TCP));
		pointer_name(id->channel, "the id's own channel");
		SHOW(id);
		CALL(rdma_resolve_addr(id, NULL, fields_address(party, RDMA_PS_TCP, base), 2000));
		SHOW(id);
		CALL(rdma_resolve_route(id, 2000));
		SHOW(id);
		CALL(rdma_create_qp(id, NULL, &qp));
		SHOW(id);
		connect_and_leave(id);
	}
}

static void run_ep(struct party *party, uint16_t base)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *info;
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_cm_id *id, *listener;
	char service[8];

	snprintf(service, sizeof service, "%u", base);
	if (party->is_server) {
		hints.ai_flags = RAI_PASSIVE;
		CALL(rdma_getaddrinfo(host_of(party), service, &hints, &info));
		dump_addrinfo(info);
		CALL(rdma_create_ep(&listener, info, NULL, &qp));
		pointer_name(listener->channel, "the id's own channel");
		SHOW(listener);
		VOID(rdma_freeaddrinfo(info));
		serve(listener, 0);
		dump_forget(listener);
		VOID(rdma_destroy_ep(listener));
	} else {
		CALL(rdma_getaddrinfo(host_of(party), service, &hints, &info));
		dump_addrinfo(info);
		CALL(rdma_create_ep(&id, info, NULL, &qp));
		pointer_name(id->channel, "the id's own channel");
		SHOW(id);
		VOID(rdma_freeaddrinfo(info));
		connect_and_leave(id);
	}
}

/* An endpoint without QP attributes; refused as nobody listens. */
static void run_ep_refused(struct party *party, uint16_t base)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *info;
	struct rdma_conn_param param = fields_param("question", 4, 3);
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct rdma_cm_id *id;
	char service[8];

	if (party->is_server)
		return;
	snprintf(service, sizeof service, "%u", base);
	CALL(rdma_getaddrinfo(host_of(party), service, &hints, &info));
	CALL(rdma_create_ep(&id, info, NULL, NULL));
	pointer_name(id->channel, "the id's own channel");
	SHOW(id);
	CALL(rdma_create_qp(id, NULL, &qp));
	SHOW(id);
	CALL(rdma_connect(id, &param));
	SHOW(id);
	dump_forget(id);
	VOID(rdma_destroy_ep(id));
	VOID(rdma_freeaddrinfo(info));
}

/* The answers to many questions. */
static void run_addrinfo(struct party *party, uint16_t base)
{
	static const struct {
		const char *what;
		int flags, family, qp_type, port_space;
		int node, service, source;
	} questions[] = {
		{"no hints", -1, 0, 0, 0, 1, 1, 0},
		{"node only", 0, 0, 0, 0, 1, 0, 0},
		{"service only", 0, 0, 0, 0, 0, 1, 0},
		{"service only, passive", RAI_PASSIVE, 0, 0, 0, 0, 1, 0},
		{"nothing, passive", RAI_PASSIVE, 0, 0, 0, 0, 0, 0},
		{"passive", RAI_PASSIVE, 0, 0, 0, 1, 1, 0},
		{"TCP", 0, 0, 0, RDMA_PS_TCP, 1, 1, 0},
		{"UDP", 0, 0, 0, RDMA_PS_UDP, 1, 1, 0},
		{"IPOIB", 0, 0, 0, RDMA_PS_IPOIB, 1, 1, 0},
		{"IB", 0, 0, 0, RDMA_PS_IB, 1, 1, 0},
		{"UD", 0, 0, IBV_QPT_UD, 0, 1, 1, 0},
		{"RC", 0, 0, IBV_QPT_RC, 0, 1, 1, 0},
		{"UC", 0, 0, IBV_QPT_UC, 0, 1, 1, 0},
		{"XRC_SEND", 0, 0, IBV_QPT_XRC_SEND, 0, 1, 1, 0},
		{"XRC_RECV passive", RAI_PASSIVE, 0, IBV_QPT_XRC_RECV, 0, 1, 1, 0},
		{"RC with PS_UDP", 0, 0, IBV_QPT_RC, RDMA_PS_UDP, 1, 1, 0},
		{"numeric", RAI_NUMERICHOST, 0, 0, 0, 1, 1, 0},
		{"no route", RAI_NOROUTE, 0, 0, RDMA_PS_TCP, 1, 1, 0},
		{"family AF_INET", RAI_FAMILY, AF_INET, 0, RDMA_PS_TCP, 1, 1, 0},
		{"family AF_INET6", RAI_FAMILY, AF_INET6, 0, RDMA_PS_TCP, 1, 1, 0},
		{"family AF_IB", RAI_FAMILY, AF_IB, 0, RDMA_PS_TCP, 1, 1, 0},
		{"family AF_IB without port space", RAI_FAMILY, AF_IB, 0, 0, 1, 1, 0},
		{"family AF_IB, PS_IB", RAI_FAMILY, AF_IB, 0, RDMA_PS_IB, 1, 1, 0},
		{"family AF_IB passive", RAI_FAMILY | RAI_PASSIVE, AF_IB, 0, RDMA_PS_TCP, 1, 1, 0},
		{"family AF_IB passive, service only", RAI_FAMILY | RAI_PASSIVE, AF_IB, 0, RDMA_PS_TCP, 0, 1, 0},
		{"family AF_INET6 numeric", RAI_FAMILY | RAI_NUMERICHOST, AF_INET6, 0, RDMA_PS_TCP, 1, 1, 0},
		{"family without the flag", 0, AF_INET6, 0, RDMA_PS_TCP, 1, 1, 0},
		{"a source", 0, 0, 0, RDMA_PS_TCP, 1, 1, 1},
		{"a source and no node", 0, 0, 0, RDMA_PS_TCP, 0, 1, 1},
		{"unknown flags", 0x100, 0, 0, RDMA_PS_TCP, 1, 1, 0},
		{"unknown port space", 0, 0, 0, 0x7777, 1, 1, 0},
	};
	static const char *const words[][2] = {{"no-such-host.invalid", "7471"}, {"localhost", "7471"}, {"10.77.0.1", "no-such-service"},
		{"10.77.0.1", "http"}, {"10.77.0.1", "99999"}, {"", "7471"}, {"10.77.0.1", ""}};
	char service[8];

	if (party->is_server)
		return;
	snprintf(service, sizeof service, "%u", base);
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
		struct rdma_addrinfo hints = {0}, *info = NULL;
		const char *node = questions[i].node ? host_of(party) : NULL, *port = questions[i].service ? service : NULL;

		dump_step("addrinfo: %s", questions[i].what);
		hints.ai_flags = questions[i].flags;
		hints.ai_family = questions[i].family;
		hints.ai_qp_type = questions[i].qp_type;
		hints.ai_port_space = questions[i].port_space;
		if (questions[i].source) {
			hints.ai_src_addr = fields_address(party, RDMA_PS_TCP, (uint16_t)(base + 1));
			hints.ai_src_len = address_length(hints.ai_src_addr);
		}
		if (questions[i].flags < 0)
			CALL(rdma_getaddrinfo(node, port, NULL, &info));
		else
			CALL(rdma_getaddrinfo(node, port, &hints, &info));
		dump_addrinfo(info);
		if (info)
			rdma_freeaddrinfo(info);
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct rdma_addrinfo *info = NULL;

		dump_step("addrinfo: '%s', '%s'", words[i][0], words[i][1]);
		CALL(rdma_getaddrinfo(words[i][0], words[i][1], NULL, &info));
		dump_addrinfo(info);
		if (info)
			rdma_freeaddrinfo(info);
	}
}

/* A shared receive queue, and what each making of a QP puts into the id. */
static void run_make(struct party *party, uint16_t base)
{
	struct rdma_event_channel *channel;
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);
	struct ibv_qp_init_attr_ex qp_ex = {.qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 2, .max_send_sge = 1, .max_recv_wr = 2, .max_recv_sge = 1}};
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct rdma_cm_id *id;

	if (party->is_server)
		return;
	channel = fields_channel();
	CALL(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_bind_addr(id, fields_address(party, RDMA_PS_TCP, base)));
	SHOW(id);
	qp = fields_qp(IBV_QPT_RC);
	CALL(rdma_create_qp(id, NULL, &qp));
	SHOW(id);
	CALL(rdma_create_qp(id, NULL, &qp));
	VOID(rdma_destroy_qp(id));
	SHOW(id);
	dump_step("a shared receive queue");
	CALL(rdma_create_srq(id, NULL, &srq));
	SHOW(id);
	if (id->srq)
		printf("    srq_context %s pd %s\n", pointer_text(id->srq->srq_context).s, id->srq->pd == id->pd ? "the id's" : "other");
	qp = fields_qp(IBV_QPT_RC);
	CALL(rdma_create_qp(id, NULL, &qp));
	SHOW(id);
	VOID(rdma_destroy_qp(id));
	VOID(rdma_destroy_srq(id));
	SHOW(id);
	pd = ibv_alloc_pd(id->verbs);
	cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	pointer_name(pd, "the caller's pd");
	pointer_name(cq, "the caller's cq");
	dump_step("rdma_create_qp_ex");
	CALL(rdma_create_qp_ex(id, &qp_ex));
	SHOW(id);
	if (id->qp)
		VOID(rdma_destroy_qp(id));
	qp_ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp_ex.pd = pd;
	CALL(rdma_create_qp_ex(id, &qp_ex));
	SHOW(id);
	if (id->qp)
		VOID(rdma_destroy_qp(id));
	/* Last: afterwards a QP without a PD is on another one with stock. */
	dump_step("the caller's PD and CQ");
	qp = fields_qp(IBV_QPT_RC);
	qp.send_cq = cq;
	qp.recv_cq = cq;
	qp.sq_sig_all = 1;
	qp.qp_context = pd;
	CALL(rdma_create_qp(id, pd, &qp));
	SHOW(id);
	VOID(rdma_destroy_qp(id));
	SHOW(id);
	dump_step("the wrong kind");
	qp = fields_qp(IBV_QPT_UD);
	CALL(rdma_create_qp(id, NULL, &qp));
	SHOW(id);
	qp = fields_qp(IBV_QPT_RC);
	qp.cap.max_send_wr = 1000000;
	CALL(rdma_create_qp(id, NULL, &qp));
	SHOW(id);
	fields_destroy(id);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	fields_channel_end(channel);
}

const struct scenario sync_scenarios[] = {
	{"sync", "46", run_sync},
	{"ep", "46", run_ep},
	{"ep_refused", "4", run_ep_refused},
	{"addrinfo", "46", run_addrinfo},
	{"make", "4", run_make},
	{0},
};
