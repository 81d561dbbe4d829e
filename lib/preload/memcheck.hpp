// SPDX-License-Identifier: MIT
// Whether the process runs under valgrind. Its memcheck does not know that the
// kernel fills the memory behind a pointer in a written command, and would call
// every attribute uninitialised; see served.hpp for what is done then.
#pragma once

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

namespace qpattr::preload {

inline bool under_memcheck() noexcept
{
#ifdef RUNNING_ON_VALGRIND
	return RUNNING_ON_VALGRIND != 0;
#else
	return false;
#endif
}

} // namespace qpattr::preload
