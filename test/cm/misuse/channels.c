/* SPDX-License-Identifier: MIT */
/* Event channels, making and unmaking ids, devices, names of events. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum channel_kind { NO_CHANNEL, GOOD, MINUS_ONE, CLOSED, DEV_NULL, DEV_ZERO, OWN };

static struct rdma_event_channel *channel_of(enum channel_kind kind)
{
	static struct rdma_event_channel own;
	struct rdma_event_channel *channel;

	switch (kind) {
	case NO_CHANNEL:
		return NULL;
	case OWN:
		/* One that the caller filled in. */
		own.fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
		MUST(own.fd >= 0);
		return &own;
	default:
		break;
	}
	MUST(channel = rdma_create_event_channel());
	if (kind == MINUS_ONE)
		channel->fd = -1;
	else if (kind == CLOSED)
		close(channel->fd);
	else if (kind == DEV_NULL)
		MUST(dup2(open("/dev/null", O_RDWR), channel->fd) >= 0);
	else if (kind == DEV_ZERO)
		MUST(dup2(open("/dev/zero", O_RDONLY), channel->fd) >= 0);
	return channel;
}

static void create_channel_no_descriptor(const struct misuse *self)
{
	struct rlimit limit = { 0, 0 };

	if (self->a)
		MUST(rdma_create_event_channel());
	MUST(!setrlimit(RLIMIT_NOFILE, &limit));
	attempt_begin();
	const void *channel = rdma_create_event_channel();
	attempt_end_pointer(channel);
}

static void create_channel(const struct misuse *self)
{
	(void)self;
	attempt_begin();
	const void *channel = rdma_create_event_channel();
	attempt_end_pointer(channel);
}

static void destroy_channel(const struct misuse *self)
{
	struct rdma_event_channel *channel = channel_of(self->a);

	TRY_VOID(rdma_destroy_event_channel(channel));
}

static void destroy_channel_with_id(const struct misuse *self)
{
	struct setting setting = { self->a, RDMA_PS_TCP, false, false };
	struct scene scene;

	scene_set(&scene, &setting);
	TRY_VOID(rdma_destroy_event_channel(scene.channel));
}

static void destroy_channel_twice(const struct misuse *self)
{
	struct rdma_event_channel *channel = channel_of(GOOD);

	(void)self;
	rdma_destroy_event_channel(channel);
	TRY_VOID(rdma_destroy_event_channel(channel));
}

/* a: channel, b: port space, c: whether there is a place for the id. */
static void create_id(const struct misuse *self)
{
	struct rdma_event_channel *channel = channel_of(self->a);
	struct rdma_cm_id *id;

	output_fill(&id, sizeof(id));
	TRY(rdma_create_id(channel, self->c ? &id : NULL, NULL, (enum rdma_port_space)self->b));
	output_check(&id, sizeof(id));
}

static void create_id_no_descriptor(const struct misuse *self)
{
	struct rlimit limit = { 0, 0 };
	struct rdma_cm_id *id;

	if (self->a)
		MUST(rdma_create_event_channel());
	MUST(!setrlimit(RLIMIT_NOFILE, &limit));
	output_fill(&id, sizeof(id));
	TRY(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	output_check(&id, sizeof(id));
}

static void get_devices(const struct misuse *self)
{
	int count;

	output_fill(&count, sizeof(count));
	attempt_begin();
	struct ibv_context **list = rdma_get_devices(self->a ? &count : NULL);
	attempt_end_pointer(list);
	output_check(&count, sizeof(count));
}

static void free_devices(const struct misuse *self)
{
	(void)self;
	TRY_VOID(rdma_free_devices(NULL));
}

static void event_str(const struct misuse *self)
{
	attempt_begin();
	const char *text = rdma_event_str((enum rdma_cm_event_type)self->a);
	attempt_end_text(text);
}

void cases_of_channels(struct misuse_list *list)
{
	static const char *const kinds[] = { "channel NULL", "good channel", "descriptor -1", "descriptor closed",
					     "descriptor of /dev/null", "descriptor read-only", "channel filled in by the caller" };
	static const struct {
		const char *name;
		int value;
	} spaces[] = { { "0", 0 }, { "-1", -1 }, { "99", 99 }, { "IPOIB", RDMA_PS_IPOIB }, { "IB", RDMA_PS_IB } };

	misuse_add(list, "rdma_create_event_channel", create_channel, "good");
	misuse_add(list, "rdma_create_event_channel", create_channel_no_descriptor, "no descriptor left");
	misuse_add(list, "rdma_create_event_channel", create_channel_no_descriptor, "second, no descriptor left")->a = 1;
	for (int kind = NO_CHANNEL; kind <= DEV_NULL; kind++)
		misuse_add(list, "rdma_destroy_event_channel", destroy_channel, "%s", kinds[kind])->a = kind;
	misuse_add(list, "rdma_destroy_event_channel", destroy_channel_with_id, "an id of it lives")->a = CREATED;
	misuse_add(list, "rdma_destroy_event_channel", destroy_channel_with_id, "an established id of it lives")->a =
		ESTABLISHED;
	misuse_add(list, "rdma_destroy_event_channel", destroy_channel_twice, "twice")->mark = MARK_UNDEFINED;

	for (int kind = NO_CHANNEL; kind <= OWN; kind++) {
		struct misuse *added = misuse_add(list, "rdma_create_id", create_id, "%s", kinds[kind]);
		added->a = kind;
		added->b = RDMA_PS_TCP;
		added->c = 1;
		if (kind == DEV_NULL)
			added->mark = MARK_CHANCE;
	}
	for (int sync = 0; sync < 2; sync++) {
		for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
			struct misuse *added = misuse_add(list, "rdma_create_id", create_id, "%sport space %s",
							  sync ? "sync, " : "", spaces[i].name);
			added->a = sync ? NO_CHANNEL : GOOD;
			added->b = spaces[i].value;
			added->c = 1;
		}
		struct misuse *added = misuse_add(list, "rdma_create_id", create_id, "%sid NULL", sync ? "sync, " : "");
		added->a = sync ? NO_CHANNEL : GOOD;
		added->b = RDMA_PS_TCP;
	}
	misuse_add(list, "rdma_create_id", create_id_no_descriptor, "sync, no descriptor left");
	misuse_add(list, "rdma_create_id", create_id_no_descriptor, "sync, second, no descriptor left")->a = 1;
	misuse_add(list, "rdma_get_devices", get_devices, "good")->a = 1;
	misuse_add(list, "rdma_get_devices", get_devices, "count NULL");
	misuse_add(list, "rdma_free_devices", free_devices, "list NULL");
	for (int event = -1; event <= 21; event++)
		misuse_add(list, "rdma_event_str", event_str, "%d", event)->a = event;
	misuse_add(list, "rdma_event_str", event_str, "99")->a = 99;
	misuse_add(list, "rdma_event_str", event_str, "INT_MIN")->a = -2147483647 - 1;
}
