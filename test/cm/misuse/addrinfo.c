/* SPDX-License-Identifier: MIT */
/* rdma_getaddrinfo and rdma_freeaddrinfo. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct question {
	const char *name;
	const char *node, *service;
	bool hints, no_result;
	int flags, family, qp_type, port_space;
};

/* "IP" stands for the device's address. */
static const struct question questions[] = {
	{ .name = "result NULL", .node = "IP", .service = "7471", .no_result = true },
	{ .name = "node and service NULL" },
	{ .name = "node and service NULL, hints empty", .hints = true },
	{ .name = "node and service NULL, passive", .hints = true, .flags = RAI_PASSIVE, .port_space = RDMA_PS_TCP },
	{ .name = "hints NULL", .node = "IP", .service = "7471" },
	{ .name = "hints all zero", .node = "IP", .service = "7471", .hints = true },
	{ .name = "service NULL", .node = "IP", .hints = true, .port_space = RDMA_PS_TCP },
	{ .name = "node NULL, active", .service = "7471", .hints = true, .port_space = RDMA_PS_TCP },
	{ .name = "node NULL, passive", .service = "7471", .hints = true, .flags = RAI_PASSIVE, .port_space = RDMA_PS_TCP },
	{ .name = "node empty", .node = "", .service = "7471", .hints = true, .port_space = RDMA_PS_TCP },
	{ .name = "node no address, numeric host", .node = "no address", .service = "7471", .hints = true,
	  .flags = RAI_NUMERICHOST, .port_space = RDMA_PS_TCP },
	{ .name = "node of another family", .node = "IP", .service = "7471", .hints = true,
	  .flags = RAI_FAMILY | RAI_NUMERICHOST, .family = AF_INET6, .port_space = RDMA_PS_TCP },
	{ .name = "family 99, flagged", .node = "IP", .service = "7471", .hints = true, .flags = RAI_FAMILY, .family = 99,
	  .port_space = RDMA_PS_TCP },
	{ .name = "family 99, not flagged", .node = "IP", .service = "7471", .hints = true, .family = 99,
	  .port_space = RDMA_PS_TCP },
	{ .name = "family AF_IB", .node = "IP", .service = "7471", .hints = true, .flags = RAI_FAMILY, .family = 27,
	  .port_space = RDMA_PS_TCP },
	{ .name = "flags unknown", .node = "IP", .service = "7471", .hints = true, .flags = 0x4000, .port_space = RDMA_PS_TCP },
	{ .name = "flags all", .node = "IP", .service = "7471", .hints = true, .flags = -1, .family = AF_INET,
	  .port_space = RDMA_PS_TCP },
	{ .name = "no route", .node = "IP", .service = "7471", .hints = true, .flags = RAI_NOROUTE, .port_space = RDMA_PS_TCP },
	{ .name = "service a name that is none", .node = "IP", .service = "no-such-service", .hints = true,
	  .port_space = RDMA_PS_TCP },
	{ .name = "service 99999", .node = "IP", .service = "99999", .hints = true, .port_space = RDMA_PS_TCP },
	{ .name = "service -1", .node = "IP", .service = "-1", .hints = true, .port_space = RDMA_PS_TCP },
	{ .name = "service empty", .node = "IP", .service = "", .hints = true, .port_space = RDMA_PS_TCP },
	{ .name = "port space 99", .node = "IP", .service = "7471", .hints = true, .port_space = 99 },
	{ .name = "port space -1", .node = "IP", .service = "7471", .hints = true, .port_space = -1 },
	{ .name = "port space UDP", .node = "IP", .service = "7471", .hints = true, .port_space = RDMA_PS_UDP },
	{ .name = "port space IB", .node = "IP", .service = "7471", .hints = true, .port_space = RDMA_PS_IB },
	{ .name = "port space IPOIB", .node = "IP", .service = "7471", .hints = true, .port_space = RDMA_PS_IPOIB },
	{ .name = "qp type 99", .node = "IP", .service = "7471", .hints = true, .qp_type = 99 },
	{ .name = "qp type UC", .node = "IP", .service = "7471", .hints = true, .qp_type = IBV_QPT_UC },
	{ .name = "qp type XRC_SEND", .node = "IP", .service = "7471", .hints = true, .qp_type = IBV_QPT_XRC_SEND },
	{ .name = "qp type UD alone", .node = "IP", .service = "7471", .hints = true, .qp_type = IBV_QPT_UD },
	{ .name = "qp type UD in TCP", .node = "IP", .service = "7471", .hints = true, .qp_type = IBV_QPT_UD,
	  .port_space = RDMA_PS_TCP },
	{ .name = "qp type RC in UDP", .node = "IP", .service = "7471", .hints = true, .qp_type = IBV_QPT_RC,
	  .port_space = RDMA_PS_UDP },
};

