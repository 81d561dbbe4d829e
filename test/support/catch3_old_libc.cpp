// SPDX-License-Identifier: MIT
// What a packaged libCatch2.a of a later release wants and an older libc and
// libstdc++ lack: two entry points, and std::cout set up by whoever includes
// <iostream>, which later ones do inside the library. Linked only where the
// build is given a Catch2 from elsewhere (option catch2_root).
#include <cstdlib>
#include <exception>
#include <iostream> // for its initialiser

extern "C" unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
	return std::strtoull(text, end, base);
}

extern "C" void __cxa_call_terminate(void *)
{
	std::terminate();
}
