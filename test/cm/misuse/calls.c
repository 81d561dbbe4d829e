/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include "attempt.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static enum ibv_qp_type type_for(const struct scene *scene)
{
	return scene->setting.ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
}

static unsigned short some_port(struct scene *scene)
{
	return scene->listener ? ntohs(rdma_get_src_port(scene->listener)) : 7471;
}

struct sockaddr *call_group(void)
{
	static struct sockaddr_in in;

	memset(&in, 0, sizeof(in));
	in.sin_family = AF_INET;
	in.sin_addr.s_addr = htonl(0xefc00001);
	return (struct sockaddr *)&in;
}

static void bind_any(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_bind_addr(id, address_any()));
}

static void bind_device(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_bind_addr(id, address_ipv4(0)));
}

static void resolve_addr(struct scene *scene, struct rdma_cm_id *id)
{
	struct sockaddr *to = address_ipv4(some_port(scene));

	TRY(rdma_resolve_addr(id, NULL, to, 2000));
}

static void resolve_addr_source(struct scene *scene, struct rdma_cm_id *id)
{
	struct sockaddr *to = address_ipv4(some_port(scene));

	TRY(rdma_resolve_addr(id, address_ipv4(0), to, 2000));
}

static void resolve_route(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_resolve_route(id, 2000));
}

static void create_qp(struct scene *scene, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;

	good_qp_attr(&attr, type_for(scene));
	TRY(rdma_create_qp(id, NULL, &attr));
}

static void create_qp_ex(struct scene *scene, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr_ex attr;

	memset(&attr, 0, sizeof(attr));
	good_qp_attr((struct ibv_qp_init_attr *)&attr, type_for(scene));
	TRY(rdma_create_qp_ex(id, &attr));
}

static void destroy_qp(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY_VOID(rdma_destroy_qp(id));
}

static void create_srq(struct scene *scene, struct rdma_cm_id *id)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	(void)scene;
	TRY(rdma_create_srq(id, NULL, &attr));
}

static void create_srq_ex(struct scene *scene, struct rdma_cm_id *id)
{
	struct ibv_srq_init_attr_ex attr;

	(void)scene;
	memset(&attr, 0, sizeof(attr));
	attr.attr.max_wr = attr.attr.max_sge = 1;
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	attr.srq_type = IBV_SRQT_BASIC;
	TRY(rdma_create_srq_ex(id, &attr));
}

static void destroy_srq(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY_VOID(rdma_destroy_srq(id));
}

static void connect_to(struct scene *scene, struct rdma_cm_id *id)
{
	struct rdma_conn_param param;

	(void)scene;
	good_conn_param(&param);
	TRY(rdma_connect(id, &param));
}

static void establish(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_establish(id));
}

static void listen_on(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_listen(id, 8));
}

static void get_request(struct scene *scene, struct rdma_cm_id *id)
{
	struct rdma_cm_id *new_id;

	(void)scene;
	output_fill(&new_id, sizeof(new_id));
	TRY(rdma_get_request(id, &new_id));
	output_check(&new_id, sizeof(new_id));
}

static void accept_on(struct scene *scene, struct rdma_cm_id *id)
{
	struct rdma_conn_param param;

	(void)scene;
	good_conn_param(&param);
	TRY(rdma_accept(id, &param));
}

static void reject(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_reject(id, NULL, 0));
}

static void reject_ece(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_reject_ece(id, NULL, 0));
}

static void notify(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_notify(id, IBV_EVENT_COMM_EST));
}

static void disconnect(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_disconnect(id));
}

static void init_qp_attr(struct rdma_cm_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask;

	output_fill(&attr, sizeof(attr));
	output_fill(&mask, sizeof(mask));
	attr.qp_state = state;
	TRY(rdma_init_qp_attr(id, &attr, &mask));
	memset(&attr.qp_state, OUTPUT_PATTERN, sizeof(attr.qp_state));
	output_check(&attr, sizeof(attr));
	output_check(&mask, sizeof(mask));
}

static void init_qp_attr_init(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	init_qp_attr(id, IBV_QPS_INIT);
}

static void init_qp_attr_rtr(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	init_qp_attr(id, IBV_QPS_RTR);
}

static void init_qp_attr_rts(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	init_qp_attr(id, IBV_QPS_RTS);
}

static void option_tos(struct scene *scene, struct rdma_cm_id *id)
{
	uint8_t tos = 0x68;

	(void)scene;
	TRY(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
}

static void option_reuseaddr(struct scene *scene, struct rdma_cm_id *id)
{
	int on = 1;

	(void)scene;
	TRY(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)));
}

static void option_afonly(struct scene *scene, struct rdma_cm_id *id)
{
	int on = 1;

	(void)scene;
	TRY(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)));
}

static void option_ack_timeout(struct scene *scene, struct rdma_cm_id *id)
{
	uint8_t timeout = 14;

	(void)scene;
	TRY(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout)));
}

static void migrate(struct scene *scene, struct rdma_cm_id *id)
{
	struct rdma_event_channel *other = rdma_create_event_channel();

	(void)scene;
	MUST(other);
	TRY(rdma_migrate_id(id, other));
}

