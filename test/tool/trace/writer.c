/* SPDX-License-Identifier: MIT */
/*
 * Stands in for the preload object: when it is loaded into a program it appends the lines
 * of the file WRITER_LINES to QPATTR_TRACE, WRITER_TIMES times, as the object appends
 * records. WRITER_PROGRAM: only into that one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void copy_lines(FILE *from, int to)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, from)) > 0)
		if (write(to, line, (size_t)len) != len)
			fprintf(stderr, "writer: %s\n", strerror(errno));
	free(line);
}

__attribute__((constructor)) static void start(void)
{
	const char *lines = getenv("WRITER_LINES"), *path = getenv("QPATTR_TRACE");
	const char *times = getenv("WRITER_TIMES"), *only = getenv("WRITER_PROGRAM");
	long left = times ? atol(times) : 1;
	FILE *from;
	int to;

	if (!lines || !path || (only && strcmp(only, program_invocation_short_name) != 0))
		return;
	from = fopen(lines, "re");
	to = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
	if (!from || to < 0) {
		fprintf(stderr, "writer: %s: %s\n", from ? path : lines, strerror(errno));
		return;
	}
	for (; left > 0; --left) {
		rewind(from);
		copy_lines(from, to);
	}
	fclose(from);
	close(to);
}
