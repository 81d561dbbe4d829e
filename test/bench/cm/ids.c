/* SPDX-License-Identifier: MIT */
/*
 * Memory of an id, with malloc as its own witness.
 * ids ADDRESS
 *
 * Prints, tab-separated: what, bytes from an id to its nearest neighbour, bytes of
 * the heap for each more id (with tables, and malloc's own 8 or more), for
 *   created   1000 ids on one channel
 *   resolved  those with address and route resolved
 * and the object.
 */
#include "test/bench/cm/common.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { first_ids = 8, more_ids = 1000 };

/* Not in the heap that is measured. */
static struct rdma_cm_id *ids[first_ids + more_ids];
static struct rdma_event_channel *channel;

static size_t heap(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void resolve(int from, int to, struct sockaddr_in address)
{
	for (int i = from; i < to; i++) {
		struct rdma_cm_event *event;

		if (rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)&address, 10000) ||
		    rdma_get_cm_event(channel, &event))
			die("rdma_resolve_addr");
		rdma_ack_cm_event(event);
		if (rdma_resolve_route(ids[i], 10000) || rdma_get_cm_event(channel, &event))
			die("rdma_resolve_route");
		if (event->event != RDMA_CM_EVENT_ROUTE_RESOLVED)
			die(rdma_event_str(event->event));
		rdma_ack_cm_event(event);
	}
}

static void create(int from, int to)
{
	for (int i = from; i < to; i++)
		if (rdma_create_id(channel, &ids[i], NULL, RDMA_PS_TCP))
			die("rdma_create_id");
}

/* No id reaches into another: not more than the least distance of two. */
static size_t one_id(void)
{
	size_t least = SIZE_MAX;

	for (int i = first_ids; i < first_ids + more_ids; i++)
		for (int k = first_ids; k < i; k++) {
			const char *a = (const char *)ids[i], *b = (const char *)ids[k];
			const size_t apart = (size_t)(a > b ? a - b : b - a);

			if (apart < least)
				least = apart;
		}
	return least;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address;
	size_t before, created, resolved;

	if (argc != 2) {
		fprintf(stderr, "usage: ids ADDRESS\n");
		return 2;
	}
	address = parse_address(argv[1]);
	address.sin_port = htons(7471);
	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	/* What is opened and allocated once. */
	create(0, first_ids);
	resolve(0, first_ids, address);

	before = heap();
	create(first_ids, first_ids + more_ids);
	created = heap();
	resolve(first_ids, first_ids + more_ids, address);
	resolved = heap();
	printf("created\t%zu\t%.1f\t%s\n", one_id(), (double)(created - before) / more_ids, library());
	printf("resolved\t%zu\t%.1f\t%s\n", one_id(), (double)(resolved - before) / more_ids, library());
	for (int i = 0; i < first_ids + more_ids; i++)
		if (rdma_destroy_id(ids[i]))
			die("rdma_destroy_id");
	rdma_destroy_event_channel(channel);
	return 0;
}
