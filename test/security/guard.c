/* SPDX-License-Identifier: MIT
 * An allocator, to be preloaded, which puts what is as long as an id of librdmacm beside a
 * page that cannot be touched: GUARD=behind, right behind its last byte; GUARD=before, right
 * before its first. Whoever reads over the edge ends the process. At the end it says on
 * standard error how many it made. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* glibc's own, under the names that it keeps for such as this. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

enum {
	page = 4096,
	/* A page that cannot be touched, two that can, and one more. */
	slot_len = 4 * page,
	slots = 4096,
	/* An id was 600 or 608 bytes in all versions that were measured. */
	least = 560,
	most = 720,
};

static _Atomic(char *) arena;
static atomic_uint next;

static int wanted(size_t len)
{
	return len >= least && len <= most && len % 8 == 0;
}

/* Never used again, so that what was freed cannot be touched either. */
static void *guarded(size_t len)
{
	char *at = atomic_load(&arena);
	unsigned slot;
	if (!at) {
		char *none = NULL;
		at = mmap(NULL, (size_t)slots * slot_len, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			return NULL;
		if (!atomic_compare_exchange_strong(&arena, &none, at)) {
			munmap(at, (size_t)slots * slot_len);
			at = none;
		}
	}
	slot = atomic_fetch_add(&next, 1);
	if (slot >= slots)
		abort();
	at += (size_t)slot * slot_len + page;
	if (mprotect(at, page, PROT_READ | PROT_WRITE))
		return NULL;
	const char *where = getenv("GUARD");
	return where && !strcmp(where, "before") ? at : at + page - len;
}

static int is_guarded(const void *of)
{
	const char *const at = atomic_load(&arena);
	return at && (const char *)of >= at && (const char *)of < at + (size_t)slots * slot_len;
}

void *malloc(size_t len)
{
	return wanted(len) ? guarded(len) : __libc_malloc(len);
}

void *calloc(size_t count, size_t each)
{
	return each && count <= most / each && wanted(count * each) ? guarded(count * each)
								    : __libc_calloc(count, each);
}

void free(void *of)
{
	if (!is_guarded(of)) {
		__libc_free(of);
		return;
	}
	const int saved = errno;
	mprotect((char *)((uintptr_t)of & ~(uintptr_t)(page - 1)), page, PROT_NONE);
	errno = saved;
}

void *realloc(void *of, size_t len)
{
	if (!is_guarded(of))
		return of || !wanted(len) ? __libc_realloc(of, len) : guarded(len);
	void *const to = __libc_malloc(len);
	const char *const end = (char *)(((uintptr_t)of | (page - 1)) + 1);
	const size_t there = (size_t)(end - (char *)of);
	if (to) {
		memcpy(to, of, there < len ? there : len);
		free(of);
	}
	return to;
}

__attribute__((destructor)) static void say(void)
{
	fprintf(stderr, "guard: %u guarded\n", atomic_load(&next));
}
