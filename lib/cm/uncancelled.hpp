// SPDX-License-Identifier: MIT
// Where a thread that is cancelled would leave a lock held, a descriptor open or a
// QP half moved: libibverbs and libc have cancellation points in there. What was
// asked for meanwhile acts at the next one. Waiting for an event stays one.
#pragma once

#include <pthread.h>

namespace qpattr::cm {

class uncancelled {
public:
	uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
	~uncancelled() { pthread_setcancelstate(before_, nullptr); }
	uncancelled(const uncancelled &) = delete;
	uncancelled &operator=(const uncancelled &) = delete;

private:
	int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace qpattr::cm
