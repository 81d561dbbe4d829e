/* SPDX-License-Identifier: MIT */
/* Two ends of one connection, made by librdmacm as a program of its users makes it. */
#ifndef TEST_TOOL_USERS_PAIR_H
#define TEST_TOOL_USERS_PAIR_H

#include <rdma/rdma_cma.h>

#define MESSAGE_LEN 64

struct end {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *memory;
	char bytes[MESSAGE_LEN];
};

/* Both end the process with one line where something fails. 6 retries, which rxe counts
 * (7 are for ever to it), and RNR retries without end. */
void call_peer(struct end *self, const char *address, const char *port);
/* The same as far as the address resolved, or the request sent. */
void begin_resolve(struct end *self, const char *address, const char *port);
void begin_call(struct end *self, const char *address, const char *port);
void be_called(struct end *self, const char *address, const char *port);

void post_receive(struct end *self);
void post_send(struct end *self);

/* The next completion's status; waits for it, at most that long. -1: none came. */
int next_status(struct end *self, double seconds);

double now_s(void);

_Noreturn void give_up(const char *what);

#endif
