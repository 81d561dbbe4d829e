/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the first rdma_init_qp_attr of a process and of the
 * second, for strace: they lie between marks, writes to no descriptor.
 * first_call ADDRESS
 */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void mark(const char *text)
{
	if (write(-1, text, strlen(text)) != -1)
		_exit(3);
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask, failed = 0;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
		return 2;
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&address)) {
		perror("first_call");
		return 1;
	}
	mark("mark-first");
	failed |= rdma_init_qp_attr(id, &attr, &mask);
	mark("mark-second");
	failed |= rdma_init_qp_attr(id, &attr, &mask);
	mark("mark-end");
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return failed ? 1 : 0;
}
