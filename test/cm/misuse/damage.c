/* SPDX-License-Identifier: MIT */
/* Each call, in a state in which it would succeed, on an id that is no good. */
#include "attempt.h"
#include "calls.h"
#include "case.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum damage {
	ID_NULL,
	ID_ZERO,
	FREED,
	KERNEL_ID_GONE,
	FD_CLOSED,
	FD_MINUS_ONE,
	FD_DEV_NULL,
	FD_READ_ONLY,
	OTHER_CHANNEL,
	CHANNEL_NULL,
	FORKED,
	DAMAGES
};

static const char *const damages[DAMAGES] = {
	[ID_NULL] = "id NULL",
	[ID_ZERO] = "id of nobody, all zero",
	[FREED] = "id destroyed",
	[KERNEL_ID_GONE] = "the kernel's id is gone",
	[FD_CLOSED] = "channel's descriptor closed",
	[FD_MINUS_ONE] = "channel's descriptor -1",
	[FD_DEV_NULL] = "channel's descriptor is /dev/null's",
	[FD_READ_ONLY] = "channel's descriptor is read-only",
	[OTHER_CHANNEL] = "channel of another id",
	[CHANNEL_NULL] = "channel NULL",
	[FORKED] = "in a forked child",
};

/* Destroys whatever the kernel has of this descriptor's ids, behind the library's
 * back: numbers are given lowest first, and those of others are refused. */
static void destroy_kernel_ids(int fd)
{
	uint32_t reply;
	struct {
		uint32_t command;
		uint16_t in, out;
		uint64_t response;
		uint32_t id, reserved;
	} destroy = { .command = 1, .in = 16, .out = 4, .response = (uintptr_t)&reply };
	int destroyed = 0;

	for (uint32_t id = 0; id < 512; id++) {
		destroy.id = id;
		destroyed += write(fd, &destroy, sizeof(destroy)) == (ssize_t)sizeof(destroy);
	}
	MUST(destroyed > 0);
}

static void put_there(int fd, const char *path, int flags)
{
	int other = open(path, flags);

	MUST(other >= 0);
	MUST(dup2(other, fd) == fd);
}

/* The grandchild makes the call, and this child hands on what it said. */
static void go_on_in_a_child(void)
{
	pid_t pid = fork();

	MUST(pid >= 0);
	if (pid == 0)
		return;
	waitpid(pid, NULL, 0);
	_exit(0);
}

/* What the call is to undo. */
static void prepare(const struct call *call, struct rdma_cm_id *id)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	if (!strcmp(call->function, "rdma_destroy_srq"))
		MUST(!rdma_create_srq(id, NULL, &attr));
	else if (!strcmp(call->function, "rdma_leave_multicast"))
		MUST(!rdma_join_multicast(id, call_group(), NULL));
}

static void body(const struct misuse *self)
{
	static struct rdma_cm_id zero;
	const struct call *call = &calls[self->a];
	struct rdma_event_channel *other;
	struct scene scene;

	scene_set(&scene, &call->good);
	struct rdma_cm_id *id = scene.id;
	prepare(call, id);
	switch (self->b) {
	case ID_NULL:
		id = NULL;
		break;
	case ID_ZERO:
		id = &zero;
		break;
	case FREED:
		if (id->qp)
			rdma_destroy_qp(id);
		MUST(!rdma_destroy_id(id));
		break;
	case KERNEL_ID_GONE:
		destroy_kernel_ids(id->channel->fd);
		break;
	case FD_CLOSED:
		close(id->channel->fd);
		break;
	case FD_MINUS_ONE:
		id->channel->fd = -1;
		break;
	case FD_DEV_NULL:
		put_there(id->channel->fd, "/dev/null", O_RDWR);
		break;
	case FD_READ_ONLY:
		put_there(id->channel->fd, "/dev/zero", O_RDONLY);
		break;
	case OTHER_CHANNEL:
		MUST(other = rdma_create_event_channel());
		id->channel = other;
		break;
	case CHANNEL_NULL:
		id->channel = NULL;
		break;
	case FORKED:
		go_on_in_a_child();
		break;
	default:
		break;
	}
	call->make(&scene, id);
}

void cases_of_damage(struct misuse_list *list)
{
	for (int c = 0; c < calls_count; c++)
		for (int damage = 0; damage < DAMAGES; damage++) {
			struct misuse *added = misuse_add(list, calls[c].function, body, "%s%s%s", calls[c].variant,
							  *calls[c].variant ? ", " : "", damages[damage]);
			added->a = c;
			added->b = damage;
			if (damage == FREED || damage == ID_ZERO)
				added->mark = MARK_UNDEFINED;
			else if (damage == FD_DEV_NULL)
				added->mark = MARK_CHANCE;
			/* Nothing tells it from a listener to whom nobody comes. */
			else if (!strcmp(calls[c].function, "rdma_get_request") &&
				 (damage == KERNEL_ID_GONE || damage == OTHER_CHANNEL))
				added->mark = MARK_WAITS;
			/* The number that got free is the next one that the kernel gives to anybody. */
			added->alone = damage == KERNEL_ID_GONE || damage == FD_CLOSED;
		}
}
