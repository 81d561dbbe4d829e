/* SPDX-License-Identifier: MIT */
/* What the programs of this directory share. */
#ifndef BENCH_CM_COMMON_H
#define BENCH_CM_COMMON_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((noreturn)) void die(const char *what);

/* Nanoseconds of CLOCK_MONOTONIC; instructions under the machine's --icount. */
uint64_t now(void);

uint64_t median(uint64_t *values, size_t count);

struct sockaddr_in parse_address(const char *text);

/* The object whose rdma_connect this program calls: the table checks it. */
const char *library(void);

/* A line for strace: a write to no descriptor. */
void mark(const char *text);

/* The smallest RC QP, with the caller's completion queue and domain. */
struct ibv_qp_init_attr small_qp(struct ibv_cq *cq);

#ifdef __cplusplus
}
#endif

#endif
