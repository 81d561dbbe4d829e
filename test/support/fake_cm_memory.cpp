// SPDX-License-Identifier: MIT
#include "test/support/fake_cm_memory.hpp"

#include <cstddef>

namespace qpattr::test {

volatile bool cm_out_of_memory = false;
volatile unsigned cm_callocs_before = 0;
void *volatile cm_freed = nullptr;

} // namespace qpattr::test

using namespace qpattr::test;

extern "C" {

void *__real_calloc(std::size_t count, std::size_t size);
void *__wrap_calloc(std::size_t count, std::size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

void *__wrap_calloc(std::size_t count, std::size_t size)
{
	if (cm_out_of_memory) {
		if (cm_callocs_before == 0)
			return nullptr;
		cm_callocs_before = cm_callocs_before - 1;
	}
	return __real_calloc(count, size);
}

void __wrap_free(void *memory)
{
	if (memory)
		cm_freed = memory;
	__real_free(memory);
}

}
