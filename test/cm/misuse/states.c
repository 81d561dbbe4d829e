/* SPDX-License-Identifier: MIT */
/* Each call in each state. */
#include "attempt.h"
#include "calls.h"
#include "case.h"

#include <string.h>

static void body(const struct misuse *self)
{
	const struct call *call = &calls[self->a];
	struct setting setting = { self->b, self->c ? RDMA_PS_UDP : RDMA_PS_TCP, self->d & 1, self->d >> 1 };
	struct scene scene;

	scene_set(&scene, &setting);
	id_remember(scene.id);
	call->make(&scene, scene.id);
	/* A destroyed id cannot be looked at. */
	if (strncmp(call->function, "rdma_destroy_id", 15) && strncmp(call->function, "rdma_destroy_ep", 15))
		id_compare(scene.id);
}

/* A sync call waits for the other side, which does nothing here. */
static bool waits(const struct call *call, const struct setting *setting)
{
	const char *function = call->function;

	if (!setting->sync)
		return false;
	return (!strcmp(function, "rdma_get_request") &&
		(setting->stage == LISTENING || setting->stage == LISTENING_ANY)) ||
	       (!strcmp(function, "rdma_connect") && setting->stage == ROUTE) ||
	       (!strcmp(function, "rdma_accept") && setting->stage == REQUEST);
}

void cases_of_states(struct misuse_list *list)
{
	for (int c = 0; c < calls_count; c++)
		for (int sync = 0; sync < 2; sync++)
			for (int ud = 0; ud < 2; ud++)
				for (int stage = 0; stage < STAGES; stage++)
					for (int qp = 0; qp < 2; qp++) {
						struct setting setting = { stage, ud ? RDMA_PS_UDP : RDMA_PS_TCP, qp, sync };
						struct misuse *added;

						/* The same code as RC's: one kind is enough. */
						if (!setting_exists(&setting) || (sync && ud))
							continue;
						added = misuse_add(list, calls[c].function, body, "%s%s%s", calls[c].variant,
								   *calls[c].variant ? ", " : "", setting_text(&setting));
						added->a = c;
						added->b = stage;
						added->c = ud;
						added->d = qp | sync << 1;
						if (waits(&calls[c], &setting))
							added->mark = MARK_WAITS;
					}
}
