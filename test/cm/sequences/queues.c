/* SPDX-License-Identifier: MIT */
/* Operations on queue pairs, their attributes, and endpoints. */
#define _GNU_SOURCE
#include "call.h"

#include <stdlib.h>
#include <string.h>

#include "../programs/dump.h"

/* Declared by <rdma/rdma_verbs.h>, whose inline functions are not for here. */
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
void rdma_destroy_srq(struct rdma_cm_id *id);
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/* What outputs are filled with before the call. */
enum { output_pattern = 0xa5 };
static const uint32_t output_word = 0xa5a5a5a5;

static enum ibv_qp_type type_named(const char *word)
{
	return !strcmp(word, "rc")	   ? IBV_QPT_RC
	       : !strcmp(word, "uc")	   ? IBV_QPT_UC
	       : !strcmp(word, "ud")	   ? IBV_QPT_UD
	       : !strcmp(word, "xrc_send") ? IBV_QPT_XRC_SEND
	       : !strcmp(word, "xrc_recv") ? IBV_QPT_XRC_RECV
					   : (enum ibv_qp_type)atoi(word);
}

/* --- queue pairs --------------------------------------------------------- */

/* create_qp ID TYPE SEND_WR RECV_WR: SEND_WR and RECV_WR 0 want no queue. */
static const char *prepare_create_qp(struct call *call)
{
	call->qp.qp_type = type_named(call->word[2]);
	call->qp.cap.max_send_wr = (uint32_t)strtoul(call->word[3], NULL, 0);
	call->qp.cap.max_recv_wr = (uint32_t)strtoul(call->word[4], NULL, 0);
	call->qp.cap.max_send_sge = call->qp.cap.max_recv_sge = 1;
	call->qp.sq_sig_all = 1;
	if ((!call->qp.cap.max_send_wr && !call->slot->id->send_cq) || (!call->qp.cap.max_recv_wr && !call->slot->id->recv_cq))
		return "avoided: no queue";
	return NULL;
}

static int make_create_qp(struct call *call)
{
	/* The wide structure begins as the narrow one does. */
	return rdma_create_qp(call->slot->id, call->word[5] ? call->slot->id->pd : NULL, (struct ibv_qp_init_attr *)&call->qp);
}

static int make_create_qp_ex(struct call *call)
{
	call->qp.comp_mask = IBV_QP_INIT_ATTR_PD;
	call->qp.pd = call->slot->id->pd;
	return rdma_create_qp_ex(call->slot->id, &call->qp);
}

static void after_create_qp(struct call *call)
{
	const struct ibv_qp_cap *cap = &call->qp.cap;

	/* Stock leaves queues there that are freed again; ours leaves it alone. */
	if (call->result)
		return;
	detail("cap %u %u %u %u %u send_cq %s recv_cq %s", cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge,
	       cap->max_recv_sge, cap->max_inline_data, pointer_text(call->qp.send_cq).s, pointer_text(call->qp.recv_cq).s);
}

static const char *prepare_destroy_qp(struct call *call)
{
	return call->slot->id->qp ? NULL : "avoided: no QP";
}

static int make_destroy_qp(struct call *call)
{
	rdma_destroy_qp(call->slot->id);
	return 0;
}

static int make_create_srq(struct call *call)
{
	call->srq.attr.max_wr = (uint32_t)atoi(call->word[2]);
	call->srq.attr.max_sge = 1;
	return rdma_create_srq(call->slot->id, NULL, &call->srq);
}

static void after_create_srq(struct call *call)
{
	if (!call->result)
		detail("attr %u %u %u", call->srq.attr.max_wr, call->srq.attr.max_sge, call->srq.attr.srq_limit);
}

static const char *prepare_destroy_srq(struct call *call)
{
	return call->slot->id->srq ? NULL : "avoided: no SRQ";
}

static int make_destroy_srq(struct call *call)
{
	rdma_destroy_srq(call->slot->id);
	return 0;
}

/* --- attributes ---------------------------------------------------------- */

static int make_init_attr(struct call *call)
{
	memset(&call->attr, output_pattern, sizeof(call->attr));
	memset(&call->mask, output_pattern, sizeof(call->mask));
	call->attr.qp_state = (enum ibv_qp_state)atoi(call->word[2]);
	return rdma_init_qp_attr(call->slot->id, &call->attr, &call->mask);
}

/* Field by field: between them are bytes that mean nothing. */
static void detail_ah(const char *name, const struct ibv_ah_attr *ah)
{
	detail("%s %s %#x %u %u %u dlid %u sl %u bits %u rate %u global %u port %u", name, gid_text(&ah->grh.dgid).s,
	       ah->grh.flow_label == output_word ? output_word : !!ah->grh.flow_label, ah->grh.sgid_index, ah->grh.hop_limit,
	       ah->grh.traffic_class, ah->dlid, ah->sl, ah->src_path_bits, ah->static_rate, ah->is_global, ah->port_num);
}

