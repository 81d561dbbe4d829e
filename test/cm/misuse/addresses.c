/* SPDX-License-Identifier: MIT */
/* Wrong addresses and times for bind, resolve address and resolve route. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Which is not in every libc's headers. */
#define FAMILY_IB 27

enum kind {
	ADDRESS_NULL,
	FAMILY_0,
	FAMILY_99,
	FAMILY_UNIX,
	IB_ZERO,
	IPV4,
	IPV4_ANY,
	IPV4_ANY_PORT,
	IPV4_LOOPBACK,
	IPV4_FOREIGN,
	IPV4_GROUP,
	IPV4_LOW_PORT,
	IPV6,
	IPV6_ANY,
	IPV6_ANY_PORT,
	IPV6_LINK_LOCAL,
	IPV6_LOOPBACK,
	KINDS
};

static const char *const kinds[KINDS] = {
	[ADDRESS_NULL] = "NULL",
	[FAMILY_0] = "family 0",
	[FAMILY_99] = "family 99",
	[FAMILY_UNIX] = "family AF_UNIX",
	[IB_ZERO] = "family AF_IB, all zero",
	[IPV4] = "IPv4 of the device",
	[IPV4_ANY] = "0.0.0.0",
	[IPV4_ANY_PORT] = "0.0.0.0 with a port",
	[IPV4_LOOPBACK] = "127.0.0.1",
	[IPV4_FOREIGN] = "IPv4 of nobody",
	[IPV4_GROUP] = "IPv4 group",
	[IPV4_LOW_PORT] = "IPv4, port 1",
	[IPV6] = "IPv6 of the device",
	[IPV6_ANY] = "::",
	[IPV6_ANY_PORT] = ":: with a port",
	[IPV6_LINK_LOCAL] = "IPv6 link-local without scope",
	[IPV6_LOOPBACK] = "::1",
};

static struct sockaddr *address_of(enum kind kind, struct sockaddr_storage *storage)
{
	struct sockaddr_in *in = (struct sockaddr_in *)storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;

	memset(storage, 0, sizeof(*storage));
	if (kind == ADDRESS_NULL)
		return NULL;
	storage->ss_family = kind >= IPV6 ? AF_INET6 : AF_INET;
	if (kind >= IPV4)
		in->sin_port = htons(7471);
	switch (kind) {
	case FAMILY_0:
		storage->ss_family = 0;
		break;
	case FAMILY_99:
		storage->ss_family = 99;
		break;
	case FAMILY_UNIX:
		storage->ss_family = AF_UNIX;
		break;
	case IB_ZERO:
		storage->ss_family = FAMILY_IB;
		break;
	case IPV4:
		memcpy(storage, address_ipv4(7471), sizeof(*in));
		break;
	case IPV4_ANY:
	case IPV6_ANY:
		in->sin_port = 0;
		break;
	case IPV4_LOOPBACK:
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		break;
	case IPV4_FOREIGN:
		in->sin_addr.s_addr = htonl(0xc0000201);
		break;
	case IPV4_GROUP:
		in->sin_addr.s_addr = htonl(0xefc00001);
		break;
	case IPV4_LOW_PORT:
		memcpy(storage, address_ipv4(1), sizeof(*in));
		break;
	case IPV6:
		memcpy(storage, address_ipv6(7471), sizeof(*in6));
		break;
	case IPV6_LINK_LOCAL:
		inet_pton(AF_INET6, "fe80::1", &in6->sin6_addr);
		break;
	case IPV6_LOOPBACK:
		in6->sin6_addr = in6addr_loopback;
		break;
	default:
		break;
	}
	return (struct sockaddr *)storage;
}

/* Other children bind at the same time: each to a port of its own. */
static void own_port(enum kind kind, struct sockaddr_storage *storage)
{
	struct sockaddr_in *in = (struct sockaddr_in *)storage;

	if (kind == IPV4_ANY_PORT || kind == IPV6_ANY_PORT)
		in->sin_port = htons((uint16_t)(2000 + getpid() % 28000));
	else if (kind >= IPV4 && kind != IPV4_LOW_PORT)
		in->sin_port = 0;
}

/* a: kind; b: port space. */
static void bind_it(const struct misuse *self)
{
	struct setting setting = { CREATED, self->b, false, self->c };
	struct sockaddr_storage storage;
	struct scene scene;

	scene_set(&scene, &setting);
	struct sockaddr *address = address_of(self->a, &storage);
	if (address)
		own_port(self->a, &storage);
	id_remember(scene.id);
	TRY(rdma_bind_addr(scene.id, address));
	id_compare(scene.id);
}

static void bind_in_use(const struct misuse *self)
{
	struct setting setting = { BOUND, RDMA_PS_TCP, false, false };
	struct scene scene;
	struct rdma_cm_id *other;

	scene_set(&scene, &setting);
	unsigned short port = ntohs(rdma_get_src_port(scene.id));
	MUST(!rdma_create_id(scene.channel, &other, NULL, RDMA_PS_TCP));
	struct sockaddr *address = address_ipv4(port);
	if (self->a)
		((struct sockaddr_in *)address)->sin_addr.s_addr = 0;
	id_remember(other);
	TRY(rdma_bind_addr(other, address));
	id_compare(other);
}

