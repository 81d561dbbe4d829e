// SPDX-License-Identifier: MIT
#include "lib/preload/looker.hpp"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <sys/types.h>
#include <unistd.h>

namespace qpattr::preload {
namespace {

constexpr std::size_t lookers_max = 32;
std::atomic<pthread_t> lookers[lookers_max];
std::atomic<pid_t> lookers_process{0};
std::atomic<int> forks{0}; // under way

// Until it holds, or for a second: what a look waits for may be held by who forks.
// Whether it does.
template <class Condition> bool wait_until(Condition holds) noexcept
{
	constexpr std::int64_t patience_ns = 1'000'000'000;
	constexpr timespec pause{0, 50'000};
	const auto now = []() noexcept {
		timespec at;
		::clock_gettime(CLOCK_MONOTONIC, &at);
		return at.tv_sec * std::int64_t{1'000'000'000} + at.tv_nsec;
	};
	const std::int64_t start = now();
	while (!holds()) {
		if (now() - start >= patience_ns)
			return false;
		::nanosleep(&pause, nullptr);
	}
	return true;
}

bool nobody_but(pthread_t self) noexcept
{
	for (const auto &other : lookers)
		if (const pthread_t who = other.load(); who != 0 && who != self)
			return false;
	return true;
}

void before_fork() noexcept
{
	forks.fetch_add(1);
	wait_until([self = ::pthread_self()]() noexcept { return nobody_but(self); });
}

void in_parent() noexcept
{
	forks.fetch_sub(1);
}

// Of the threads that were forking, it has the one that forked it.
void in_child() noexcept
{
	forks.store(0);
}

// After the allocators have done so: the last to register is the first that is asked.
[[gnu::constructor]] void watch_forks() noexcept
{
	::pthread_atfork(before_fork, in_parent, in_child);
}

std::atomic<pthread_t> *free_slot(pthread_t self) noexcept
{
	for (auto &slot : lookers) {
		pthread_t nobody = 0;
		if (slot.compare_exchange_strong(nobody, self))
			return &slot;
	}
	return nullptr;
}

} // namespace

void looker::join() noexcept
{
	const pid_t process = ::getpid();
	const pthread_t self = ::pthread_self();
	pid_t first = 0;
	if (!lookers_process.compare_exchange_strong(first, process) && first != process) {
		// Forked. Nobody was looking then: the list is ours.
		if (!nobody_but(0))
			return;
		lookers_process.store(process);
	}
	for (const auto &other : lookers)
		if (other.load() == self)
			return;
	const auto no_fork = []() noexcept { return forks.load() == 0; };
	for (bool waits = true; waits;) {
		slot_ = free_slot(self);
		if (!slot_ || no_fork())
			return;
		leave();
		waits = wait_until(no_fork);
	}
	slot_ = free_slot(self);
}

} // namespace qpattr::preload
