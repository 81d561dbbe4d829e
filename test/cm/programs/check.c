/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char prefix[120];
static int failed;

void check_prefix(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(prefix, sizeof prefix, format, list);
	va_end(list);
}

int check(int good, const char *name, const char *why, ...)
{
	int error = errno;
	va_list list;

	if (good) {
		printf("ok - %s%s\n", prefix, name);
		return 1;
	}
	failed = 1;
	printf("not ok - %s%s: ", prefix, name);
	va_start(list, why);
	vprintf(why, list);
	va_end(list);
	printf(" (errno %d, %s)\n", error, strerror(error));
	return 0;
}

void must_(int good, const char *call)
{
	if (good)
		return;
	check(0, call, "it failed");
	fflush(stdout);
	_exit(1);
}

int check_status(void) { return failed; }
