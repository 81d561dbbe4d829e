/* SPDX-License-Identifier: MIT */
/* What the scenarios of fields have in common. */
#pragma once

#include <string.h>
#include <rdma/rdma_verbs.h>
#include "dump.h"
#include "party.h"

#define SHOW(id) dump_id(id, #id)
#define SETTLE(id) dump_settled(id, #id)

/* A scenario is both parties' part; ports base to base + 9 are its own. */
struct scenario {
	const char *name;
	const char *families; /* of "46i", those that it is for */
	void (*run)(struct party *party, uint16_t base);
};

extern const struct scenario rc_scenarios[], own_scenarios[], sync_scenarios[], datagram_scenarios[], ib_scenarios[], misuse_scenarios[],
	failure_scenarios[];

/* A named channel; the next one has another name. */
struct rdma_event_channel *fields_channel(void);
void fields_channel_end(struct rdma_event_channel *channel);

/* Takes the next event, shows it, its id, and the id after it is acknowledged. NULL if none comes. */
struct rdma_cm_id *fields_event(struct rdma_event_channel *channel, const char *id_name);
#define EVENT(channel, id) fields_event(channel, #id)

/* An id of RDMA_PS_TCP that listens at the party's address. */
struct rdma_cm_id *fields_listener(struct party *party, struct rdma_event_channel *channel, uint16_t base);

void fields_destroy(struct rdma_cm_id *id);
struct ibv_qp_init_attr fields_qp(enum ibv_qp_type type);
/* Distinct values in every field, so that two that change places show. */
struct rdma_conn_param fields_param(const char *private_data, uint8_t responder_resources, uint8_t initiator_depth);

struct sockaddr *fields_address(struct party *party, enum rdma_port_space ps, uint16_t port);
struct sockaddr *fields_wildcard(struct party *party, enum rdma_port_space ps, uint16_t port);
