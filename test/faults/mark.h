/* SPDX-License-Identifier: MIT */
/* Marks in a program's system calls, between which faults are injected: prctl() with
 * numbers that no kernel knows. */
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

enum mark {
	mark_loaded = 0, /* the dynamic linker has loaded all; constructors run */
	mark_objects,	 /* those of the preloaded objects have run */
	mark_begin,	 /* the program calls what is tested */
	mark_end,
	mark_last, /* then exit() */
	mark_count,
	mark_refused = mark_count /* no mark: an allocation failed (allocations.c) */
};
enum { mark_number = 0x71706100 };

/* Of allocations.so, where it is preloaded. */
void faults_marked(int what) __attribute__((weak));

static inline void mark(enum mark what)
{
	syscall(SYS_prctl, mark_number + what, 0, 0, 0, 0);
	if (&faults_marked)
		faults_marked(what);
}
