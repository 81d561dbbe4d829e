/* SPDX-License-Identifier: MIT */
/*
 * Every field of an id or an event, in lines that are the same for every library
 * that behaves the same. Of an id that was shown before, what changed.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <rdma/rdma_cma.h>
#include "symbols.h"

void dump_id(struct rdma_cm_id *id, const char *name);
/*
 * The same once an event waits on the id's channel, or a second is over: what the
 * kernel answers about the id would depend on the moment before.
 */
void dump_settled(struct rdma_cm_id *id, const char *name);
void dump_event(const struct rdma_cm_event *event, int is_ud);
void dump_addrinfo(const struct rdma_addrinfo *info);
/* An id that is destroyed, so that its address may come again. */
void dump_forget(const struct rdma_cm_id *id);
/* All fields each time. */
void dump_all(void);
/* Headline of a step; the party's name is put before it. */
void dump_party(const char *party);
void dump_step(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes the call, prints it and what it returned. */
#define CALL(call) \
	({ \
		long call_result; \
		errno = 0; \
		call_result = (long)(call); \
		dump_step("%s %s", #call, result_text(call_result, errno).s); \
		(int)call_result; \
	})
/* For a call that returns a pointer or nothing. */
#define POINTER(call) \
	({ \
		__auto_type call_pointer = (call); \
		int call_errno = errno; \
		dump_step("%s %s", #call, call_pointer ? "= set" : result_text(-1, call_errno).s); \
		call_pointer; \
	})
#define VOID(call) \
	do { \
		call; \
		dump_step("%s", #call); \
	} while (0)
