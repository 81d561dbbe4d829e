// SPDX-License-Identifier: MIT
#include "lib/cm/extras.hpp"

#include <cstdlib>
#include <new>

#include "lib/cm/identifier.hpp"

namespace qpattr::cm {

extras *extras_of(const identifier &id) noexcept
{
	return id.more.load(std::memory_order_acquire);
}

extras *make_extras(identifier &id) noexcept
{
	if (extras *there = extras_of(id))
		return there;
	void *memory = std::calloc(1, sizeof(extras));
	if (!memory)
		return nullptr;
	auto *made = new (memory) extras{};
	pthread_mutex_init(&made->lock, nullptr);
	made->left_channel = -1;
	extras *none = nullptr;
	if (id.more.compare_exchange_strong(none, made, std::memory_order_acq_rel))
		return made;
	pthread_mutex_destroy(&made->lock);
	std::free(made);
	return none; // another thread's
}

void free_extras(identifier &id) noexcept
{
	extras *gone = id.more.exchange(nullptr, std::memory_order_acq_rel);
	if (!gone)
		return;
	pthread_mutex_destroy(&gone->lock);
	std::free(gone);
}

} // namespace qpattr::cm
