/* SPDX-License-Identifier: MIT */
/* An id in a chosen state, and the other side that it takes to get there. */
#ifndef MISUSE_SCENE_H
#define MISUSE_SCENE_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>

enum stage {
	CREATED,
	BOUND_ANY,
	BOUND,
	LISTENING_ANY,
	LISTENING,
	ADDR_UNREAD,
	ADDR,
	ROUTE,
	CONNECTING,
	RESPONSE,
	ESTABLISHED,
	DISCONNECTING,
	DISCONNECTED,
	REJECTED,
	REQUEST,
	ACCEPTED,
	PASSIVE_ESTABLISHED,
	PASSIVE_DISCONNECTED,
	PASSIVE_REJECTED,
	STAGES
};

struct setting {
	enum stage stage;
	enum rdma_port_space ps;
	/* The id under test has a QP made by rdma_create_qp. */
	bool qp;
	/* The id was made without a channel. */
	bool sync;
};

struct scene {
	struct setting setting;
	/* NULL for a sync id. */
	struct rdma_event_channel *channel;
	struct rdma_event_channel *peer_channel;
	struct rdma_cm_id *id, *peer, *listener;
};

/* "RC addr-resolved with qp" and so on; good until the next call. */
const char *setting_text(const struct setting *setting);
/* Whether the setting exists: no QP without a device, no disconnect of UD... */
bool setting_exists(const struct setting *setting);

void scene_set(struct scene *scene, const struct setting *setting);

/* The addresses of the device, with port in host order. */
struct sockaddr *address_ipv4(unsigned short port);
struct sockaddr *address_ipv6(unsigned short port);
/* One beside the device's that nobody has. */
struct sockaddr *address_nobody(void);
/* 0.0.0.0, port 0. */
struct sockaddr *address_any(void);

/* What a good call would be given. */
void good_qp_attr(struct ibv_qp_init_attr *attr, enum ibv_qp_type type);
void good_conn_param(struct rdma_conn_param *param);
/* A parameter without private data, for whose id has no QP: a QP number that nobody else uses. */
unsigned int unused_qp_num(void);

/* Waits for the event, which must be of that type, and acknowledges it. */
void scene_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* The id of the connection request that comes next. */
struct rdma_cm_id *scene_request(struct rdma_event_channel *channel);
/* Waits until an event is there, and leaves it. */
void scene_await(struct rdma_event_channel *channel);
/* The event that comes within ms milliseconds, acknowledged, as its name ("none" else). */
const char *scene_next_event(struct rdma_event_channel *channel, int ms);

#endif
