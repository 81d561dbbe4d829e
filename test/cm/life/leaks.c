/* SPDX-License-Identifier: MIT */
/* What ten thousand ids and a thousand connections leave behind: nothing. */
#include "../programs/check.h"
#include "../programs/leftovers.h"
#include "ends.h"

#include <stdio.h>

static void one_id(struct rdma_event_channel *channel)
{
	struct sockaddr_in here = machine_address(0);
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(id, (struct sockaddr *)&here));
	MUST(rdma_destroy_id(id));
}

static void one_connection(struct ends *it)
{
	ends_route(it);
	ends_request(it);
	ends_response(it);
	ends_establish(it);
	MUST(rdma_destroy_id(it->active));
	must_be(it->at_passive, RDMA_CM_EVENT_DISCONNECTED);
	MUST(rdma_destroy_id(it->passive));
	it->active = it->passive = NULL;
}

static void repeat(const char *what, int count, void (*once)(void *), void *argument)
{
	struct leftovers before, after;
	char name[100];

	for (int at = 0; at < 40; at++)
		once(argument);
	leftovers_count(&before);
	for (int at = 0; at < count; at++)
		once(argument);
	/* Before anything is printed, which takes memory too. */
	leftovers_count(&after);
	snprintf(name, sizeof name, "%d %s leave no descriptor", count, what);
	check(before.descriptors > 0 && after.descriptors == before.descriptors, name, "%d before, %d after",
	      before.descriptors, after.descriptors);
	snprintf(name, sizeof name, "%d %s leave no byte", count, what);
	check(after.heap_bytes == before.heap_bytes, name, "%zu before, %zu after", before.heap_bytes, after.heap_bytes);
	snprintf(name, sizeof name, "%d %s leave no id in the kernel", count, what);
	/* The listener is one. */
	check(before.ids > 0 && after.ids == before.ids, name, "%d before, %d after", before.ids, after.ids);
}

static void once_id(void *it) { one_id(((struct ends *)it)->at_active); }
static void once_own_channel(void *unused)
{
	(void)unused;
	one_id(NULL);
}
static void once_connection(void *it) { one_connection(it); }

int main(void)
{
	struct ends it;

	setvbuf(stdout, NULL, _IOLBF, 0);
	check_prefix("leaks: ");
	ends_listen(&it);
	repeat("ids", 10000, once_id, &it);
	repeat("ids with a channel of their own", 1000, once_own_channel, &it);
	repeat("connections", 1000, once_connection, &it);
	ends_close(&it);
	return check_status();
}
