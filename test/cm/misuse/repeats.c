/* SPDX-License-Identifier: MIT */
/* Two calls in a row of which the second is too much: the same one again, or
 * one that does not go with the first; and what becomes of the connection. */
#include "attempt.h"
#include "case.h"
#include "calls.h"
#include "scene.h"

#include <string.h>

enum step {
	NO_STEP,
	BIND,
	RESOLVE,
	RESOLVE_NOBODY,
	ROUTE_IT,
	MAKE_QP,
	DROP_QP,
	MAKE_SRQ,
	DROP_SRQ,
	MAKE_AND_DROP_SRQ,
	LISTEN,
	CONNECT,
	ESTABLISH,
	ACCEPT,
	REJECT,
	DISCONNECT,
	JOIN,
	LEAVE,
	ECE,
	DESTROY,
	DESTROY_EP,
};

static int step(struct scene *scene, enum step step)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_ece ece = { .vendor_id = 1, .options = 2 };
	struct rdma_cm_id *id = scene->id;
	struct ibv_qp_init_attr attr;
	struct rdma_conn_param param;
	struct sockaddr_in group;

	memset(&group, 0, sizeof(group));
	group.sin_family = AF_INET;
	group.sin_addr.s_addr = htonl(0xefc00002);
	good_conn_param(&param);
	good_qp_attr(&attr, scene->setting.ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC);
	switch (step) {
	case BIND:
		return rdma_bind_addr(id, address_ipv4(0));
	case RESOLVE:
		return rdma_resolve_addr(id, NULL, address_ipv4(7471), 2000);
	case RESOLVE_NOBODY: /* its ADDR_ERROR stays unread */
		MUST(!rdma_resolve_addr(id, NULL, address_nobody(), 300));
		scene_await(scene->channel);
		return 0;
	case ROUTE_IT:
		return rdma_resolve_route(id, 2000);
	case MAKE_QP:
		return rdma_create_qp(id, NULL, &attr);
	case DROP_QP:
		rdma_destroy_qp(id);
		return 0;
	case MAKE_SRQ:
		return rdma_create_srq(id, NULL, &srq);
	case DROP_SRQ:
		rdma_destroy_srq(id);
		return 0;
	case MAKE_AND_DROP_SRQ:
		MUST(!rdma_create_srq(id, NULL, &srq));
		rdma_destroy_srq(id);
		return 0;
	case LISTEN:
		return rdma_listen(id, 8);
	case CONNECT:
		return rdma_connect(id, &param);
	case ESTABLISH:
		return rdma_establish(id);
	case ACCEPT:
		return rdma_accept(id, &param);
	case REJECT:
		return rdma_reject(id, NULL, 0);
	case DISCONNECT:
		return rdma_disconnect(id);
	case JOIN:
		return rdma_join_multicast(id, (struct sockaddr *)&group, NULL);
	case LEAVE:
		return rdma_leave_multicast(id, (struct sockaddr *)&group);
	case ECE:
		return rdma_set_local_ece(id, &ece);
	case DESTROY:
		return rdma_destroy_id(id);
	case DESTROY_EP:
		rdma_destroy_ep(id);
		return 0;
	default:
		return 0;
	}
}

/* What the first step has to do. */
enum first_result { FAILS, WORKS, EITHER };

struct repeat {
	const char *function, *name;
	struct setting from;
	enum step first, second;
	enum first_result works;
	enum mark mark;
	/* The other side's events are looked at. */
	bool peer;
	bool nothing_returned;
};

#define RC(stage) { stage, RDMA_PS_TCP, false, false }
#define RC_QP(stage) { stage, RDMA_PS_TCP, true, false }
#define RC_SYNC(stage) { stage, RDMA_PS_TCP, false, true }
#define UD_QP(stage) { stage, RDMA_PS_UDP, true, false }

