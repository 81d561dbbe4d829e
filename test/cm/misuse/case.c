/* SPDX-License-Identifier: MIT */
#include "case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct misuse *misuse_add(struct misuse_list *list, const char *function, void (*body)(const struct misuse *),
			  const char *format, ...)
{
	va_list arguments;

	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 512;
		list->cases = realloc(list->cases, list->room * sizeof(*list->cases));
		if (!list->cases)
			abort();
	}
	struct misuse *added = &list->cases[list->count++];
	memset(added, 0, sizeof(*added));
	added->function = function;
	added->body = body;
	va_start(arguments, format);
	if (vasprintf(&added->name, format, arguments) < 0)
		abort();
	va_end(arguments);
	/* Good until the next case is added. */
	return added;
}
