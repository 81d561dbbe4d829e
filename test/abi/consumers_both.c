/* SPDX-License-Identifier: MIT */
/*
 * A process in which both libraries are. With an argument, librdmacm is loaded by
 * the program while it runs, for all to see.
 */
#include <rdma/rdma_cma.h>

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel, *(*create)(void);
	void (*destroy)(struct rdma_event_channel *);
	void *stock;

	(void)argv;
	stock = dlopen("librdmacm.so.1", RTLD_NOW | RTLD_GLOBAL | (argc > 1 ? 0 : RTLD_NOLOAD));
	if (!stock) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	/* The program's own calls, and stock's beside them. */
	channel = rdma_create_event_channel();
	if (channel)
		rdma_destroy_event_channel(channel);
	*(void **)&create = dlsym(stock, "rdma_create_event_channel");
	*(void **)&destroy = dlsym(stock, "rdma_destroy_event_channel");
	if (!create || !destroy || create == rdma_create_event_channel)
		return 2;
	channel = create();
	if (channel)
		destroy(channel);
	return 0;
}
