// SPDX-License-Identifier: MIT
// To be preloaded into qpattr, which it ends as a mistake would, by std::terminate(); or,
// with TERMINATES=memory, as something made by half does on the way of a std::bad_alloc.
#include <cstdlib>
#include <exception>
#include <new>

namespace {

struct made_by_half {
	~made_by_half() { std::terminate(); }
};

[[gnu::destructor]] void end()
{
	if (!std::getenv("TERMINATES"))
		std::terminate();
	try {
		const made_by_half one;
		throw std::bad_alloc{};
	} catch (...) {
	}
}

} // namespace
