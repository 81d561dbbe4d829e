/* SPDX-License-Identifier: MIT */
/* What the steps of a sequence act on: channels c0.., ids i0.., held events e0..,
 * each in a slot whose name is the same for every library. */
#ifndef SEQUENCES_WORLD_H
#define SEQUENCES_WORLD_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

/* Where an id stands, as far as results and events tell that both libraries show. */
enum stage {
	IDLE,
	BOUND,
	LISTENING,
	RESOLVING,
	ADDR_RESOLVED,
	ROUTE_RESOLVED,
	CONNECTING,
	RESPONDED,
	REQUESTED,
	ACCEPTED,
	ESTABLISHED,
	DISCONNECTED,
	ENDED,
};

struct call;

struct slot {
	char name[8];
	struct rdma_cm_id *id;
	enum stage stage;
	bool sync;
	/* Its second address may be one too many before the event of the first is read. */
	bool may_fail;
	/* Events that were read of it and not acknowledged. */
	int held;
	/* The call that is under way in a thread of its own. */
	struct call *busy;
};

struct channel_slot {
	char name[8];
	struct rdma_event_channel *channel;
};

struct event_slot {
	char name[8];
	struct rdma_cm_event *event;
	/* Whose destruction waits for it. */
	struct slot *counted;
};

enum { ID_SLOTS = 12, CHANNEL_SLOTS = 4, EVENT_SLOTS = 4, GROUPS = 4 };

struct world {
	struct slot ids[ID_SLOTS];
	struct channel_slot channels[CHANNEL_SLOTS];
	struct event_slot events[EVENT_SLOTS];
	/* What multicast events bring back. */
	char contexts[GROUPS];
	/* Ports base to base + 9 are this sequence's. */
	uint16_t port_base;
	/* How long what happens by itself is waited for. */
	int quiet_us;
};

extern struct world world;

void world_begin(uint16_t port_base, int quiet_us);

/* By name; NULL if there is no such slot. */
struct slot *slot_named(const char *name);
struct channel_slot *channel_named(const char *name);
struct event_slot *event_named(const char *name);
struct slot *slot_of(const struct rdma_cm_id *id);
/* An empty one: the one that is wished for, or the last. */
struct slot *slot_empty(const char *wished);
int ids_on(const struct rdma_event_channel *channel);

bool is_datagram(const struct rdma_cm_id *id);

/* The names in world.c (nobody4: a neighbour that never answers) and ib, each with :PORT or
 * :fN (a port of the sequence's own); iN is where that id is; - is none (false). */
bool address_read(const char *word, enum rdma_port_space ps, struct sockaddr_storage *to);
bool group_read(const char *word, struct sockaddr_storage *to, int *number);

void settle(void);

#endif
