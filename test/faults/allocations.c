/* SPDX-License-Identifier: MIT */
/*
 * Has allocations fail: preloaded into a program, in front of injector.so, which tells which
 * by faults_fail_allocations(). Those count that are made by the program's own code, or, with
 * FAULTS_ALL_ALLOCATIONS, by anybody; between marks only, where the program has them. Says at
 * the end how many there were.
 */
#include "mark.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_int count, first, last, open_window = 1;
static uintptr_t program_begin, program_end;

void faults_marked(int what);
void faults_fail_allocations(int from, int to);

void faults_marked(int what) { open_window = what == mark_begin; }

static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	/* The program is the first of all. */
	for (int at = 0; at < info->dlpi_phnum; at++)
		if (info->dlpi_phdr[at].p_type == PT_LOAD && info->dlpi_phdr[at].p_flags & PF_X) {
			program_begin = info->dlpi_addr + info->dlpi_phdr[at].p_vaddr;
			program_end = program_begin + info->dlpi_phdr[at].p_memsz;
		}
	return 1;
}

void faults_fail_allocations(int from, int to)
{
	if (!getenv("FAULTS_ALL_ALLOCATIONS"))
		dl_iterate_phdr(find_program, NULL);
	else
		program_end = UINTPTR_MAX;
	count = 0;
	first = from;
	last = to;
}

static int fails(const void *caller)
{
	int number;

	if (!open_window || (uintptr_t)caller < program_begin || (uintptr_t)caller >= program_end)
		return 0;
	number = atomic_fetch_add(&count, 1) + 1;
	if (number < first || number > last)
		return 0;
	syscall(SYS_prctl, mark_number + mark_refused, 0, 0, 0, 0);
	errno = ENOMEM;
	return 1;
}
#define FAILS() fails(__builtin_return_address(0))

void *malloc(size_t size) { return FAILS() ? NULL : __libc_malloc(size); }
void *calloc(size_t each, size_t size) { return FAILS() ? NULL : __libc_calloc(each, size); }
void *realloc(void *old, size_t size) { return FAILS() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t unit, size_t size) { return FAILS() ? NULL : __libc_memalign(unit, size); }
void *aligned_alloc(size_t unit, size_t size) { return FAILS() ? NULL : __libc_memalign(unit, size); }

int posix_memalign(void **out, size_t unit, size_t size)
{
	void *made = FAILS() ? NULL : __libc_memalign(unit, size);

	if (!made)
		return ENOMEM;
	*out = made;
	return 0;
}

/* By write(): nothing is allocated. */
static void __attribute__((destructor)) tell(void)
{
	char text[64];
	int len = snprintf(text, sizeof text, "allocations %d\n", count);

	if (last >= 0 && getenv("FAULTS_JOBS") == NULL && program_end)
		(void)!write(2, text, (size_t)len);
}