static void after_init_attr(struct call *call)
{
	const struct ibv_qp_attr *a = &call->attr;

	detail("state %d %d mask %#x mtu %d migration %d/%d qkey %#x rq_psn %s sq_psn %s dest %s access %#x", a->qp_state,
	       a->cur_qp_state, call->mask, a->path_mtu, a->path_mig_state, a->en_sqd_async_notify, a->qkey,
	       call->result ? "-" : symbol("psn", a->rq_psn).s, call->result ? "-" : symbol("psn", a->sq_psn).s,
	       call->result ? "-" : symbol("qpn", a->dest_qp_num).s, a->qp_access_flags);
	detail("pkey %u/%u draining %u rd_atomic %u/%u rnr_timer %u port %u/%u timeout %u/%u retry %u/%u rate_limit %#x",
	       a->pkey_index, a->alt_pkey_index, a->sq_draining, a->max_rd_atomic, a->max_dest_rd_atomic, a->min_rnr_timer,
	       a->port_num, a->alt_port_num, a->timeout, a->alt_timeout, a->retry_cnt, a->rnr_retry, a->rate_limit);
	detail("cap %s", bytes_text(&a->cap, sizeof(a->cap)).s);
	detail_ah("ah", &a->ah_attr);
	detail_ah("alt_ah", &a->alt_ah_attr);
}

/* --- endpoints ----------------------------------------------------------- */

/* ep ID active|passive ADDRESS rc|ud QP: QP 1 wants a queue pair as well. */
static const char *prepare_ep(struct call *call)
{
	struct slot *slot = slot_named(call->word[1]);
	enum rdma_port_space ps = strcmp(call->word[4], "ud") ? RDMA_PS_TCP : RDMA_PS_UDP;

	if (!slot || slot->id)
		return "taken";
	return address_read(call->word[3], ps, &call->address[0]) ? NULL : "no such address";
}

static int make_ep(struct call *call)
{
	struct sockaddr *address = (struct sockaddr *)&call->address[0];
	bool passive = !strcmp(call->word[2], "passive");
	struct rdma_addrinfo info = {
		.ai_flags = passive ? RAI_PASSIVE : 0,
		.ai_family = address->sa_family,
		.ai_qp_type = type_named(call->word[4]),
		.ai_port_space = strcmp(call->word[4], "ud") ? RDMA_PS_TCP : RDMA_PS_UDP,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	socklen_t length = address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);

	if (passive) {
		info.ai_src_addr = address;
		info.ai_src_len = length;
	} else {
		info.ai_dst_addr = address;
		info.ai_dst_len = length;
	}
	return rdma_create_ep(&call->made, &info, NULL, atoi(call->word[5]) ? &attr : NULL);
}

static void after_ep(struct call *call)
{
	struct slot *slot = slot_named(call->word[1]);

	if (call->result) {
		detail("output %s", pointer_text(call->made).s);
		return;
	}
	slot->id = call->made;
	slot->stage = strcmp(call->word[2], "passive") ? ROUTE_RESOLVED : BOUND;
	slot->sync = true;
	slot->held = 0;
	slot->may_fail = false;
	call->slot = slot;
}

/* request LISTENER ID: the request's id comes into the slot ID. */
static const char *prepare_request(struct call *call)
{
	if (!call->slot->sync)
		return NULL;
	/* Stock waits for what cannot come (`misuse` has that). */
	return call->slot->stage == LISTENING ? NULL : "avoided: not listening";
}

static int make_request(struct call *call)
{
	return rdma_get_request(call->slot->id, &call->made);
}

static void after_request(struct call *call)
{
	struct slot *slot = call->result ? NULL : slot_empty(call->word[2]);

	if (!slot) {
		detail("output %s", pointer_text(call->made).s);
		return;
	}
	slot->id = call->made;
	slot->stage = REQUESTED;
	slot->sync = true;
	slot->held = 0;
	slot->may_fail = false;
	dump_slot(slot);
}

/* clang-format off */
const struct operation qp_operations[] = {
	/* name           on        words prepare            make                after             waits  stirs */
	{ "create_qp",    ON_DEVICE, 4,    prepare_create_qp, make_create_qp,     after_create_qp,  false, false },
	{ "create_qp_ex", ON_DEVICE, 4,    prepare_create_qp, make_create_qp_ex,  after_create_qp,  false, false },
	{ "destroy_qp",   ON_ID,     1,    prepare_destroy_qp,              make_destroy_qp,    NULL,             false, false },
	{ "create_srq",   ON_DEVICE, 2,    NULL,              make_create_srq,    after_create_srq, false, false },
	{ "destroy_srq",  ON_ID,     1,    prepare_destroy_srq,              make_destroy_srq,   NULL,             false, false },
	{ "init_attr",    ON_ID,     2,    NULL,              make_init_attr,     after_init_attr,  false, false },
	{ "ep",           ON_WORLD,  5,    prepare_ep,        make_ep,            after_ep,         false, false },
	{ "request",      ON_ID,     2,    prepare_request,   make_request,       after_request,    true,  true },
	{ NULL,           ON_WORLD,  0,    NULL,              NULL,               NULL,             false, false },
};
/* clang-format on */
