/* SPDX-License-Identifier: MIT */
/* Rows of docs/kernel-traps.md, each by the number that its checks begin with. */
#pragma once

#include "../programs/check.h"
#include "ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void accepts(void);	/* 5, 6, 17, 18 */
void routes(void);	/* 3, 4, 8, 10, 11, 13, 27, 30 */
void endings(void);	/* 19, 20 */
void migrants(void);	/* 15 */
void neighbours(void);	/* 7 */

static inline int invalid(int result) { return result == -1 && errno == EINVAL; }
/* Major * 100 + minor of the kernel that runs. */
int kernel(void);
