/* SPDX-License-Identifier: MIT */
/* Preloaded in front of the object under test: it is constructed after it. */
#include "mark.h"

static void __attribute__((constructor)) here(void) { mark(mark_objects); }
