/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "symbols.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/ib.h>

static struct {
	const char *kind;
	uint64_t value;
	int number;
} seen[512];
static int seen_count;
static uint16_t port_base;

static struct {
	const void *pointer;
	const char *name;
} names[128];

struct text symbol(const char *kind, uint64_t value)
{
	struct text text = {"0"};
	int number = 1;

	if (!value)
		return text;
	for (int i = 0; i < seen_count; i++) {
		if (strcmp(seen[i].kind, kind))
			continue;
		if (seen[i].value == value) {
			snprintf(text.s, sizeof text.s, "%s%d", kind, seen[i].number);
			return text;
		}
		number = seen[i].number + 1;
	}
	if (seen_count < 512) {
		seen[seen_count].kind = kind;
		seen[seen_count].value = value;
		seen[seen_count++].number = number;
	}
	snprintf(text.s, sizeof text.s, "%s%d", kind, number);
	return text;
}

void symbol_port_base(uint16_t base) { port_base = base; }

struct text symbol_port(uint16_t port)
{
	struct text text;

	if (port < port_base || port >= port_base + 100)
		return symbol("port", port);
	snprintf(text.s, sizeof text.s, "base+%d", port - port_base);
	return text;
}

void pointer_name(const void *pointer, const char *name)
{
	if (!pointer)
		return;
	pointer_forget(pointer);
	for (int i = 0; i < 128; i++) {
		if (!names[i].pointer) {
			names[i].pointer = pointer;
			names[i].name = name;
			return;
		}
	}
}

void pointer_forget(const void *pointer)
{
	for (int i = 0; i < 128; i++)
		if (names[i].pointer == pointer)
			names[i].pointer = NULL;
}

struct text pointer_text(const void *pointer)
{
	struct text text = {"null"};

	if (!pointer)
		return text;
	for (int i = 0; i < 128; i++) {
		if (names[i].pointer == pointer) {
			snprintf(text.s, sizeof text.s, "%s", names[i].name);
			return text;
		}
	}
	strcpy(text.s, "set");
	return text;
}

struct text gid_text(const void *gid)
{
	struct text text;
	const uint8_t *bytes = gid;

	/* Made of the link's address, which is random. */
	if (bytes[0] == 0xfe && bytes[1] == 0x80) {
		strcpy(text.s, "link-local");
		return text;
	}
	inet_ntop(AF_INET6, gid, text.s, sizeof text.s);
	return text;
}

struct text address_text(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)address;
	char host[INET6_ADDRSTRLEN];
	struct text text;

	if (!address) {
		strcpy(text.s, "null");
		return text;
	}
	switch (address->sa_family) {
	case AF_INET:
		snprintf(text.s, sizeof text.s, "IPv4 %s port %s", inet_ntop(AF_INET, &in->sin_addr, host, sizeof host),
			symbol_port(ntohs(in->sin_port)).s);
		break;
	case AF_INET6:
		snprintf(text.s, sizeof text.s, "IPv6 %s port %s flowinfo %#x scope %u", gid_text(&in6->sin6_addr).s,
			symbol_port(ntohs(in6->sin6_port)).s, ntohl(in6->sin6_flowinfo), in6->sin6_scope_id);
		break;
	case AF_IB:
		snprintf(text.s, sizeof text.s, "IB %s pkey %#x flowinfo %#x sid %#llx+%s mask %#llx scope %llu", gid_text(&ib->sib_addr).s,
			be16toh(ib->sib_pkey), be32toh(ib->sib_flowinfo), (unsigned long long)be64toh(ib->sib_sid) >> 16,
			symbol_port((uint16_t)be64toh(ib->sib_sid)).s, (unsigned long long)be64toh(ib->sib_sid_mask),
			(unsigned long long)ib->sib_scope_id);
		break;
	default:
		snprintf(text.s, sizeof text.s, "family %d", address->sa_family);
	}
	return text;
}

struct text bytes_text(const void *bytes, size_t length)
{
	const uint8_t *byte = bytes;
	struct text text = {"zeros"};
	size_t shown;

	while (length && !byte[length - 1])
		length--;
	shown = length < 40 ? length : 40;
	for (size_t i = 0; i < shown; i++)
		sprintf(text.s + 2 * i, "%02x", byte[i]);
	if (shown < length)
		sprintf(text.s + 2 * shown, "... (%zu)", length);
	return text;
}

struct text result_text(long result, int error)
{
	struct text text;
	const char *name = strerrorname_np(error);

	/* Some are the kernel's own, such as 524, ENOTSUPP. */
	if (result == -1 && name)
		snprintf(text.s, sizeof text.s, "= -1 %s", name);
	else if (result == -1)
		snprintf(text.s, sizeof text.s, "= -1 errno %d", error);
	else
		snprintf(text.s, sizeof text.s, "= %ld", result);
	return text;
}