static const struct repeat repeats[] = {
	{ "rdma_bind_addr", "twice", RC(CREATED), BIND, BIND, WORKS, MARK_NONE, false, false },
	{ "rdma_bind_addr", "while resolving", RC(CREATED), RESOLVE, BIND, WORKS, MARK_NONE, false, false },
	{ "rdma_resolve_addr", "twice", RC(CREATED), RESOLVE, RESOLVE, WORKS, MARK_NONE, false, false },
	{ "rdma_resolve_addr", "again, ADDR_ERROR unread", RC(CREATED), RESOLVE_NOBODY, RESOLVE, WORKS, MARK_NONE, false, false },
	{ "rdma_resolve_addr", "sync, twice", RC_SYNC(CREATED), RESOLVE, RESOLVE, WORKS, MARK_NONE, false, false },
	{ "rdma_resolve_route", "twice", RC(ADDR), ROUTE_IT, ROUTE_IT, WORKS, MARK_NONE, false, false },
	{ "rdma_resolve_route", "sync, twice", RC_SYNC(ADDR), ROUTE_IT, ROUTE_IT, WORKS, MARK_NONE, false, false },
	{ "rdma_create_qp", "twice", RC(ADDR), MAKE_QP, MAKE_QP, WORKS, MARK_NONE, false, false },
	{ "rdma_create_qp", "again after rdma_destroy_qp", RC_QP(ADDR), DROP_QP, MAKE_QP, WORKS, MARK_NONE, false, false },
	{ "rdma_destroy_qp", "twice", RC_QP(ADDR), DROP_QP, DROP_QP, WORKS, MARK_NONE, false, true },
	{ "rdma_create_srq", "twice", RC(ADDR), MAKE_SRQ, MAKE_SRQ, WORKS, MARK_NONE, false, false },
	{ "rdma_destroy_srq", "twice", RC(ADDR), MAKE_AND_DROP_SRQ, DROP_SRQ, WORKS, MARK_NONE, false, true },
	{ "rdma_destroy_srq", "after rdma_create_srq", RC(ADDR), MAKE_SRQ, DROP_SRQ, WORKS, MARK_NONE, false, true },
	{ "rdma_listen", "twice", RC(BOUND), LISTEN, LISTEN, WORKS, MARK_NONE, false, false },
	{ "rdma_listen", "sync, twice", RC_SYNC(BOUND), LISTEN, LISTEN, WORKS, MARK_NONE, false, false },
	{ "rdma_connect", "twice", RC(ROUTE), CONNECT, CONNECT, WORKS, MARK_NONE, true, false },
	{ "rdma_connect", "twice, with qp", RC_QP(ROUTE), CONNECT, CONNECT, WORKS, MARK_NONE, true, false },
	{ "rdma_connect", "UD, twice, with qp", UD_QP(ROUTE), CONNECT, CONNECT, WORKS, MARK_NONE, true, false },
	{ "rdma_establish", "twice", RC(RESPONSE), ESTABLISH, ESTABLISH, WORKS, MARK_NONE, true, false },
	{ "rdma_establish", "after rdma_reject", RC(RESPONSE), REJECT, ESTABLISH, WORKS, MARK_NONE, true, false },
	{ "rdma_establish", "too early, then rdma_accept", RC(CONNECTING), ESTABLISH, ACCEPT, EITHER, MARK_NONE, true, false },
	{ "rdma_accept", "twice", RC(REQUEST), ACCEPT, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "twice, with qp", RC_QP(REQUEST), ACCEPT, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "UD, twice, with qp", UD_QP(REQUEST), ACCEPT, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "after rdma_reject", RC(REQUEST), REJECT, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "after rdma_reject, with qp", RC_QP(REQUEST), REJECT, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "after rdma_establish on the passive side", RC_QP(REQUEST), ESTABLISH, ACCEPT, EITHER, MARK_NONE, true, false },
	{ "rdma_accept", "active, response received", RC(RESPONSE), NO_STEP, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "active, connecting", RC(CONNECTING), NO_STEP, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "active, connecting, with qp", RC_QP(CONNECTING), NO_STEP, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "active, established, with qp", RC_QP(ESTABLISHED), NO_STEP, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_accept", "passive, established, with qp", RC_QP(PASSIVE_ESTABLISHED), NO_STEP, ACCEPT, WORKS, MARK_NONE, true, false },
	{ "rdma_establish", "passive, request received", RC(REQUEST), NO_STEP, ESTABLISH, WORKS, MARK_NONE, true, false },
	{ "rdma_establish", "passive, accepted", RC(ACCEPTED), NO_STEP, ESTABLISH, WORKS, MARK_NONE, true, false },
	{ "rdma_establish", "active, connecting", RC(CONNECTING), NO_STEP, ESTABLISH, WORKS, MARK_NONE, true, false },
	{ "rdma_reject", "twice", RC(REQUEST), REJECT, REJECT, WORKS, MARK_NONE, true, false },
	{ "rdma_reject", "after rdma_accept", RC(REQUEST), ACCEPT, REJECT, WORKS, MARK_NONE, true, false },
	{ "rdma_reject", "after rdma_accept, with qp", RC_QP(REQUEST), ACCEPT, REJECT, WORKS, MARK_NONE, true, false },
	{ "rdma_reject", "active, connecting", RC(CONNECTING), NO_STEP, REJECT, WORKS, MARK_NONE, true, false },
	{ "rdma_destroy_id", "after a second rdma_accept", RC_QP(ACCEPTED), ACCEPT, DESTROY, EITHER, MARK_NONE, false, false },
	{ "rdma_destroy_id", "after rdma_reject of what was accepted", RC_QP(ACCEPTED), REJECT, DESTROY, EITHER, MARK_NONE, false, false },
	{ "rdma_destroy_id", "after rdma_reject while connecting", RC(CONNECTING), REJECT, DESTROY, EITHER, MARK_NONE, false, false },
	{ "rdma_destroy_id", "after rdma_establish while connecting", RC(CONNECTING), ESTABLISH, DESTROY, EITHER, MARK_NONE, false,
	  false },
	{ "rdma_destroy_id", "after rdma_accept while connecting", RC(CONNECTING), ACCEPT, DESTROY, EITHER, MARK_NONE, false, false },
	{ "rdma_disconnect", "twice", RC_QP(ESTABLISHED), DISCONNECT, DISCONNECT, WORKS, MARK_NONE, true, false },
	{ "rdma_disconnect", "sync, twice, with qp", { ESTABLISHED, RDMA_PS_TCP, true, true }, DISCONNECT, DISCONNECT, WORKS,
	  MARK_NONE, false, false },
	{ "rdma_disconnect", "UD", UD_QP(ESTABLISHED), NO_STEP, DISCONNECT, WORKS, MARK_NONE, false, false },
	{ "rdma_join_multicast", "twice", UD_QP(BOUND), JOIN, JOIN, WORKS, MARK_NONE, false, false },
	{ "rdma_leave_multicast", "twice", UD_QP(BOUND), LEAVE, LEAVE, FAILS, MARK_NONE, false, false },
	{ "rdma_leave_multicast", "after rdma_destroy_qp", UD_QP(BOUND), DROP_QP, LEAVE, WORKS, MARK_NONE, false, false },
	{ "rdma_set_local_ece", "twice", RC(ADDR), ECE, ECE, WORKS, MARK_NONE, false, false },
	{ "rdma_set_local_ece", "after rdma_create_qp", RC(ADDR), MAKE_QP, ECE, WORKS, MARK_NONE, false, false },
	{ "rdma_destroy_id", "with a qp", RC_QP(ADDR), NO_STEP, DESTROY, WORKS, MARK_NONE, false, false },
	{ "rdma_destroy_id", "with a srq", RC(ADDR), MAKE_SRQ, DESTROY, WORKS, MARK_NONE, false, false },
	{ "rdma_destroy_id", "joined to a group", UD_QP(BOUND), JOIN, DESTROY, WORKS, MARK_NONE, false, false },
	{ "rdma_destroy_id", "twice", RC(ADDR), DESTROY, DESTROY, WORKS, MARK_UNDEFINED, false, false },
	{ "rdma_destroy_ep", "twice", RC_SYNC(ADDR), DESTROY_EP, DESTROY_EP, WORKS, MARK_UNDEFINED, false, true },
	{ "rdma_destroy_ep", "with a qp", RC_QP(ADDR), NO_STEP, DESTROY_EP, WORKS, MARK_NONE, false, true },
	{ "rdma_destroy_ep", "with a srq", RC(ADDR), MAKE_SRQ, DESTROY_EP, WORKS, MARK_NONE, false, true },
};

static void body(const struct misuse *self)
{
	const struct repeat *repeat = self->p;
	struct scene scene;

	scene_set(&scene, &repeat->from);
	if (repeat->first != NO_STEP) {
		int result = step(&scene, repeat->first);

		MUST(repeat->works == EITHER || !result == (repeat->works == WORKS));
	}
	if (repeat->nothing_returned)
		TRY_VOID(step(&scene, repeat->second));
	else
		TRY(step(&scene, repeat->second));
	if (repeat->peer)
		attempt_note("peer", scene_next_event(scene.peer_channel, 1000));
}

void cases_of_repeats(struct misuse_list *list)
{
	for (size_t i = 0; i < sizeof(repeats) / sizeof(*repeats); i++) {
		struct misuse *added = misuse_add(list, repeats[i].function, body, "%s", repeats[i].name);

		added->p = &repeats[i];
		added->mark = repeats[i].mark;
	}
}
