/* SPDX-License-Identifier: MIT */
/* Operations on connections: from rdma_listen() to rdma_disconnect(). */
#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two processes must not use the same: the kernel knows connections by it. */
static uint32_t unused_qp_num(void)
{
	static uint32_t turn;

	return 0x800000 | ((world.port_base * 16U + turn++ % 1600) & 0x7fffff);
}

/* null, or RESPONDER/INITIATOR/RETRY/RNR/LENGTH. */
static const char *prepare_param(struct call *call)
{
	unsigned responder, initiator, retry, rnr, length;

	if (!strcmp(call->word[2], "null"))
		return NULL;
	if (sscanf(call->word[2], "%u/%u/%u/%u/%u", &responder, &initiator, &retry, &rnr, &length) != 5)
		return "no such parameters";
	for (size_t i = 0; i < sizeof(call->data); i++)
		call->data[i] = (unsigned char)(i + call->word[0][0]);
	call->param.private_data = length ? call->data : NULL;
	call->param.private_data_len = (uint8_t)length;
	call->param.responder_resources = (uint8_t)responder;
	call->param.initiator_depth = (uint8_t)initiator;
	call->param.retry_count = (uint8_t)retry;
	call->param.rnr_retry_count = (uint8_t)rnr;
	call->param.flow_control = 1;
	call->param.qp_num = unused_qp_num();
	return NULL;
}

static struct rdma_conn_param *param_of(struct call *call)
{
	return strcmp(call->word[2], "null") ? &call->param : NULL;
}

static int make_listen(struct call *call)
{
	return rdma_listen(call->slot->id, atoi(call->word[2]));
}

static void after_listen(struct call *call)
{
	if (!call->result)
		call->slot->stage = LISTENING;
}

static int make_connect(struct call *call)
{
	return rdma_connect(call->slot->id, param_of(call));
}

static void after_connect(struct call *call)
{
	struct slot *slot = call->slot;

	if (slot->sync && slot->stage == CONNECTING)
		slot->stage = call->result ? ENDED : slot->id->qp ? ESTABLISHED : RESPONDED;
	else if (!call->result)
		slot->stage = CONNECTING;
}

static const char *prepare_connect(struct call *call)
{
	const char *bad = prepare_param(call);

	if (!bad && call->slot->sync && call->slot->stage == ROUTE_RESOLVED)
		call->slot->stage = CONNECTING;
	return bad;
}

/* An answer that is one too many, too early or too long is refused by the kernel, and the
 * peer with it; or rdma_destroy_id() sleeps for a minute (docs/kernel-traps.md, 5 and 6). */
static bool waits_for_peer(const struct slot *slot)
{
	return slot->stage == CONNECTING || slot->stage == ACCEPTED;
}

static const char *prepare_accept(struct call *call)
{
	const struct slot *slot = call->slot;
	const char *bad = prepare_param(call);

	if (bad)
		return bad;
	/* Stock crashes (`misuse` has that). */
	if (!strcmp(call->word[2], "null") && !slot->id->qp)
		return "avoided: no QP";
	if (slot->stage >= CONNECTING && slot->stage != REQUESTED)
		return "avoided: row 5";
	if (call->param.private_data_len > (is_datagram(slot->id) ? 136 : 196))
		return "avoided: row 5";
	return NULL;
}

static int make_accept(struct call *call)
{
	return rdma_accept(call->slot->id, param_of(call));
}

static void after_accept(struct call *call)
{
	struct slot *slot = call->slot;

	if (slot->stage != REQUESTED)
		return;
	if (!call->result)
		slot->stage = slot->sync || is_datagram(slot->id) ? ESTABLISHED : ACCEPTED;
	else
		slot->stage = ENDED;
}

static const char *prepare_reject(struct call *call)
{
	if (waits_for_peer(call->slot))
		return "avoided: row 6";
	call->param.private_data_len = (uint8_t)atoi(call->word[2]);
	memset(call->data, 0x5a, sizeof(call->data));
	return NULL;
}

static int make_reject(struct call *call)
{
	return rdma_reject(call->slot->id, call->param.private_data_len ? call->data : NULL, call->param.private_data_len);
}

static int make_reject_ece(struct call *call)
{
	return rdma_reject_ece(call->slot->id, call->param.private_data_len ? call->data : NULL,
			       call->param.private_data_len);
}

static void after_reject(struct call *call)
{
	struct slot *slot = call->slot;

	if (!call->result && (slot->stage == REQUESTED || slot->stage == RESPONDED))
		slot->stage = ENDED;
}

static const char *prepare_establish(struct call *call)
{
	return waits_for_peer(call->slot) || call->slot->stage == REQUESTED ? "avoided: row 6" : NULL;
}

static int make_establish(struct call *call)
{
	return rdma_establish(call->slot->id);
}

static void after_establish(struct call *call)
{
	if (call->slot->stage == RESPONDED)
		call->slot->stage = call->result ? ENDED : ESTABLISHED;
}

static const char *prepare_disconnect(struct call *call)
{
	const struct slot *slot = call->slot;

	if (slot->sync && !is_datagram(slot->id) && slot->stage != ESTABLISHED)
		return "avoided: row 17";
	return NULL;
}

static int make_disconnect(struct call *call)
{
	return rdma_disconnect(call->slot->id);
}

static void after_disconnect(struct call *call)
{
	if (!call->result && call->slot->sync)
		call->slot->stage = DISCONNECTED;
}

static const char *prepare_notify(struct call *call)
{
	return atoi(call->word[2]) == IBV_EVENT_PATH_MIG ? "avoided: row 4" : NULL;
}

static int make_notify(struct call *call)
{
	return rdma_notify(call->slot->id, (enum ibv_event_type)atoi(call->word[2]));
}

/* clang-format off */
const struct operation connection_operations[] = {
	/* name            on        words prepare               make                after                waits  stirs */
	{ "listen",        ON_ID,     2,    NULL,                 make_listen,        after_listen,        false, false },
	{ "connect",       ON_DEVICE, 2,    prepare_connect,      make_connect,       after_connect,       true,  true },
	{ "accept",        ON_DEVICE, 2,    prepare_accept,       make_accept,        after_accept,        true,  true },
	{ "reject",        ON_ID,     2,    prepare_reject,       make_reject,        after_reject,        false, true },
	{ "reject_ece",    ON_ID,     2,    prepare_reject,       make_reject_ece,    after_reject,        false, true },
	{ "establish",     ON_ID,     1,    prepare_establish,    make_establish,     after_establish,     false, true },
	{ "disconnect",    ON_ID,     1,    prepare_disconnect,   make_disconnect,    after_disconnect,    true,  true },
	{ "notify",        ON_ID,     2,    prepare_notify,       make_notify,        NULL,                false, true },
	{ NULL,            ON_WORLD,  0,    NULL,                 NULL,               NULL,                false, false },
};
/* clang-format on */
