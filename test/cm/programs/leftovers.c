/* SPDX-License-Identifier: MIT */
#include "leftovers.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../support/descriptors.h"
#include "check.h"

/* The kernel's list says of each id which thread made it, and nothing if that has ended. */
static int others(const char *line)
{
	const char *pid = strstr(line, " pid ");
	char path[64];

	if (!pid)
		return 0;
	snprintf(path, sizeof path, "/proc/self/task/%d", atoi(pid + 5));
	return access(path, F_OK) != 0;
}

/* All but those of other processes. */
static int count_ids(void)
{
	FILE *list = popen("rdma resource show cm_id", "r");
	char line[1024];
	int count = 0;

	if (!list)
		return -1;
	while (fgets(line, sizeof line, list))
		count += !others(line);
	return pclose(list) == 0 ? count : -1;
}

void leftovers_count(struct leftovers *what)
{
	struct mallinfo2 heap;

	what->descriptors = open_descriptors();
	what->ids = count_ids();
	heap = mallinfo2();
	/* A large block is not of the heap proper. */
	what->heap_bytes = heap.uordblks + heap.hblkhd;
}

void leftovers_check(const struct leftovers *before, const struct leftovers *after, long connections)
{
	check(before->descriptors > 0 && after->descriptors == before->descriptors, "no descriptor is left", "%d before, %d after",
		before->descriptors, after->descriptors);
	check(before->ids >= 0 && after->ids == before->ids, "no id is left in the kernel", "%d before, %d after", before->ids, after->ids);
	/* The least allocation is 24 bytes: none stays of every connection, nor of every third. */
	check(after->heap_bytes < before->heap_bytes + 8 * (size_t)connections, "no memory is left", "%zu bytes before, %zu after",
		before->heap_bytes, after->heap_bytes);
}
