/* SPDX-License-Identifier: MIT */
/* Ours with a leak put in (-Wl,--wrap), of what QPATTR_LEAK names: `finds` shows that each is
 * found. Each id that is destroyed leaves 24 bytes, or each tenth a descriptor or an id. */
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *volatile leaked;
void *volatile leaked;

int __real_rdma_destroy_id(struct rdma_cm_id *id);
int __wrap_rdma_destroy_id(struct rdma_cm_id *id);

int __wrap_rdma_destroy_id(struct rdma_cm_id *id)
{
	static atomic_long destroyed;
	const char *what = getenv("QPATTR_LEAK");
	const int tenth = ++destroyed % 10 == 0;

	if (what && !strcmp(what, "memory"))
		leaked = malloc(24);
	if (what && !strcmp(what, "descriptor") && tenth)
		(void)!dup(STDIN_FILENO);
	if (what && !strcmp(what, "id") && tenth) {
		struct rdma_cm_id *left;
		/* The kernel lists those that have a device. */
		struct sockaddr_in here = id->route.addr.src_sin;

		here.sin_port = 0;
		if (rdma_create_id(rdma_create_event_channel(), &left, NULL, RDMA_PS_TCP) || rdma_bind_addr(left, (struct sockaddr *)&here))
			abort();
	}
	return __real_rdma_destroy_id(id);
}
