// SPDX-License-Identifier: MIT
#include "lib/preload/process.hpp"

#include <sys/mman.h>

namespace qpattr::preload {

process *own = nullptr;

namespace {

constexpr std::size_t buffers_max = 64;

struct buffers {
	std::atomic<std::uint32_t> taken[buffers_max];
	alignas(64) char bytes[buffers_max][buffer::len];
};
buffers *pool = nullptr;

// Zeroed, and zeroed again in a fork child. Pages that nobody touches cost nothing.
void *map(std::size_t len) noexcept
{
	void *const at = ::mmap(nullptr, len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return nullptr;
	// Kernels from 4.14 know it; where one does not, a child goes on with its
	// parent's numbers.
	::madvise(at, len, MADV_WIPEONFORK);
	return at;
}

} // namespace

bool start_process(bool with_buffers) noexcept
{
	own = static_cast<process *>(map(sizeof(process)));
	if (own && with_buffers)
		pool = static_cast<buffers *>(map(sizeof(buffers)));
	return own && (pool || !with_buffers);
}

buffer::buffer() noexcept
{
	if (!pool)
		return;
	for (std::size_t i = 0; i < buffers_max; ++i)
		if (!pool->taken[i].load(std::memory_order_relaxed) &&
		    !pool->taken[i].exchange(1, std::memory_order_acquire)) {
			taken_ = &pool->taken[i];
			bytes_ = pool->bytes[i];
			return;
		}
}

buffer::~buffer()
{
	if (taken_)
		taken_->store(0, std::memory_order_release);
}

} // namespace qpattr::preload
