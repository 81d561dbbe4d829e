/* SPDX-License-Identifier: MIT */
/*
 * What one call costs, where a nanosecond of CLOCK_MONOTONIC is an instruction
 * (the machine's --icount), for RESET to INIT on an id bound to a device:
 *
 *   bare    a loop that writes the 24 bytes of INIT_QP_ATTR with libc's write
 *   qpattr  rdma_init_qp_attr as the dynamic linker bound it: run this with
 *           libqpattr-preload.so preloaded
 *   stock   librdmacm's own rdma_init_qp_attr
 *
 * call_bench ADDRESS CALLS one|two
 * "one" thread or "two": the second sleeps, as the event thread of most rdma_cm
 * programs does. libc's write is a cancellation point and does more as soon as
 * there is a second thread.
 *
 * Prints, tab-separated: threads, what, instructions a call, which object.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test/bench/init_qp_attr_command.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *sleeper(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The least of several rounds: a timer interrupt can only add. */
enum { rounds = 20 };

typedef int init_qp_attr_fn(struct rdma_cm_id *, struct ibv_qp_attr *, int *);
typedef ssize_t write_fn(int, const void *, size_t);

/* All three are called through a pointer: the same instructions around each. */
static double bare(write_fn *volatile fn, int fd, const void *command, size_t len, long calls)
{
	write_fn *const call = fn;
	uint64_t least = UINT64_MAX;

	for (int round = 0; round < rounds; round++) {
		const uint64_t start = now();
		for (long i = 0; i < calls; i++)
			if (call(fd, command, len) != (ssize_t)len)
				die("write");
		const uint64_t took = now() - start;
		if (took < least)
			least = took;
	}
	return (double)least / (double)calls;
}

static double function(init_qp_attr_fn *volatile fn, struct rdma_cm_id *id, long calls)
{
	init_qp_attr_fn *const call = fn;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask = 0;
	uint64_t least = UINT64_MAX;

	for (int round = 0; round < rounds; round++) {
		const uint64_t start = now();
		for (long i = 0; i < calls; i++)
			if (call(id, &attr, &mask))
				die("rdma_init_qp_attr");
		const uint64_t took = now() - start;
		if (took < least)
			least = took;
	}
	if (mask != 0x39) {
		fprintf(stderr, "call_bench: mask 0x%x, expected 0x39\n", (unsigned)mask);
		exit(1);
	}
	return (double)least / (double)calls;
}

static const char *object_of(void *fn)
{
	Dl_info where;

	if (!dladdr(fn, &where) || !where.dli_fname)
		die("dladdr");
	return where.dli_fname;
}

/*
 * More ids than the one that is asked about: the kernel finds the only id of a
 * machine by a shortcut.
 */
enum { other_ids = 4 };

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id, *others[other_ids];
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct init_qp_attr_command command;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	unsigned char reply[INIT_QP_ATTR_REPLY_LEN];
	init_qp_attr_fn *stock;
	int mask;
	long calls;

	if (argc != 4 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1 ||
	    (calls = atol(argv[2])) <= 0) {
		fprintf(stderr, "usage: call_bench ADDRESS CALLS one|two\n");
		return 2;
	}
	if (!strcmp(argv[3], "two")) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, sleeper, NULL))
			die("pthread_create");
	}

	stock = (init_qp_attr_fn *)dlsym(dlopen("librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY),
					 "rdma_init_qp_attr");
	if (!stock || stock == rdma_init_qp_attr) {
		fprintf(stderr, "call_bench: stock's function and qpattr's are not both here\n");
		return 1;
	}
	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	for (int i = 0; i < other_ids; i++)
		if (rdma_create_id(channel, &others[i], NULL, RDMA_PS_TCP))
			die("rdma_create_id");
	if (rdma_bind_addr(id, (struct sockaddr *)&address))
		die("rdma_bind_addr");
	/* The first calls look for the handle and bind the symbols. */
	if (rdma_init_qp_attr(id, &attr, &mask) || stock(id, &attr, &mask))
		die("rdma_init_qp_attr");

	/* The first id of a fresh machine: the kernel counts from 0. */
	init_qp_attr_command_fill(&command, reply, 0, IBV_QPS_INIT);
	if (write(channel->fd, &command, sizeof command) != sizeof command)
		die("the bare write (is this the first id of the machine?)");

	printf("%s\tbare\t%.2f\t%s\n", argv[3],
	       bare(write, channel->fd, &command, sizeof command, calls), object_of(write));
	printf("%s\tqpattr\t%.2f\t%s\n", argv[3], function(rdma_init_qp_attr, id, calls),
	       object_of(rdma_init_qp_attr));
	printf("%s\tstock\t%.2f\t%s\n", argv[3], function(stock, id, calls), object_of(stock));

	for (int i = 0; i < other_ids; i++)
		rdma_destroy_id(others[i]);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
