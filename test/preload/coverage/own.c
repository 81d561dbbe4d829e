/* SPDX-License-Identifier: MIT */
/*
 * own next|handle|alone: a program that defines rdma_init_qp_attr itself, and
 * that goes on to the next one, to that of librdmacm's handle, or not at all. It
 * says how often its own was called.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#define ASK_LINKED
#include "test/preload/coverage/ask.h"

static int called;
static __typeof__(&rdma_init_qp_attr) other;

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	++called;
	if (other)
		return other(id, attr, mask);
	/* What a QP's way to INIT needs. */
	if (attr->qp_state != IBV_QPS_INIT) {
		errno = EINVAL;
		return -1;
	}
	attr->pkey_index = 0;
	attr->port_num = 1;
	attr->qp_access_flags = 0;
	*mask = mask_init;
	return 0;
}

int main(int argc, char **argv)
{
	const char *wrong, *mode = argc == 2 ? argv[1] : "";
	void *scope = NULL;

	if (!strcmp(mode, "next"))
		scope = RTLD_NEXT;
	else if (!strcmp(mode, "handle"))
		scope = dlopen("librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY);
	if (scope && !(other = (__typeof__(other))dlsym(scope, "rdma_init_qp_attr")))
		return verdict("there is no other");
	wrong = ask(&linked, 1);
	if (!wrong && called != 5)
		wrong = "its own function is not called five times";
	return verdict(wrong);
}
