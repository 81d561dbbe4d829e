/* SPDX-License-Identifier: MIT */
/* What a process has: descriptors, memory, ids in the kernel. */
#pragma once

#include <stddef.h>

struct leftovers {
	int descriptors;
	size_t heap_bytes;
	int ids; /* -1: not known */
};

void leftovers_count(struct leftovers *what);
/* Checks that as much is there as before, though connections came and went between. */
void leftovers_check(const struct leftovers *before, const struct leftovers *after, long connections);
