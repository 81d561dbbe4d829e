/* SPDX-License-Identifier: MIT */
/* Runs cases, several at a time, each in a child, and prints a line a case in
 * the order of the list. */
#ifndef MISUSE_RUNNER_H
#define MISUSE_RUNNER_H

#include "case.h"

struct runner_limits {
	int jobs;
	/* For the call itself; what comes before and after has a limit of its own. */
	int call_ms;
	int scene_ms;
	/* Those that harm the kernel, too. */
	bool harmful;
	/* Do not wait for children that the kernel holds. */
	bool leave;
};

/* The number of cases whose scene could not be set. */
size_t runner_run(const struct misuse_list *list, const struct runner_limits *limits);

#endif
