/* SPDX-License-Identifier: MIT */
/* Steps of which the first that fails is told, and ends what it is part of. */
#pragma once

#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

enum { untouched = 12345, patience_ms = 3000 };

/* Of either thread. */
extern int failed;

/* 0, after saying so if it is the first. */
int failed_at(const char *step, int error);

/* A step that returns -1 and errno. */
#define STEP(name, ...) (errno = untouched, (name(__VA_ARGS__)) ? failed_at(#name, errno) : 1)
/* One that returns a pointer. */
#define MADE(to, name, ...) (errno = untouched, ((to) = name(__VA_ARGS__)) ? 1 : failed_at(#name, errno))

/* The event that was awaited; acknowledged. A request's id is kept. */
int event_comes(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, struct rdma_cm_id **request);

/* A request whose id cannot be queried is refused, and who reads it waits for the next. */
int does_not_wait(struct rdma_event_channel *channel);

/* With its QP, if there is an id. What cannot be for a fault can be at the second try. */
void destroy(struct rdma_cm_id *id);

/* What connections, and their QPs of the type, are made with. */
extern const struct rdma_conn_param usual;
struct ibv_qp_init_attr small_qp(enum ibv_qp_type type);

/* Of the device, from the environment. */
struct sockaddr_in device_address(void);
