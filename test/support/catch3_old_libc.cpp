// SPDX-License-Identifier: MIT
// Two entry points that a packaged libCatch2.a of a later release wants and an
// older libc and libstdc++ lack. Linked only where the build is given a Catch2
// from elsewhere (option catch2_root).
#include <cstdlib>
#include <exception>

extern "C" unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
	return std::strtoull(text, end, base);
}

extern "C" void __cxa_call_terminate(void *)
{
	std::terminate();
}
