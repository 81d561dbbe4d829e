// SPDX-License-Identifier: MIT
// No memory for the library, and what was freed: behind the linker options
// --wrap=calloc,--wrap=free of a test that asks for them.
#pragma once

namespace qpattr::test {

// Volatile: to the compiler calloc() and free() look at nothing of a program's.
extern volatile bool cm_out_of_memory;
extern volatile unsigned cm_callocs_before; // so many succeed before
extern void *volatile cm_freed; // what free() got last

} // namespace qpattr::test
