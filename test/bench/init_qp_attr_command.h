/* SPDX-License-Identifier: MIT */
/*
 * The 24 bytes of INIT_QP_ATTR spelled out, for the bench's bare loop: a file
 * that includes <rdma/rdma_cma.h> cannot include the kernel's header.
 */
#ifndef INIT_QP_ATTR_COMMAND_H
#define INIT_QP_ATTR_COMMAND_H

#include <stdint.h>

#define INIT_QP_ATTR_REPLY_LEN 144

struct init_qp_attr_command {
	uint32_t number; /* 11 */
	uint16_t in;	 /* bytes that follow the header */
	uint16_t out;	 /* bytes of the reply */
	uint64_t response;
	uint32_t handle;
	uint32_t qp_state;
};

static inline void init_qp_attr_command_fill(struct init_qp_attr_command *command, void *reply,
					     uint32_t handle, uint32_t qp_state)
{
	command->number = 11;
	command->in = 16;
	command->out = INIT_QP_ATTR_REPLY_LEN;
	command->response = (uintptr_t)reply;
	command->handle = handle;
	command->qp_state = qp_state;
}

#endif
