/* SPDX-License-Identifier: MIT */
/* asks early|credentials ADDRESS: calls rdma_init_qp_attr where the kernel refuses, as
 * programs of users did: for RTR before there is a connection to the peer (the id has
 * sent its request and nobody answers), and after a change of credentials. */
#include "pair.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static struct end self;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask, result;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "early")) {
		begin_call(&self, argv[2], "7599");
	} else {
		begin_resolve(&self, argv[2], "7599");
		attr.qp_state = IBV_QPS_INIT;
		if (setgroups(0, NULL))
			give_up("setgroups");
	}
	result = rdma_init_qp_attr(self.id, &attr, &mask);
	printf("%s\n", result ? strerror(errno) : "answered");
	return 0;
}
