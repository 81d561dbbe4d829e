/* SPDX-License-Identifier: MIT */
/* Wrong groups, attributes and owners of multicast. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <arpa/inet.h>
#include <string.h>

enum group { GROUP_NULL, FAMILY_0, FAMILY_99, FAMILY_IB, NO_GROUP, IPV4_GROUP, IPV6_GROUP, IPV6_NO_GROUP, GROUPS };

static const char *const groups[GROUPS] = {
	[GROUP_NULL] = "group NULL",	   [FAMILY_0] = "group of family 0",
	[FAMILY_99] = "group of family 99", [FAMILY_IB] = "group of family AF_IB, all zero",
	[NO_GROUP] = "IPv4 address that is no group", [IPV4_GROUP] = "IPv4 group",
	[IPV6_GROUP] = "IPv6 group",	    [IPV6_NO_GROUP] = "IPv6 address that is no group",
};

static struct sockaddr *group_of(enum group group)
{
	static struct sockaddr_storage storage;
	struct sockaddr_in *in = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;

	memset(&storage, 0, sizeof(storage));
	storage.ss_family = group >= IPV6_GROUP ? AF_INET6 : AF_INET;
	switch (group) {
	case GROUP_NULL:
		return NULL;
	case FAMILY_0:
		storage.ss_family = 0;
		break;
	case FAMILY_99:
		storage.ss_family = 99;
		break;
	case FAMILY_IB:
		storage.ss_family = 27;
		break;
	case NO_GROUP:
		in->sin_addr.s_addr = htonl(0xc0000201);
		break;
	case IPV6_GROUP:
		inet_pton(AF_INET6, "ff0e::db8:1", &in6->sin6_addr);
		break;
	case IPV6_NO_GROUP:
		inet_pton(AF_INET6, "2001:db8::1", &in6->sin6_addr);
		break;
	default:
		in->sin_addr.s_addr = htonl(0xefc00001);
	}
	return (struct sockaddr *)&storage;
}

/* a: group, b: with qp, c: sync, d: RC. */
static void join(const struct misuse *self)
{
	struct setting setting = { BOUND, self->d ? RDMA_PS_TCP : RDMA_PS_UDP, self->b, self->c };
	struct scene scene;

	scene_set(&scene, &setting);
	id_remember(scene.id);
	TRY(rdma_join_multicast(scene.id, group_of(self->a), NULL));
	id_compare(scene.id);
	if (scene.channel)
		attempt_note("event", scene_next_event(scene.channel, 1000));
}

struct attr_case {
	const char *name;
	unsigned mask, flags;
	enum group group;
};

#define BOTH (RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS)
static const struct attr_case attr_cases[] = {
	{ "mask 0", 0, 0, IPV4_GROUP },
	{ "mask without address", RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, 0, IPV4_GROUP },
	{ "mask without flags", RDMA_CM_JOIN_MC_ATTR_ADDRESS, 0, IPV4_GROUP },
	{ "mask with a reserved bit", BOTH | RDMA_CM_JOIN_MC_ATTR_RESERVED, 0, IPV4_GROUP },
	{ "mask with all bits", 0xffffffff, 0, IPV4_GROUP },
	{ "send-only", BOTH, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, IPV4_GROUP },
	{ "flags 2", BOTH, 2, IPV4_GROUP },
	{ "flags 99", BOTH, 99, IPV4_GROUP },
	{ "flags 0x10000", BOTH, 0x10000, IPV4_GROUP },
	{ "group NULL", BOTH, 0, GROUP_NULL },
	{ "group of family 0", BOTH, 0, FAMILY_0 },
	{ "group of family 99", BOTH, 0, FAMILY_99 },
};

static void join_ex(const struct misuse *self)
{
	const struct attr_case *wanted = self->p;
	struct setting setting = { BOUND, RDMA_PS_UDP, true, false };
	struct rdma_cm_join_mc_attr_ex attr;
	struct scene scene;

	scene_set(&scene, &setting);
	if (wanted) {
		attr.comp_mask = wanted->mask;
		attr.join_flags = wanted->flags;
		attr.addr = group_of(wanted->group);
	}
	id_remember(scene.id);
	TRY(rdma_join_multicast_ex(scene.id, wanted ? &attr : NULL, NULL));
	id_compare(scene.id);
	attempt_note("event", scene_next_event(scene.channel, 1000));
}

/* a: group to leave, b: joined before, c: its event unread. */
static void leave(const struct misuse *self)
{
	struct setting setting = { BOUND, RDMA_PS_UDP, true, false };
	struct scene scene;

	scene_set(&scene, &setting);
	if (self->b) {
		MUST(!rdma_join_multicast(scene.id, group_of(IPV4_GROUP), NULL));
		if (!self->c)
			scene_expect(scene.channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	}
	TRY(rdma_leave_multicast(scene.id, group_of(self->a)));
}

static void leave_unacknowledged(const struct misuse *self)
{
	struct setting setting = { BOUND, RDMA_PS_UDP, true, false };
	struct rdma_cm_event *event;
	struct scene scene;

	(void)self;
	scene_set(&scene, &setting);
	MUST(!rdma_join_multicast(scene.id, group_of(IPV4_GROUP), NULL));
	MUST(!rdma_get_cm_event(scene.channel, &event));
	TRY(rdma_leave_multicast(scene.id, group_of(IPV4_GROUP)));
}

void cases_of_multicast(struct misuse_list *list)
{
	struct misuse *added;

	for (int qp = 0; qp < 2; qp++)
		for (int group = 0; group < GROUPS; group++) {
			added = misuse_add(list, "rdma_join_multicast", join, "%s%s", groups[group], qp ? ", with qp" : "");
			added->a = group;
			added->b = qp;
		}
	for (int group = 0; group < 6; group += 5) {
		added = misuse_add(list, "rdma_join_multicast", join, "sync, %s", groups[group]);
		added->a = group;
		added->b = added->c = 1;
		added = misuse_add(list, "rdma_join_multicast", join, "RC, %s", groups[group]);
		added->a = group;
		added->d = 1;
	}
	misuse_add(list, "rdma_join_multicast_ex", join_ex, "attributes NULL");
	for (size_t i = 0; i < sizeof(attr_cases) / sizeof(*attr_cases); i++)
		misuse_add(list, "rdma_join_multicast_ex", join_ex, "%s", attr_cases[i].name)->p = &attr_cases[i];
	for (int joined = 0; joined < 2; joined++)
		for (int group = 0; group < GROUPS; group++) {
			added = misuse_add(list, "rdma_leave_multicast", leave, "%s, %s", groups[group],
					   joined ? "joined to the IPv4 group" : "not joined");
			added->a = group;
			added->b = joined;
		}
	added = misuse_add(list, "rdma_leave_multicast", leave, "IPv4 group, its event unread");
	added->a = IPV4_GROUP;
	added->b = added->c = 1;
	misuse_add(list, "rdma_leave_multicast", leave_unacknowledged, "IPv4 group, its event not acknowledged")->mark =
		MARK_WAITS;
}
