/* SPDX-License-Identifier: MIT */
/*
 * Asks rdma_init_qp_attr() three times, and says what came of it: one line a call, of
 * which "wrong" is never right. The script calls.py makes the system calls in between fail.
 *
 * asked FILE: asks without end, and counts in the file the calls that have returned.
 */
#include "../support/descriptors.h"
#include "mark.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { calls = 3, untouched = 12345, mask_init = 0x39 };

static void cannot(const char *what)
{
	printf("setup: %s: %s\n", what, strerrorname_np(errno));
	exit(3);
}

static struct rdma_cm_id *bound_id(struct rdma_event_channel *channel)
{
	struct sockaddr_in here = {.sin_family = AF_INET};
	const char *address = getenv("QPATTR_VM_IPV4");
	struct rdma_cm_id *id;

	if (!address || inet_pton(AF_INET, address, &here.sin_addr) != 1)
		cannot("QPATTR_VM_IPV4");
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		cannot("an id");
	if (rdma_bind_addr(id, (struct sockaddr *)&here))
		cannot("rdma_bind_addr");
	return id;
}

static void tell(int result, int code, const struct ibv_qp_attr *attr, int mask, const struct ibv_qp_attr *before)
{
	if (result == 0)
		printf("%s\n", code == untouched && mask == mask_init && attr->port_num == 1 && attr->qp_state == IBV_QPS_INIT
				       ? "0"
				       : "wrong answer");
	else if (result == -1)
		printf("%s%s\n", strerrorname_np(code),
		       mask == untouched && !memcmp(attr, before, sizeof *attr) ? "" : " wrong: outputs are touched");
	else
		printf("wrong result %d\n", result);
}

static void ask_without_end(struct rdma_cm_id *id, const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	volatile unsigned long *count;
	struct ibv_qp_attr attr;
	int mask;

	if (file < 0 || ftruncate(file, 4096))
		cannot(path);
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (count == MAP_FAILED)
		cannot("mmap");
	for (;;) {
		attr.qp_state = IBV_QPS_INIT;
		if (rdma_init_qp_attr(id, &attr, &mask))
			cannot("rdma_init_qp_attr");
		++*count;
	}
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = bound_id(channel);
	struct ibv_qp_attr attr[calls], before;
	int result[calls], code[calls], mask[calls], fds = open_descriptors(), fds_after;
	size_t heap = mallinfo2().uordblks, heap_after;

	if (argc > 1)
		ask_without_end(id, argv[1]);
	memset(&before, 0x5a, sizeof before);
	before.qp_state = IBV_QPS_INIT;
	mark(mark_begin);
	for (int at = 0; at < calls; at++) {
		attr[at] = before;
		mask[at] = untouched;
		errno = untouched;
		result[at] = rdma_init_qp_attr(id, &attr[at], &mask[at]);
		code[at] = errno;
	}
	mark(mark_end);
	heap_after = mallinfo2().uordblks;
	fds_after = open_descriptors();
	for (int at = 0; at < calls; at++)
		tell(result[at], code[at], &attr[at], mask[at], &before);
	printf("left: %d descriptors, %zd bytes\n", fds_after - fds, (ssize_t)(heap_after - heap));
	if (rdma_destroy_id(id))
		cannot("rdma_destroy_id");
	rdma_destroy_event_channel(channel);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	mark(mark_last);
	return 0;
}