/* a: source, b: destination, c: timeout, d: bound before to that kind + 1. */
static void resolve(const struct misuse *self)
{
	struct setting setting = { CREATED, RDMA_PS_TCP, false, self->p != NULL };
	struct sockaddr_storage from, to, bound;
	struct scene scene;

	scene_set(&scene, &setting);
	if (self->d) {
		struct sockaddr *address = address_of(self->d - 1, &bound);
		((struct sockaddr_in *)address)->sin_port = 0;
		MUST(!rdma_bind_addr(scene.id, address));
	}
	struct sockaddr *source = address_of(self->a, &from);
	if (source)
		own_port(self->a, &from);
	struct sockaddr *destination = address_of(self->b, &to);
	id_remember(scene.id);
	TRY(rdma_resolve_addr(scene.id, source, destination, self->c));
	id_compare(scene.id);
	if (scene.channel)
		attempt_note("event", scene_next_event(scene.channel, 1500));
}

static void route(const struct misuse *self)
{
	struct setting setting = { ADDR, RDMA_PS_TCP, false, self->b };
	struct scene scene;

	scene_set(&scene, &setting);
	TRY(rdma_resolve_route(scene.id, self->a));
	if (scene.channel)
		attempt_note("event", scene_next_event(scene.channel, 1500));
}

/* Resolved to an address that has no route. */
static void route_loopback(const struct misuse *self)
{
	struct setting setting = { CREATED, RDMA_PS_TCP, false, false };
	struct sockaddr_storage to;
	struct scene scene;

	(void)self;
	scene_set(&scene, &setting);
	MUST(!rdma_resolve_addr(scene.id, NULL, address_of(IPV4_LOOPBACK, &to), 1000));
	scene_expect(scene.channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	TRY(rdma_resolve_route(scene.id, 1000));
}

static void add_resolve(struct misuse_list *list, const char *name, int from, int to, int timeout, int bound)
{
	for (int sync = 0; sync < 2; sync++) {
		struct misuse *added =
			misuse_add(list, "rdma_resolve_addr", resolve, "%s%s", sync ? "sync, " : "", name);
		added->a = from;
		added->b = to;
		added->c = timeout;
		added->d = bound;
		added->alone = from == IPV4_LOW_PORT;
		added->p = sync ? added->function : NULL;
	}
}

void cases_of_addresses(struct misuse_list *list)
{
	static const struct {
		const char *name;
		int ps;
	} spaces[] = { { "TCP", RDMA_PS_TCP }, { "UDP", RDMA_PS_UDP }, { "IPOIB", RDMA_PS_IPOIB }, { "IB", RDMA_PS_IB } };
	char name[96];

	for (size_t space = 0; space < sizeof(spaces) / sizeof(*spaces); space++)
		for (int kind = 0; kind < KINDS; kind++) {
			struct misuse *added = misuse_add(list, "rdma_bind_addr", bind_it, "%s, address %s",
							  spaces[space].name, kinds[kind]);
			added->a = kind;
			added->b = spaces[space].ps;
			added->alone = kind == IPV4_LOW_PORT;
		}
	struct misuse *added = misuse_add(list, "rdma_bind_addr", bind_it, "sync, address family 99");
	added->a = FAMILY_99;
	added->b = RDMA_PS_TCP;
	added->c = 1;
	misuse_add(list, "rdma_bind_addr", bind_in_use, "address and port in use");
	misuse_add(list, "rdma_bind_addr", bind_in_use, "wildcard, port in use")->a = 1;

	for (int kind = 0; kind < KINDS; kind++) {
		snprintf(name, sizeof(name), "destination %s", kinds[kind]);
		add_resolve(list, name, ADDRESS_NULL, kind, 500, 0);
		snprintf(name, sizeof(name), "source %s", kinds[kind]);
		add_resolve(list, name, kind, IPV4, 500, 0);
	}
	add_resolve(list, "destination IPv6, source IPv4", IPV4, IPV6, 500, 0);
	add_resolve(list, "destination IPv6, bound to IPv4", ADDRESS_NULL, IPV6, 500, IPV4 + 1);
	add_resolve(list, "destination IPv6, bound to 0.0.0.0", ADDRESS_NULL, IPV6, 500, IPV4_ANY + 1);
	add_resolve(list, "source given, bound to the same", IPV4, IPV4, 500, IPV4 + 1);
	add_resolve(list, "source IPv6, bound to IPv4", IPV6, IPV4, 500, IPV4 + 1);
	add_resolve(list, "source and destination NULL", ADDRESS_NULL, ADDRESS_NULL, 500, 0);
	add_resolve(list, "timeout 0", ADDRESS_NULL, IPV4, 0, 0);
	add_resolve(list, "timeout -1", ADDRESS_NULL, IPV4, -1, 0);
	add_resolve(list, "timeout INT_MIN", ADDRESS_NULL, IPV4, INT_MIN, 0);

	for (int sync = 0; sync < 2; sync++) {
		static const int times[] = { 0, -1, INT_MIN, INT_MAX, 1 };

		for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
			added = misuse_add(list, "rdma_resolve_route", route, "%stimeout %d", sync ? "sync, " : "", times[i]);
			added->a = times[i];
			added->b = sync;
		}
	}
	misuse_add(list, "rdma_resolve_route", route_loopback, "resolved to 127.0.0.1");
}
