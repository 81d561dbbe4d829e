// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <pthread.h>

namespace qpattr::preload {

// Holds off cancellation and signals while ids and descriptors of ours are open,
// and while the dynamic linker and librdmacm hold their locks for us: a handler
// that calls rdma_init_qp_attr too would wait for its own thread.
class undisturbed {
public:
	undisturbed() noexcept { resume(); }
	~undisturbed() { pause(); }
	undisturbed(const undisturbed &) = delete;
	undisturbed &operator=(const undisturbed &) = delete;

	// As it was before, for a call that is not ours.
	void pause() noexcept
	{
		::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
		::pthread_setcancelstate(cancel_, nullptr);
	}
	void resume() noexcept
	{
		sigset_t all;
		::sigfillset(&all);
		::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_);
		::pthread_sigmask(SIG_SETMASK, &all, &signals_);
	}

private:
	int cancel_ = PTHREAD_CANCEL_ENABLE;
	sigset_t signals_;
};

} // namespace qpattr::preload
