/* SPDX-License-Identifier: MIT */
/* Operations on ids: from rdma_create_id() to rdma_destroy_id(), without connections. */
#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../programs/dump.h"

static enum rdma_port_space port_space(const char *word)
{
	static const struct {
		const char *name;
		enum rdma_port_space ps;
	} spaces[] = { { "tcp", RDMA_PS_TCP }, { "udp", RDMA_PS_UDP }, { "ib", RDMA_PS_IB }, { "ipoib", RDMA_PS_IPOIB } };

	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
		if (!strcmp(spaces[i].name, word))
			return spaces[i].ps;
	return (enum rdma_port_space)strtol(word, NULL, 0);
}

/* --- id ------------------------------------------------------------------ */

static const char *prepare_id(struct call *call)
{
	struct slot *slot = slot_named(call->word[1]);
	struct channel_slot *channel = channel_named(call->word[2]);

	if (!slot || slot->id)
		return "taken";
	if (strcmp(call->word[2], "sync") && (!channel || !channel->channel))
		return "no such channel";
	call->channel = channel ? channel->channel : NULL;
	return NULL;
}

static int make_id(struct call *call)
{
	return rdma_create_id(call->channel, &call->made, &world.contexts[0], port_space(call->word[3]));
}

static void after_id(struct call *call)
{
	struct slot *slot = slot_named(call->word[1]);

	if (call->result) {
		detail("output %s", pointer_text(call->made).s);
		return;
	}
	slot->id = call->made;
	slot->stage = IDLE;
	slot->sync = !call->channel;
	slot->held = 0;
	slot->may_fail = false;
	call->slot = slot;
}

/* --- destroy ------------------------------------------------------------- */

static void gone(struct slot *slot)
{
	slot->id = NULL;
	slot->held = 0;
}

static int make_destroy(struct call *call)
{
	return rdma_destroy_id(call->slot->id);
}

static void after_destroy(struct call *call)
{
	if (call->result)
		return;
	dump_forget(call->slot->id);
	gone(call->slot);
}

static int make_destroy_ep(struct call *call)
{
	rdma_destroy_ep(call->slot->id);
	return 0;
}

/* --- addresses ----------------------------------------------------------- */

static const char *read_address(struct call *call, int word, int number)
{
	return address_read(call->word[word], call->slot->id->ps, &call->address[number]) ? NULL : "no such address";
}

static struct sockaddr *address(struct call *call, int number)
{
	return (struct sockaddr *)&call->address[number];
}

static const char *prepare_bind(struct call *call)
{
	return read_address(call, 2, 0);
}

static int make_bind(struct call *call)
{
	return rdma_bind_addr(call->slot->id, address(call, 0));
}

static void after_bind(struct call *call)
{
	if (!call->result && call->slot->stage == IDLE)
		call->slot->stage = BOUND;
}

static const char *prepare_resolve_addr(struct call *call)
{
	if (strcmp(call->word[2], "-")) {
		const char *bad = read_address(call, 2, 1);

		if (bad)
			return bad;
	}
	if (call->slot->may_fail)
		return "avoided: address unread";
	return read_address(call, 3, 0);
}

static int make_resolve_addr(struct call *call)
{
	bool source = strcmp(call->word[2], "-");

	return rdma_resolve_addr(call->slot->id, source ? address(call, 1) : NULL, address(call, 0), atoi(call->word[4]));
}

static void after_resolve_addr(struct call *call)
{
	struct slot *slot = call->slot;

	if (slot->sync)
		slot->stage = call->result ? slot->stage : ADDR_RESOLVED;
	else if (!call->result)
		slot->stage = RESOLVING;
	if (!slot->sync)
		slot->may_fail = !call->result;
}

static int make_resolve_route(struct call *call)
{
	return rdma_resolve_route(call->slot->id, atoi(call->word[2]));
}

static void after_resolve_route(struct call *call)
{
	if (call->slot->sync && !call->result)
		call->slot->stage = ROUTE_RESOLVED;
}

/* --- channels ------------------------------------------------------------ */

static const char *prepare_migrate(struct call *call)
{
	struct channel_slot *channel = channel_named(call->word[2]);

	if (!strcmp(call->word[2], "sync"))
		return NULL;
	if (!channel || !channel->channel)
		return "no such channel";
	call->channel = channel->channel;
	return NULL;
}

static int make_migrate(struct call *call)
{
	return rdma_migrate_id(call->slot->id, call->channel);
}

static void after_migrate(struct call *call)
{
	if (!call->result)
		call->slot->sync = !call->channel;
}

/* --- options ------------------------------------------------------------- */

static int make_option(struct call *call)
{
	uint64_t value = strtoull(call->word[5], NULL, 0);

	return rdma_set_option(call->slot->id, atoi(call->word[2]), atoi(call->word[3]), &value, (size_t)atoi(call->word[4]));
}

static int make_local_ece(struct call *call)
{
	struct ibv_ece ece = { .vendor_id = (uint32_t)atoi(call->word[2]), .options = 5 };

	return rdma_set_local_ece(call->slot->id, &ece);
}

/* --- groups -------------------------------------------------------------- */

static const char *prepare_group(struct call *call)
{
	int number;

	return group_read(call->word[2], &call->address[0], &number) ? NULL : "no such group";
}

static int make_join(struct call *call)
{
	struct sockaddr_storage ignored;
	int number;

	group_read(call->word[2], &ignored, &number);
	return rdma_join_multicast(call->slot->id, address(call, 0), &world.contexts[number]);
}

static int make_join_ex(struct call *call)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = (uint32_t)atoi(call->word[3]),
		.addr = address(call, 0),
	};

	return rdma_join_multicast_ex(call->slot->id, &attr, &world.contexts[1]);
}

static int make_leave(struct call *call)
{
	return rdma_leave_multicast(call->slot->id, address(call, 0));
}

/* clang-format off */
const struct operation id_operations[] = {
	/* name            on        words prepare               make                after                waits  stirs */
	{ "id",            ON_WORLD,  3,    prepare_id,           make_id,            after_id,            false, false },
	{ "destroy",       ON_ID,     1,    NULL,                 make_destroy,       after_destroy,       false, true },
	{ "destroy_ep",    ON_ID,     1,    NULL,                 make_destroy_ep,    after_destroy,       false, true },
	{ "bind",          ON_ID,     2,    prepare_bind,         make_bind,          after_bind,          false, false },
	{ "resolve_addr",  ON_ID,     4,    prepare_resolve_addr, make_resolve_addr,  after_resolve_addr,  true,  true },
	{ "resolve_route", ON_DEVICE, 2,    NULL,                 make_resolve_route, after_resolve_route, true,  true },
	{ "migrate",       ON_ID,     2,    prepare_migrate,      make_migrate,       after_migrate,       false, false },
	{ "option",        ON_ID,     5,    NULL,                 make_option,        NULL,                false, false },
	{ "local_ece",     ON_ID,     2,    NULL,                 make_local_ece,     NULL,                false, false },
	{ "join",          ON_ID,     2,    prepare_group,        make_join,          NULL,                true,  true },
	{ "join_ex",       ON_ID,     3,    prepare_group,        make_join_ex,       NULL,                true,  true },
	{ "leave",         ON_ID,     2,    prepare_group,        make_leave,         NULL,                false, false },
	{ NULL,            ON_WORLD,  0,    NULL,                 NULL,               NULL,                false, false },
};
/* clang-format on */
