/* SPDX-License-Identifier: MIT */
/* The call under test, seen from inside the child: when it begins, what it
 * returned, what it wrote. */
#ifndef MISUSE_ATTEMPT_H
#define MISUSE_ATTEMPT_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>

/* The time limit of the call runs from here on; errno is cleared. */
void attempt_begin(void);

void attempt_end_int(int result);
void attempt_end_void(void);
void attempt_end_pointer(const void *result);
/* A value that differs from run to run: only whether it is 0. */
void attempt_end_any(unsigned long result);
void attempt_end_text(const char *result);

/* More of what happened, as " NAME=VALUE". */
void attempt_note(const char *name, const char *value);

/* Outputs are filled with a pattern before the call and looked at after it. */
#define OUTPUT_PATTERN 0xa5
void output_fill(void *output, size_t size);
/* Notes outputs=untouched or outputs=written (for all that were given so far). */
void output_check(const void *output, size_t size);

/* What of the public part of an id changed, as id=FIELD,FIELD... */
void id_remember(const struct rdma_cm_id *id);
void id_compare(const struct rdma_cm_id *id);

/* The scene could not be set: ends the child, and the case fails. */
void scene_fails(const char *what) __attribute__((noreturn));
#define MUST(condition) \
	do { \
		if (!(condition)) \
			scene_fails(#condition); \
	} while (0)

/* Runs body in this (forked) process and ends it. Reports go to fd. */
struct misuse;
void attempt_run(const struct misuse *self, int fd) __attribute__((noreturn));

/* Call, in the common case of int functions. */
#define TRY(call) \
	do { \
		attempt_begin(); \
		int try_result_ = (call); \
		attempt_end_int(try_result_); \
	} while (0)
#define TRY_VOID(call) \
	do { \
		attempt_begin(); \
		call; \
		attempt_end_void(); \
	} while (0)

#endif
