// SPDX-License-Identifier: MIT
// A C enum with a value that it does not name, as a C program can pass it.
#pragma once

#include <cstring>

namespace qpattr::test {

template <class E> E raw_enum(unsigned value)
{
	static_assert(sizeof(E) == sizeof value);
	E out;
	std::memcpy(&out, &value, sizeof out);
	return out;
}

} // namespace qpattr::test
