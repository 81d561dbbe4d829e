/* SPDX-License-Identifier: MIT */
/* What ten thousand ids and a thousand connections leave behind: nothing. */
#include "../programs/check.h"
#include "ends.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int descriptors(void)
{
	DIR *list = HAVE(opendir("/proc/self/fd"));
	int count = 0;

	while (readdir(list))
		count++;
	closedir(list);
	return count;
}

static int ids_in_the_kernel(void)
{
	FILE *list = HAVE(popen("rdma resource show cm_id 2>/dev/null | wc -l", "r"));
	int count = -1;

	if (fscanf(list, "%d", &count) != 1)
		count = -1;
	pclose(list);
	return count;
}

static size_t bytes(void)
{
	struct mallinfo2 now = mallinfo2();

	return now.uordblks + now.hblkhd;
}

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
	char name[100];
	int fds, ids, fds_after, ids_after;
	size_t heap, heap_after;

	for (int at = 0; at < 40; at++)
		once(argument);
	ids = ids_in_the_kernel();
	fds = descriptors();
	heap = bytes();
	for (int at = 0; at < count; at++)
		once(argument);
	/* Before anything is printed, which takes memory too. */
	heap_after = bytes();
	fds_after = descriptors();
	ids_after = ids_in_the_kernel();
	snprintf(name, sizeof name, "%d %s leave no descriptor", count, what);
	check(fds_after == fds, name, "%d before, %d after", fds, fds_after);
	snprintf(name, sizeof name, "%d %s leave no byte", count, what);
	check(heap_after == heap, name, "%zu before, %zu after", heap, heap_after);
	snprintf(name, sizeof name, "%d %s leave no id in the kernel", count, what);
	check(ids > 0 && ids_after == ids, name, "%d before, %d after", ids, ids_after);
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
