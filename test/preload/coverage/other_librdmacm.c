/* SPDX-License-Identifier: MIT */
/*
 * A librdmacm of another make: just as much as ask.h wants of one, and ids in
 * which the kernel's handle is elsewhere. What is stock's else is this one's here.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <qpattr/qpattr.h>

/* Behind the public part, and not at byte 544. */
struct private_id {
	struct rdma_cm_id id;
	char unknown[200];
	uint32_t handle;
};

#define EXPORT __attribute__((visibility("default")))

EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel = calloc(1, sizeof *channel);

	channel->fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	return channel;
}

EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

static int tell(int fd, const void *command, size_t len)
{
	return write(fd, command, len) == (ssize_t)len ? 0 : -1;
}

EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
			  void *context, enum rdma_port_space ps)
{
	struct private_id *own = calloc(1, sizeof *own);
	struct {
		uint32_t number;
		uint16_t in, out;
		uint64_t uid, response;
		uint16_t space;
		uint8_t qp_type, reserved[5];
	} command = {0, 24, 4, 1, (uintptr_t)&own->handle, (uint16_t)ps, IBV_QPT_RC, {0}};

	if (tell(channel->fd, &command, sizeof command)) {
		free(own);
		return -1;
	}
	/* No id's handle stands elsewhere, not even 0. */
	memset(own->unknown, 0xff, sizeof own->unknown);
	own->id.channel = channel;
	own->id.context = context;
	*id = &own->id;
	return 0;
}

EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct private_id *own = (struct private_id *)id;
	uint32_t reported;
	struct {
		uint32_t number;
		uint16_t in, out;
		uint64_t response;
		uint32_t id, reserved;
	} command = {1, 16, 4, (uintptr_t)&reported, own->handle, 0};

	if (tell(id->channel->fd, &command, sizeof command))
		return -1;
	free(own);
	return 0;
}

EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *where)
{
	struct private_id *own = (struct private_id *)id;
	struct {
		uint32_t number;
		uint16_t in, out;
		uint32_t id;
		uint16_t len, reserved;
		unsigned char address[128];
	} command = {20, 136, 0, own->handle, sizeof(struct sockaddr_in), 0, {0}};

	memcpy(command.address, where, sizeof(struct sockaddr_in));
	return tell(id->channel->fd, &command, sizeof command);
}

EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	const struct private_id *own = (const struct private_id *)id;

	return qpattr_query(id->channel->fd, own->handle, attr->qp_state, attr, mask);
}

/* It asks as stock does, by the name, which others may have taken; no QP is made. */
EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			  struct ibv_qp_init_attr *wanted)
{
	struct ibv_qp_attr attr;
	int mask = 0;

	(void)pd;
	(void)wanted;
	attr.qp_state = IBV_QPS_INIT;
	if (rdma_init_qp_attr(id, &attr, &mask))
		return -1;
	errno = ENODATA;
	return mask == (IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT) ? 0
											      : -1;
}

EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	(void)id;
}