static void migrate_sync(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_migrate_id(id, NULL));
}

static void set_local_ece(struct scene *scene, struct rdma_cm_id *id)
{
	struct ibv_ece ece = { .vendor_id = 0x1234, .options = 1 };

	(void)scene;
	TRY(rdma_set_local_ece(id, &ece));
}

static void get_remote_ece(struct scene *scene, struct rdma_cm_id *id)
{
	struct ibv_ece ece;

	(void)scene;
	output_fill(&ece, sizeof(ece));
	TRY(rdma_get_remote_ece(id, &ece));
	output_check(&ece, sizeof(ece));
}

static void src_port(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	attempt_begin();
	unsigned long port = rdma_get_src_port(id);
	attempt_end_any(port);
}

static void dst_port(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	attempt_begin();
	unsigned long port = rdma_get_dst_port(id);
	attempt_end_any(port);
}

static void join(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_join_multicast(id, call_group(), NULL));
}

static void join_ex(struct scene *scene, struct rdma_cm_id *id)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
		.addr = call_group(),
	};

	(void)scene;
	TRY(rdma_join_multicast_ex(id, &attr, NULL));
}

static void leave(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_leave_multicast(id, call_group()));
}

static void destroy_id(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY(rdma_destroy_id(id));
}

static void destroy_ep(struct scene *scene, struct rdma_cm_id *id)
{
	(void)scene;
	TRY_VOID(rdma_destroy_ep(id));
}

#define IN(stage) { stage, RDMA_PS_TCP, false, false }
#define IN_QP(stage) { stage, RDMA_PS_TCP, true, false }
#define IN_SYNC(stage) { stage, RDMA_PS_TCP, false, true }
#define IN_UD(stage) { stage, RDMA_PS_UDP, true, false }

const struct call calls[] = {
	{ "rdma_bind_addr", "wildcard", IN(CREATED), bind_any },
	{ "rdma_bind_addr", "device", IN(CREATED), bind_device },
	{ "rdma_resolve_addr", "", IN(CREATED), resolve_addr },
	{ "rdma_resolve_addr", "with source", IN(CREATED), resolve_addr_source },
	{ "rdma_resolve_route", "", IN(ADDR), resolve_route },
	{ "rdma_create_qp", "", IN(ADDR), create_qp },
	{ "rdma_create_qp_ex", "", IN(ADDR), create_qp_ex },
	{ "rdma_destroy_qp", "", IN_QP(ADDR), destroy_qp },
	{ "rdma_create_srq", "", IN(ADDR), create_srq },
	{ "rdma_create_srq_ex", "", IN(ADDR), create_srq_ex },
	{ "rdma_destroy_srq", "", IN(ADDR), destroy_srq },
	{ "rdma_connect", "", IN_QP(ROUTE), connect_to },
	{ "rdma_establish", "", IN(RESPONSE), establish },
	{ "rdma_listen", "", IN(BOUND), listen_on },
	{ "rdma_get_request", "", IN_SYNC(LISTENING), get_request },
	{ "rdma_accept", "", IN_QP(REQUEST), accept_on },
	{ "rdma_reject", "", IN(REQUEST), reject },
	{ "rdma_reject_ece", "", IN(REQUEST), reject_ece },
	{ "rdma_notify", "COMM_EST", IN_QP(ACCEPTED), notify },
	{ "rdma_disconnect", "", IN_QP(ESTABLISHED), disconnect },
	{ "rdma_init_qp_attr", "INIT", IN(ADDR), init_qp_attr_init },
	{ "rdma_init_qp_attr", "RTR", IN(REQUEST), init_qp_attr_rtr },
	{ "rdma_init_qp_attr", "RTS", IN(REQUEST), init_qp_attr_rts },
	{ "rdma_set_option", "TOS", IN(CREATED), option_tos },
	{ "rdma_set_option", "REUSEADDR", IN(CREATED), option_reuseaddr },
	{ "rdma_set_option", "AFONLY", IN(CREATED), option_afonly },
	{ "rdma_set_option", "ACK_TIMEOUT", IN(CREATED), option_ack_timeout },
	{ "rdma_migrate_id", "to a channel", IN(ADDR), migrate },
	{ "rdma_migrate_id", "to sync", IN(ADDR), migrate_sync },
	{ "rdma_set_local_ece", "", IN(ADDR), set_local_ece },
	{ "rdma_get_remote_ece", "", IN(REQUEST), get_remote_ece },
	{ "rdma_get_src_port", "", IN(BOUND), src_port },
	{ "rdma_get_dst_port", "", IN(ADDR), dst_port },
	{ "rdma_join_multicast", "", IN_UD(BOUND), join },
	{ "rdma_join_multicast_ex", "", IN_UD(BOUND), join_ex },
	{ "rdma_leave_multicast", "", IN_UD(BOUND), leave },
	{ "rdma_destroy_id", "", IN(CREATED), destroy_id },
	{ "rdma_destroy_ep", "", IN(CREATED), destroy_ep },
};
const int calls_count = sizeof(calls) / sizeof(*calls);
