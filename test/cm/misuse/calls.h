/* SPDX-License-Identifier: MIT */
/* Every function that takes an id, called with good arguments: what is wrong is
 * the id, or its state. */
#ifndef MISUSE_CALLS_H
#define MISUSE_CALLS_H

#include "scene.h"

struct call {
	const char *function;
	/* What of its arguments the name should tell; "" for none. */
	const char *variant;
	/* A setting in which it succeeds. */
	struct setting good;
	/* id is the one to use; the scene has the rest. */
	void (*make)(struct scene *scene, struct rdma_cm_id *id);
};

extern const struct call calls[];
extern const int calls_count;

/* The group that the multicast calls name. */
struct sockaddr *call_group(void);

/* Declared by <rdma/rdma_verbs.h>, whose inline functions are not ours to test. */
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);
void rdma_destroy_srq(struct rdma_cm_id *id);

#endif
