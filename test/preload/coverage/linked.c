/* SPDX-License-Identifier: MIT */
/* A program linked with librdmacm. It is linked in several ways: meson.build. */
#define ASK_LINKED
#include "test/preload/coverage/ask.h"

int main(void)
{
	return verdict(ask(&linked, 1));
}
