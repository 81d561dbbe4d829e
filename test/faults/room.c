/* SPDX-License-Identifier: MIT */
#include "room.h"

#include "steps.h"

#include "../cm/programs/events.h"

#include <malloc.h>
#include <stdio.h>

/* More than the first allocation of any of them is for. */
enum { most_channels = 80, most = 20 };

static struct rdma_event_channel *channels[most_channels];
static struct rdma_cm_id *ids[most];
static struct rdma_cm_event *events[most];
static struct sockaddr_in there, group = {.sin_family = AF_INET};
static struct rdma_cm_id *member;

static int one_channel(int at) { return !!(channels[at] = rdma_create_event_channel()); }
static int one_id(int at) { return !rdma_create_id(channels[0], &ids[at], NULL, RDMA_PS_TCP); }
static int one_event(int at) { return !!(events[at] = event_next(channels[0], patience_ms)); }
static int one_group(int at)
{
	group.sin_addr.s_addr = htonl(0xef070800U + (unsigned)at); /* 239.7.8.0 and so on */
	return !rdma_join_multicast(member, (struct sockaddr *)&group, NULL);
}

/* Makes so many; *room is how many there were before the first that was allocated. */
static int many(int (*one)(int at), int count, int *room)
{
	int at = 0;

	*room = -1;
	for (size_t bytes = mallinfo2().uordblks; at < count && one(at); at++, bytes = mallinfo2().uordblks)
		if (mallinfo2().uordblks > bytes && *room < 0)
			*room = at;
	return at;
}

/* On an id that has one already: the first makes room on the id. */
static int groups(void)
{
	struct ibv_qp_init_attr init = {.cap = {2, 2, 1, 1, 0}, .qp_type = IBV_QPT_UD};
	int room = -1;

	if (!rdma_create_id(channels[0], &member, NULL, RDMA_PS_UDP)) {
		if (!rdma_bind_addr(member, (struct sockaddr *)&there) && !rdma_create_qp(member, NULL, &init) && one_group(most))
			many(one_group, most, &room);
		destroy(member);
	}
	return room;
}

void tell_room(void)
{
	int room_channels, room_ids = -1, room_events, opened, made, came;

	there = device_address();
	there.sin_port = 7;
	opened = many(one_channel, most_channels, &room_channels);
	made = opened ? many(one_id, most, &room_ids) : 0;
	for (int at = 0; at < made; at++)
		rdma_resolve_addr(ids[at], NULL, (struct sockaddr *)&there, 2000);
	came = many(one_event, made, &room_events);
	for (int at = 0; at < came; at++)
		rdma_ack_cm_event(events[at]);
	for (int at = 0; at < made; at++)
		rdma_destroy_id(ids[at]);
	there.sin_port = 0;
	printf("room for %d channels, %d ids, %d events, %d groups\n", room_channels, room_ids, room_events, groups());
	for (int at = 0; at < opened; at++)
		rdma_destroy_event_channel(channels[at]);
}
