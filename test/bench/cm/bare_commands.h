/* SPDX-License-Identifier: MIT */
/*
 * The commands of a connection with nothing around them, for bare.c: that file
 * includes <rdma/rdma_cma.h> and so cannot see the kernel's header. Each is one
 * write and returns 0 or -1 with errno.
 */
#ifndef BENCH_CM_BARE_COMMANDS_H
#define BENCH_CM_BARE_COMMANDS_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bare_event {
	uint64_t uid;
	uint32_t id, event;
	int status;
	unsigned char private_data[256];
	uint8_t private_data_len;
};

struct bare_param {
	uint32_t qp_num;
	const void *private_data;
	uint8_t private_data_len, responder_resources, initiator_depth, retry_count;
};

int bare_create_id(int fd, uint64_t uid, uint16_t port_space, uint32_t *id);
int bare_destroy_id(int fd, uint32_t id);
int bare_bind(int fd, uint32_t id, const struct sockaddr_in *address);
int bare_listen(int fd, uint32_t id, int backlog);
int bare_resolve_addr(int fd, uint32_t id, const struct sockaddr_in *to, uint32_t timeout_ms);
int bare_resolve_route(int fd, uint32_t id, uint32_t timeout_ms);
/* The answers are not looked at, but for the port of the id's own address. */
int bare_query_addr(int fd, uint32_t id, uint16_t *port);
int bare_query_gid(int fd, uint32_t id);
int bare_query_path(int fd, uint32_t id);
int bare_query_route(int fd, uint32_t id);
int bare_get_event(int fd, struct bare_event *event);
int bare_connect(int fd, uint32_t id, const struct bare_param *param);
/* A null param: the active side's, which completes the connection. */
int bare_accept(int fd, uint32_t id, uint64_t uid, const struct bare_param *param);
int bare_disconnect(int fd, uint32_t id);
int bare_init_qp_attr(int fd, uint32_t id, struct ibv_qp_attr *attr, int *mask);

#ifdef __cplusplus
}
#endif

#endif
