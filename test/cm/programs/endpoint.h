/* SPDX-License-Identifier: MIT */
/* One end of a connection: id, QP, memory, messages. */
#pragma once

#include <rdma/rdma_cma.h>
#include "party.h"

enum { message_bytes = 256, grh_bytes = 40 };

struct endpoint {
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	/* Ours, if the QP was made without librdmacm. */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	unsigned char *buffer; /* one to send, one to receive */
	int sync; /* waits by rdma_get_*_comp */
};

/* A QP by rdma_create_qp, or one of our own in the state INIT. */
void endpoint_qp(struct endpoint *end, enum ibv_qp_type type, int own);
/* An own QP to the next state, by rdma_init_qp_attr. */
void endpoint_move(struct endpoint *end, enum ibv_qp_state state);
/* Memory; and something to receive into. */
void endpoint_memory(struct endpoint *end);
void endpoint_post_receive(struct endpoint *end);
/* The message of this number: every byte follows from it. */
int endpoint_send(struct endpoint *end, unsigned number);
int endpoint_send_to(struct endpoint *end, unsigned number, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey);
/* 1 if it came within the time, whole and right; the completion in wc. */
int endpoint_receive(struct endpoint *end, unsigned number, struct ibv_wc *wc, int timeout_ms);
/* Everything but the id and its event channel. */
void endpoint_end(struct endpoint *end);

/* Waits for an event of this type on the channel; ends the process if it is another. */
struct rdma_cm_event *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int timeout_ms);
/* The same, acknowledged; its status. */
int expect_ack(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int timeout_ms);
/* An id with its address and route resolved, on a channel or synchronous. */
struct rdma_cm_id *dial(struct rdma_event_channel *channel, const struct party *party, enum rdma_port_space ps, uint16_t port);
/* A listener. */
struct rdma_cm_id *answer_at(
	struct rdma_event_channel *channel, const struct party *party, enum rdma_port_space ps, uint16_t port, int backlog);

/* Private data of this length, different for each party; and whether it came. */
void private_fill(unsigned char *data, size_t length, int of_server);
int private_came(const void *data, size_t length, size_t sent, size_t reported, int of_server);