static void note_result(const struct rdma_addrinfo *info)
{
	char text[128];

	snprintf(text, sizeof(text), "flags:%x,family:%d,qp:%d,ps:%x,src:%u,dst:%u,next:%d", (unsigned)info->ai_flags,
		 info->ai_family, info->ai_qp_type, (unsigned)info->ai_port_space, (unsigned)info->ai_src_len,
		 (unsigned)info->ai_dst_len, info->ai_next != NULL);
	attempt_note("result", text);
}

static void ask(const struct misuse *self)
{
	const struct question *question = self->p;
	struct rdma_addrinfo hints, *result;
	const char *node = question->node;

	memset(&hints, 0, sizeof(hints));
	hints.ai_flags = question->flags;
	hints.ai_family = question->family;
	hints.ai_qp_type = question->qp_type;
	hints.ai_port_space = question->port_space;
	if (node && !strcmp(node, "IP"))
		node = getenv("QPATTR_VM_IPV4");
	output_fill(&result, sizeof(result));
	attempt_begin();
	int status = rdma_getaddrinfo(node, question->service, question->hints ? &hints : NULL,
				      question->no_result ? NULL : &result);
	attempt_end_int(status);
	output_check(&result, sizeof(result));
	if (!status && !question->no_result && result) {
		note_result(result);
		rdma_freeaddrinfo(result);
	}
}

/* Hints whose addresses do not fit. a: source length, b: destination length, c: family,
 * d: 1 a source pointer, 2 a destination pointer, 4 an address as node. */
static void ask_addresses(const struct misuse *self)
{
	struct rdma_addrinfo hints, *result;
	struct sockaddr_storage from, to;

	memset(&hints, 0, sizeof(hints));
	memset(&from, 0, sizeof(from));
	memset(&to, 0, sizeof(to));
	memcpy(&from, address_ipv4(0), sizeof(struct sockaddr_in));
	memcpy(&to, address_ipv4(7471), sizeof(struct sockaddr_in));
	from.ss_family = to.ss_family = (sa_family_t)self->c;
	hints.ai_port_space = RDMA_PS_TCP;
	hints.ai_src_len = (socklen_t)self->a;
	hints.ai_dst_len = (socklen_t)self->b;
	if (self->d & 1)
		hints.ai_src_addr = (struct sockaddr *)&from;
	if (self->d & 2)
		hints.ai_dst_addr = (struct sockaddr *)&to;
	output_fill(&result, sizeof(result));
	attempt_begin();
	int status = rdma_getaddrinfo(self->d & 4 ? getenv("QPATTR_VM_IPV4") : NULL, self->d & 4 ? "7471" : NULL, &hints,
				      &result);
	attempt_end_int(status);
	output_check(&result, sizeof(result));
	if (!status && result)
		note_result(result);
}

static void free_it(const struct misuse *self)
{
	struct rdma_addrinfo *result = NULL;

	if (self->a == 1)
		result = calloc(1, sizeof(*result));
	else if (self->a == 2) {
		MUST(!rdma_getaddrinfo(getenv("QPATTR_VM_IPV4"), "7471", NULL, &result));
		rdma_freeaddrinfo(result);
	}
	TRY_VOID(rdma_freeaddrinfo(result));
}

void cases_of_addrinfo(struct misuse_list *list)
{
	static const struct {
		const char *name;
		int from, to, family, given;
	} hints[] = {
		{ "hints with source and length", 16, 0, AF_INET, 1 | 4 },
		{ "hints with source, length 0", 0, 0, AF_INET, 1 | 4 },
		{ "hints with source, length 1", 1, 0, AF_INET, 1 | 4 },
		{ "hints with source of family 99", 16, 0, 99, 1 | 4 },
		{ "hints with source length, no source", 16, 0, AF_INET, 4 },
		{ "hints with destination alone", 0, 16, AF_INET, 2 },
		{ "hints with destination, length 1", 0, 1, AF_INET, 2 },
		{ "hints with destination, length 0", 0, 0, AF_INET, 2 },
		{ "hints with destination of family 99", 0, 16, 99, 2 },
		{ "hints with destination length, no destination", 0, 16, AF_INET, 4 },
	};

	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		misuse_add(list, "rdma_getaddrinfo", ask, "%s", questions[i].name)->p = &questions[i];
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++) {
		struct misuse *added = misuse_add(list, "rdma_getaddrinfo", ask_addresses, "%s", hints[i].name);
		added->a = hints[i].from;
		added->b = hints[i].to;
		added->c = hints[i].family;
		added->d = hints[i].given;
	}
	misuse_add(list, "rdma_freeaddrinfo", free_it, "result NULL");
	misuse_add(list, "rdma_freeaddrinfo", free_it, "of nobody, all zero")->a = 1;
	struct misuse *added = misuse_add(list, "rdma_freeaddrinfo", free_it, "twice");
	added->a = 2;
	added->mark = MARK_UNDEFINED;
}
