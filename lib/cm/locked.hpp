// SPDX-License-Identifier: MIT
// A mutex for as long as this lives.
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

} // namespace qpattr::cm
