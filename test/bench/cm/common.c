/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "test/bench/cm/common.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void die(const char *what)
{
	perror(what);
	exit(1);
}

uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof *values, compare);
	return values[count / 2];
}

struct sockaddr_in parse_address(const char *text)
{
	struct sockaddr_in address = {.sin_family = AF_INET};

	if (inet_pton(AF_INET, text, &address.sin_addr) != 1) {
		fprintf(stderr, "%s is no IPv4 address\n", text);
		exit(2);
	}
	return address;
}

const char *library(void)
{
	/* Not dladdr of the function's name: that may be a stub of the program's. */
	void *const found = dlsym(RTLD_DEFAULT, "rdma_connect");
	Dl_info where;

	/* A program that has it inside and exports nothing. */
	if (!found)
		return "inside";
	return dladdr(found, &where) ? where.dli_fname : "unknown";
}

void mark(const char *text)
{
	if (write(-1, text, strlen(text)) != -1)
		_exit(3);
}

struct ibv_qp_init_attr small_qp(struct ibv_cq *cq)
{
	return (struct ibv_qp_init_attr){
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
}
