// SPDX-License-Identifier: MIT
#pragma once

// Prints what a program sees of <infiniband/ib.h>: constants, sizes, offsets,
// what its functions say.
void print_layout();
