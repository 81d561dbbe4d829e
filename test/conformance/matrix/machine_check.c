/* SPDX-License-Identifier: MIT */
/*
 * machine_check ADDRESS DEVICE: binds an id to the address, which must give it the
 * device, and asks the kernel for the attributes of INIT. Prints the file of the
 * librdmacm that did it.
 */

#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

/* The name of the mapped file, not of the link that it was found by. */
static int print_library(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4352];

	while (maps && fgets(line, sizeof(line), maps)) {
		const char *name = strstr(line, "/librdmacm.so");

		if (name) {
			fputs(name + 1, stdout);
			fclose(maps);
			return 0;
		}
	}
	puts("no librdmacm is mapped");
	return 1;
}

int main(int argc, char **argv)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_INIT };
	struct rdma_event_channel *channel;
	struct addrinfo *address;
	struct rdma_cm_id *id;
	int mask = 0;

	if (argc != 3) {
		fputs("usage: machine_check ADDRESS DEVICE\n", stderr);
		return 2;
	}
	if (getaddrinfo(argv[1], "0", &hints, &address)) {
		printf("%s is no address\n", argv[1]);
		return 1;
	}
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		perror("rdma_create_id");
		return 1;
	}
	if (rdma_bind_addr(id, address->ai_addr)) {
		perror("rdma_bind_addr");
		return 1;
	}
	if (!id->verbs || strcmp(ibv_get_device_name(id->verbs->device), argv[2]) != 0) {
		printf("%s gives %s, not %s\n", argv[1], id->verbs ? ibv_get_device_name(id->verbs->device) : "no device", argv[2]);
		return 1;
	}
	if (rdma_init_qp_attr(id, &attributes, &mask)) {
		perror("rdma_init_qp_attr");
		return 1;
	}
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	freeaddrinfo(address);
	return print_library();
}
