/* SPDX-License-Identifier: MIT */
/* The other end of the traced clients, in a process of its own. */
#ifndef BENCH_CM_LISTENER_H
#define BENCH_CM_LISTENER_H

#include <netinet/in.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Forks; returns the port in network order. Call it before the library. */
in_port_t listener_start(struct sockaddr_in address);
void listener_stop(void);

#ifdef __cplusplus
}
#endif

#endif
