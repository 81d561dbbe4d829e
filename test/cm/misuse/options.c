/* SPDX-License-Identifier: MIT */
/* Wrong options, states, asynchronous events, ECE and channels to migrate to. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct option_case {
	const char *name;
	int level, option;
	size_t length;
	/* The value that all of its bytes have; -1: no pointer. */
	int byte;
	enum stage stage;
	int ps;
};

static const struct option_case option_cases[] = {
	{ "level 2", 2, 0, 1, 0, CREATED, RDMA_PS_TCP },
	{ "level -1", -1, 0, 1, 0, CREATED, RDMA_PS_TCP },
	{ "option 99 of level ID", RDMA_OPTION_ID, 99, 1, 0, CREATED, RDMA_PS_TCP },
	{ "option -1 of level ID", RDMA_OPTION_ID, -1, 1, 0, CREATED, RDMA_PS_TCP },
	{ "option 99 of level IB", RDMA_OPTION_IB, 99, 72, 0, ADDR, RDMA_PS_TCP },
	{ "option 0 of level IB", RDMA_OPTION_IB, 0, 72, 0, ADDR, RDMA_PS_TCP },
	{ "TOS, length 0", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0, 0, CREATED, RDMA_PS_TCP },
	{ "TOS, length 4", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4, 0, CREATED, RDMA_PS_TCP },
	{ "TOS, length SIZE_MAX", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, SIZE_MAX, 0, CREATED, RDMA_PS_TCP },
	{ "TOS, length 2^32 + 1", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, (1UL << 32) + 1, 0, CREATED, RDMA_PS_TCP },
	{ "TOS, value NULL", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, -1, CREATED, RDMA_PS_TCP },
	{ "TOS, value NULL, length 0", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0, -1, CREATED, RDMA_PS_TCP },
	{ "TOS 255", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, 255, CREATED, RDMA_PS_TCP },
	{ "REUSEADDR, length 1", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1, 1, CREATED, RDMA_PS_TCP },
	{ "REUSEADDR, length 8", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 8, 1, CREATED, RDMA_PS_TCP },
	{ "REUSEADDR, value NULL", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, -1, CREATED, RDMA_PS_TCP },
	{ "REUSEADDR cleared when bound", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, 0, BOUND, RDMA_PS_TCP },
	{ "REUSEADDR 0xffffffff", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, 255, CREATED, RDMA_PS_TCP },
	{ "AFONLY, length 1", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1, 1, CREATED, RDMA_PS_TCP },
	{ "AFONLY, value NULL", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 4, -1, CREATED, RDMA_PS_TCP },
	{ "ACK_TIMEOUT, length 4", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 4, 1, CREATED, RDMA_PS_TCP },
	{ "ACK_TIMEOUT 255", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 255, CREATED, RDMA_PS_TCP },
	{ "ACK_TIMEOUT 0", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 0, CREATED, RDMA_PS_TCP },
	{ "ACK_TIMEOUT, UD", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 14, CREATED, RDMA_PS_UDP },
	{ "IB_PATH, not resolved", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 72, 0x2b, CREATED, RDMA_PS_TCP },
	{ "IB_PATH, length 0", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 0, 0x2b, ADDR, RDMA_PS_TCP },
	{ "IB_PATH, length 71", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 71, 0x2b, ADDR, RDMA_PS_TCP },
	{ "IB_PATH, length 73", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 73, 0x2b, ADDR, RDMA_PS_TCP },
	{ "IB_PATH, flags wrong", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 72, 0, ADDR, RDMA_PS_TCP },
	{ "IB_PATH, value NULL", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 72, -1, ADDR, RDMA_PS_TCP },
};

static void set_option(const struct misuse *self)
{
	const struct option_case *wanted = self->p;
	struct setting setting = { wanted->stage, (enum rdma_port_space)wanted->ps, false, self->a };
	unsigned char value[256];
	struct scene scene;

	scene_set(&scene, &setting);
	memset(value, wanted->byte, sizeof(value));
	TRY(rdma_set_option(scene.id, wanted->level, wanted->option, wanted->byte < 0 ? NULL : value, wanted->length));
}

/* a: qp_state, b: bit 0 attributes NULL, bit 1 mask NULL; c: whether the id has a device. */
static void init_qp_attr(const struct misuse *self)
{
	struct setting setting = { self->c ? REQUEST : CREATED, RDMA_PS_TCP, false, false };
	struct ibv_qp_attr attr;
	struct scene scene;
	int mask;

	scene_set(&scene, &setting);
	output_fill(&attr, sizeof(attr));
	output_fill(&mask, sizeof(mask));
	attr.qp_state = (enum ibv_qp_state)self->a;
	TRY(rdma_init_qp_attr(scene.id, self->b & 1 ? NULL : &attr, self->b & 2 ? NULL : &mask));
	memset(&attr.qp_state, OUTPUT_PATTERN, sizeof(attr.qp_state));
	output_check(&attr, sizeof(attr));
	output_check(&mask, sizeof(mask));
}

