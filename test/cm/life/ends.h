/* SPDX-License-Identifier: MIT */
/* Both ends of a connection in one process, without QPs: the kernel asks for none. */
#pragma once

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

struct ends {
	struct rdma_event_channel *at_active, *at_passive;
	struct rdma_cm_id *listener, *active, *passive;
};

/* QPATTR_VM_IPV4, with the port of the listener or 0. */
struct sockaddr_in machine_address(unsigned short port_be);

/* Each goes on from the one before; the program ends where one cannot. */
void ends_listen(struct ends *);    /* a listener */
void ends_route(struct ends *);     /* the active id has a route to it */
void ends_request(struct ends *);   /* connecting; the passive side has the request */
void ends_response(struct ends *);  /* accepted; the active side has the answer */
void ends_establish(struct ends *); /* established, and both know */
void ends_close(struct ends *);	    /* in every state */

/* A QP number that no connection of this program has. */
uint32_t fresh_qpn(void);
/* Parameters of a connection whose QP is somebody else's. */
struct rdma_conn_param foreign_param(void);

/* The next event, or NULL after `ms`. */
struct rdma_cm_event *next_event(struct rdma_event_channel *, int ms);
/* Whether the next event is this one; acknowledges it. Tells which it was otherwise. */
int event_is(struct rdma_event_channel *, enum rdma_cm_event_type, int *status);
/* Ends the program where it is not. */
void must_be(struct rdma_event_channel *, enum rdma_cm_event_type);
double seconds(void);
