/* SPDX-License-Identifier: MIT */
/* A way to make a connection, and the parts of pingpong that have a file of their own. */
#pragma once

#include "endpoint.h"

struct variant {
	const char *name;
	int private_bytes; /* -1: none; more than the most is the most */
	int sync, own_qp, migrate, server_leaves, timewait, options, ece;
	long rounds;
};

/* With ids that have no channel: rdma_getaddrinfo, rdma_create_ep, rdma_get_request. */
void pingpong_sync(struct party *party, const struct variant *v, uint16_t port,
	struct rdma_conn_param (*parameters)(const struct variant *, int of_server),
	void (*check_private)(const struct variant *, const struct rdma_conn_param *, int of_server),
	void (*play)(struct endpoint *, const struct variant *, int server));

/* REUSEADDR and AFONLY: who may have a port that another has. */
void check_sharing(struct rdma_event_channel *channel, struct party *party, uint16_t port);
