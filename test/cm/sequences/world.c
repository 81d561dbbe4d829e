/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "world.h"

#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/ib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../programs/symbols.h"

struct world world;

void world_begin(uint16_t port_base, int quiet_us)
{
	memset(&world, 0, sizeof(world));
	world.port_base = port_base;
	world.quiet_us = quiet_us;
	symbol_port_base(port_base);
	for (int i = 0; i < ID_SLOTS; i++)
		snprintf(world.ids[i].name, sizeof(world.ids[i].name), "i%d", i);
	for (int i = 0; i < CHANNEL_SLOTS; i++)
		snprintf(world.channels[i].name, sizeof(world.channels[i].name), "c%d", i);
	for (int i = 0; i < EVENT_SLOTS; i++)
		snprintf(world.events[i].name, sizeof(world.events[i].name), "e%d", i);
	pointer_name(&world.contexts[0], "group 0");
	pointer_name(&world.contexts[1], "group 1");
	pointer_name(&world.contexts[2], "group 2");
	pointer_name(&world.contexts[3], "group 3");
}

static int number_of(const char *name, char kind, int limit)
{
	char *end;

	if (!name || name[0] != kind || !name[1])
		return -1;
	long number = strtol(name + 1, &end, 10);
	return *end || number < 0 || number >= limit ? -1 : (int)number;
}

struct slot *slot_named(const char *name)
{
	int number = number_of(name, 'i', ID_SLOTS);

	return number < 0 ? NULL : &world.ids[number];
}

struct channel_slot *channel_named(const char *name)
{
	int number = number_of(name, 'c', CHANNEL_SLOTS);

	return number < 0 ? NULL : &world.channels[number];
}

struct event_slot *event_named(const char *name)
{
	int number = number_of(name, 'e', EVENT_SLOTS);

	return number < 0 ? NULL : &world.events[number];
}

struct slot *slot_of(const struct rdma_cm_id *id)
{
	for (int i = 0; id && i < ID_SLOTS; i++)
		if (world.ids[i].id == id)
			return &world.ids[i];
	return NULL;
}

struct slot *slot_empty(const char *wished)
{
	struct slot *slot = slot_named(wished);

	for (int i = ID_SLOTS; (!slot || slot->id) && i > 0; i--)
		slot = &world.ids[i - 1];
	return slot->id ? NULL : slot;
}

int ids_on(const struct rdma_event_channel *channel)
{
	int count = 0;

	for (int i = 0; i < ID_SLOTS; i++)
		count += world.ids[i].id && world.ids[i].id->channel == channel;
	return count;
}

bool is_datagram(const struct rdma_cm_id *id)
{
	return id->qp_type == IBV_QPT_UD;
}

/* --- addresses ----------------------------------------------------------- */

static const struct {
	const char *name;
	int family;
	/* An address, or the variable of the environment that has it. */
	const char *text;
} hosts[] = {
	{ "dev4", AF_INET, "QPATTR_VM_IPV4" },
	{ "dev6", AF_INET6, "QPATTR_VM_IPV6" },
	{ "any4", AF_INET, "0.0.0.0" },
	{ "any6", AF_INET6, "::" },
	{ "lo4", AF_INET, "127.0.0.1" },
	{ "lo6", AF_INET6, "::1" },
	{ "nobody4", AF_INET, "QPATTR_SEQUENCES_NOBODY4" },
	{ "noroute4", AF_INET, "203.0.113.1" },
	{ "noroute6", AF_INET6, "2001:db8:ffff::1" },
	{ "unix", AF_UNIX, NULL },
	{ "none", AF_UNSPEC, NULL },
};

static uint16_t port_read(const char *word)
{
	if (!*word)
		return 0;
	return (uint16_t)(word[1] == 'f' ? world.port_base + atoi(word + 2) : atoi(word + 1));
}

static bool gid_read(union ibv_gid *gid)
{
	FILE *file = fopen("/sys/class/infiniband/rxe0/ports/1/gids/0", "re");
	char text[64] = "";

	if (!file)
		return false;
	bool read = fscanf(file, "%63s", text) == 1 && inet_pton(AF_INET6, text, gid) == 1;
	fclose(file);
	return read;
}

static bool address_ib(const char *port, enum rdma_port_space ps, struct sockaddr_storage *to)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)to;

	ib->sib_family = AF_IB;
	ib->sib_pkey = htobe16(0xffff);
	ib->sib_sid = htobe64((uint64_t)ps << 16 | port_read(port));
	ib->sib_sid_mask = htobe64(port_read(port) ? UINT64_MAX : RDMA_IB_IP_PS_MASK);
	return gid_read((union ibv_gid *)&ib->sib_addr);
}

static bool address_of_slot(const struct slot *slot, struct sockaddr_storage *to)
{
	const struct sockaddr_in *in = (struct sockaddr_in *)to;
	const struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;

	if (slot->id)
		*to = slot->id->route.addr.src_storage;
	uint16_t port = in->sin_port;
	if (!to->ss_family) {
		address_read("dev4:f9", RDMA_PS_TCP, to);
	} else if ((to->ss_family == AF_INET && !in->sin_addr.s_addr) ||
		   (to->ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr))) {
		address_read(to->ss_family == AF_INET ? "dev4" : "dev6", RDMA_PS_TCP, to);
		((struct sockaddr_in *)to)->sin_port = port;
	}
	return true;
}

bool address_read(const char *word, enum rdma_port_space ps, struct sockaddr_storage *to)
{
	size_t length = strcspn(word, ":");
	const char *port = word + length;

	memset(to, 0, sizeof(*to));
	if (slot_named(word))
		return address_of_slot(slot_named(word), to);
	if (!strncmp(word, "ib", length))
		return address_ib(port, ps, to);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		if (strlen(hosts[i].name) != length || strncmp(word, hosts[i].name, length))
			continue;
		const char *text = hosts[i].text && hosts[i].text[0] == 'Q' ? getenv(hosts[i].text) : hosts[i].text;
		void *host = hosts[i].family == AF_INET ? (void *)&((struct sockaddr_in *)to)->sin_addr
							: (void *)&((struct sockaddr_in6 *)to)->sin6_addr;
		to->ss_family = (sa_family_t)hosts[i].family;
		if (text)
			inet_pton(hosts[i].family, text, host);
		((struct sockaddr_in *)to)->sin_port = htons(port_read(port));
		return true;
	}
	return false;
}

/* g0 to g3; g3 is of IPv6. */
bool group_read(const char *word, struct sockaddr_storage *to, int *number)
{
	*number = number_of(word, 'g', GROUPS);
	memset(to, 0, sizeof(*to));
	if (*number < 0)
		return address_read(word, RDMA_PS_UDP, to) && (*number = 0, true);
	if (*number == 3) {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;

		in6->sin6_family = AF_INET6;
		inet_pton(AF_INET6, "ff0e::7:1", &in6->sin6_addr);
	} else {
		struct sockaddr_in *in = (struct sockaddr_in *)to;

		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(0xefc00001U + (unsigned)*number);
	}
	return true;
}

/* What the last call set going is over by then. */
void settle(void)
{
	usleep((useconds_t)world.quiet_us);
}