/* a: event, b: stage, c: with qp. */
static void notify(const struct misuse *self)
{
	struct setting setting = { self->b, RDMA_PS_TCP, self->c, false };
	struct scene scene;

	scene_set(&scene, &setting);
	TRY(rdma_notify(scene.id, (enum ibv_event_type)self->a));
}

static void ece_null(const struct misuse *self)
{
	struct setting setting = { self->b, RDMA_PS_TCP, self->c, false };
	struct scene scene;

	scene_set(&scene, &setting);
	if (self->a)
		TRY(rdma_get_remote_ece(scene.id, NULL));
	else
		TRY(rdma_set_local_ece(scene.id, NULL));
}

enum target { SAME, CLOSED, MINUS_ONE, DEV_NULL, READ_ONLY };

/* a: where to, b: stage. */
static void migrate(const struct misuse *self)
{
	struct setting setting = { self->b, RDMA_PS_TCP, false, self->c };
	struct rdma_event_channel *target;
	struct scene scene;

	scene_set(&scene, &setting);
	target = self->a == SAME ? scene.id->channel : rdma_create_event_channel();
	MUST(target);
	if (self->a == CLOSED)
		close(target->fd);
	else if (self->a == MINUS_ONE)
		target->fd = -1;
	else if (self->a == DEV_NULL)
		MUST(dup2(open("/dev/null", O_RDWR), target->fd) >= 0);
	else if (self->a == READ_ONLY)
		MUST(dup2(open("/dev/zero", O_RDONLY), target->fd) >= 0);
	id_remember(scene.id);
	TRY(rdma_migrate_id(scene.id, target));
	id_compare(scene.id);
}

void cases_of_options(struct misuse_list *list)
{
	static const int states[] = { IBV_QPS_RESET, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR, 7, 99, -1, INT_MIN };
	static const struct {
		const char *name;
		int event;
	} events[] = { { "-1", -1 }, { "99", 99 }, { "0", 0 }, { "QP_FATAL", IBV_EVENT_QP_FATAL },
		       { "PATH_MIG", IBV_EVENT_PATH_MIG }, { "PATH_MIG_ERR", IBV_EVENT_PATH_MIG_ERR } };
	static const char *const targets[] = { "the channel it has", "descriptor closed", "descriptor -1",
					       "descriptor of /dev/null", "descriptor read-only" };
	static const int stages[] = { CREATED, ACCEPTED, PASSIVE_ESTABLISHED };
	static const char *const stage_text[] = { "created", "accepted", "established" };
	struct misuse *added;

	for (size_t i = 0; i < sizeof(option_cases) / sizeof(*option_cases); i++)
		misuse_add(list, "rdma_set_option", set_option, "%s", option_cases[i].name)->p = &option_cases[i];
	for (int device = 0; device < 2; device++) {
		const char *where = device ? "request received" : "created";

		for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
			added = misuse_add(list, "rdma_init_qp_attr", init_qp_attr, "state %d, %s", states[i], where);
			added->a = states[i];
			added->c = device;
		}
		for (int null = 1; null < 4; null++) {
			static const char *const nulls[] = { "", "attributes NULL", "mask NULL", "attributes and mask NULL" };

			added = misuse_add(list, "rdma_init_qp_attr", init_qp_attr, "%s, %s", nulls[null], where);
			added->a = IBV_QPS_INIT;
			added->b = null;
			added->c = device;
		}
	}
	for (size_t stage = 0; stage < 3; stage++)
		for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
			added = misuse_add(list, "rdma_notify", notify, "event %s, %s", events[i].name, stage_text[stage]);
			added->a = events[i].event;
			added->b = stages[stage];
			added->c = stage > 0;
			/* The kernel forgets the address and with it a reference on the GID: a
			 * warning follows when the device is removed. */
			added->harms_kernel = events[i].event == IBV_EVENT_PATH_MIG && stages[stage] == PASSIVE_ESTABLISHED;
		}
	for (int get = 0; get < 2; get++)
		for (int qp = 0; qp < 2; qp++) {
			added = misuse_add(list, get ? "rdma_get_remote_ece" : "rdma_set_local_ece", ece_null, "ece NULL%s",
					   qp ? ", with qp" : "");
			added->a = get;
			added->b = ADDR;
			added->c = qp;
		}
	for (int sync = 0; sync < 2; sync++)
		for (int target = SAME; target <= READ_ONLY; target++) {
			added = misuse_add(list, "rdma_migrate_id", migrate, "%s%s", sync ? "sync, to " : "to ", targets[target]);
			added->a = target;
			added->b = BOUND;
			added->c = sync;
			if (target == DEV_NULL)
				added->mark = MARK_CHANCE;
		}
}
