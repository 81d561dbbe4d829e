/* SPDX-License-Identifier: MIT */
/*
 * What each program of this directory does in its own way of coming to
 * librdmacm's functions: it asks for attributes twice, and twice for a state that
 * there is not, has librdmacm make a QP, for which that asks once more, and looks at
 * what comes back. The guest script counts from outside who was called.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct functions {
	__typeof__(&rdma_create_event_channel) create_channel;
	__typeof__(&rdma_destroy_event_channel) destroy_channel;
	__typeof__(&rdma_create_id) create_id;
	__typeof__(&rdma_destroy_id) destroy_id;
	__typeof__(&rdma_bind_addr) bind_addr;
	__typeof__(&rdma_create_qp) create_qp;
	__typeof__(&rdma_destroy_qp) destroy_qp;
	__typeof__(&rdma_init_qp_attr) init_qp_attr;
};

enum { mask_init = 0x39, no_state = 99, sentinel = 4711 };

/* NULL where all is as it should be, else what is not. */
static const char *answers(const struct functions *f, struct rdma_cm_id *id, int errno_is_ours)
{
	struct ibv_qp_attr attr;
	int i, mask;

	for (i = 0; i < 2; ++i) {
		memset(&attr, 0xa5, sizeof attr);
		attr.qp_state = IBV_QPS_INIT;
		mask = 0;
		errno = sentinel;
		if (f->init_qp_attr(id, &attr, &mask))
			return "the answer is an error";
		if (mask != mask_init || attr.port_num != 1 || attr.qp_access_flags != 0)
			return "the attributes are others";
		if (errno_is_ours && errno != sentinel)
			return "errno is not left alone";
		attr.qp_state = (enum ibv_qp_state)no_state;
		mask = sentinel;
		errno = sentinel;
		if (f->init_qp_attr(id, &attr, &mask) != -1 || mask != sentinel)
			return "a state that there is not is answered";
		if (errno_is_ours && errno != EINVAL)
			return "errno of a refusal is not EINVAL";
	}
	return NULL;
}

/*
 * errno_is_ours: the functions have the errno of the caller, whom librdmacm of
 * another namespace has not.
 */
static const char *ask(const struct functions *f, int errno_is_ours)
{
	struct ibv_qp_init_attr wanted = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct sockaddr_in where = {.sin_family = AF_INET};
	struct rdma_event_channel *channel = f->create_channel();
	struct rdma_cm_id *id = NULL;
	const char *wrong, *text = getenv("QPATTR_VM_IPV4");

	inet_pton(AF_INET, text ? text : "", &where.sin_addr);
	if (!channel || f->create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    f->bind_addr(id, (struct sockaddr *)&where))
		return "no id on the device can be made";
	wrong = answers(f, id, errno_is_ours);
	if (!wrong && f->create_qp(id, NULL, &wanted))
		wrong = "no QP can be made";
	else if (!wrong)
		f->destroy_qp(id);
	f->destroy_id(id);
	f->destroy_channel(channel);
	return wrong;
}

#ifdef ASK_LINKED
/* By a call of the name: a pointer to it is bound in another way. */
static int call(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	return rdma_init_qp_attr(id, attr, mask);
}

static const struct functions linked = {
	rdma_create_event_channel, rdma_destroy_event_channel,
	rdma_create_id,		   rdma_destroy_id,
	rdma_bind_addr,		   rdma_create_qp,
	rdma_destroy_qp,	   call,
};
#endif

/* The status of a program: 0 where nothing is wrong. */
__attribute__((unused)) static int verdict(const char *wrong)
{
	if (wrong)
		printf("%s\n", wrong);
	return wrong != NULL;
}
