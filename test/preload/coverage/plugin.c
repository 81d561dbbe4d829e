/* SPDX-License-Identifier: MIT */
/* A plugin linked with librdmacm, for by_name.c. */
#define ASK_LINKED
#include "test/preload/coverage/ask.h"

const char *plugin_ask(void);

const char *plugin_ask(void)
{
	return ask(&linked, 1);
}
