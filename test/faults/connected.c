/* SPDX-License-Identifier: MIT */
/*
 * Connects to itself: both ends of a connection of a kind, every step of it, in one process.
 * Says which step failed first, and how; destroys all that there is, and does it again,
 * which must be whole then. Linked with ours and with stock. The script calls.py makes the
 * system calls, or the allocations, of the first time fail.
 *
 * connected [KIND] [once|on]; once: the first time alone, on: again and again, until one is
 * not whole. Kinds: kinds.h.
 */
#include "../support/descriptors.h"
#include "kinds.h"
#include "mark.h"
#include "room.h"
#include "steps.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	void (*made)(void);
} kinds[] = {{"connection", connection}, {"datagrams", datagrams}, {"synchronous", synchronous}};

static void (*made)(void) = connection;

static int once(void)
{
	failed = 0;
	made();
	return !failed;
}

int main(int argc, char **argv)
{
	static char buffer[4096];
	struct mallinfo2 first, second;
	const char *word = NULL;

	for (int at = 1; at < argc; at++) {
		word = argv[at];
		for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
			if (!strcmp(argv[at], kinds[kind].name)) {
				made = kinds[kind].made;
				word = NULL;
			}
	}
	begin_thread();
	if (word) {
		printf("begins\n");
		fflush(stdout);
		while (once() && !strcmp(word, "on"))
			;
		printf(failed ? "ended\n" : "whole\n");
		end_thread();
		return 0;
	}
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	mark(mark_begin);
	if (once())
		printf("whole\n");
	mark(mark_end);
	first = mallinfo2();
	printf(once() ? "again whole\n" : "wrong: the second time is not whole\n");
	second = mallinfo2();
	/* The device stays open, with what it needs. */
	printf("descriptors %d bytes %zu grown %zd\n", open_descriptors(), second.uordblks, (ssize_t)(second.uordblks - first.uordblks));
	tell_room();
	end_thread();
	fflush(stdout);
	mark(mark_last);
	return 0;
}
