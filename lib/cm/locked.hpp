// SPDX-License-Identifier: MIT
// A mutex for as long as this lives, and one that a fork leaves in order.
#pragma once

#include <pthread.h>

namespace qpattr::cm {

class locked {
public:
	explicit locked(pthread_mutex_t &mutex) noexcept : mutex_{mutex}
	{
		pthread_mutex_lock(&mutex_);
	}
	~locked() { pthread_mutex_unlock(&mutex_); }
	locked(const locked &) = delete;
	locked &operator=(const locked &) = delete;

private:
	pthread_mutex_t &mutex_;
};

// A child that is forked while another thread holds the lock must not find it held by
// nobody. For locks that live as long as the process; nothing is taken while one is held.
template <pthread_mutex_t &mutex> pthread_mutex_t &fork_safe() noexcept
{
	static constinit pthread_once_t prepared = PTHREAD_ONCE_INIT;
	pthread_once(&prepared, [] {
		constexpr auto lock = [] { pthread_mutex_lock(&mutex); };
		constexpr auto unlock = [] { pthread_mutex_unlock(&mutex); };
		pthread_atfork(lock, unlock, unlock);
	});
	return mutex;
}

} // namespace qpattr::cm
