/* SPDX-License-Identifier: MIT */
/* What the kernel keeps of a program that is traced: its calls that stop, its descriptors. */
#pragma once

#include <sys/types.h>

/* Has the calls of a number stop, and marks, of this process and all that it starts; or all
 * calls. Ends the process where that cannot be. */
void stop_at(long number, int all_calls);

/* The lowest descriptor that a program has not open. */
int lowest_free(pid_t program);

/* From now on it opens none that is not below; 1 where that could be done. */
int limit_descriptors(pid_t program, int below);
