// SPDX-License-Identifier: MIT
#include "lib/preload/served.hpp"

#include <cerrno>
#include <csignal>
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include "lib/preload/diagnostics.hpp"
#include "lib/preload/discover.hpp"
#include "lib/preload/memcheck.hpp"
#include "lib/query.hpp"

namespace qpattr::preload {

placement handle_place{0};
std::atomic<int> failed_looks{0};

namespace {

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

// Who is looking at the moment, and in which process.
//
// A thread that is in the list already came here from inside its own look, by an
// allocator of the program's, say. In a child that was forked during a look the
// list stays as it was, and so may locks inside librdmacm that the looking thread
// held. Neither looks; both are served by stock.
constexpr std::size_t lookers_max = 32;
std::atomic<pthread_t> lookers[lookers_max];
std::atomic<pid_t> lookers_process{0};

class looker {
public:
	looker() noexcept
	{
		const pid_t process = ::getpid();
		const pthread_t self = ::pthread_self();
		pid_t first = 0;
		if (!lookers_process.compare_exchange_strong(first, process) && first != process) {
			// Forked. Nobody was looking then: the list is ours.
			for (const auto &other : lookers)
				if (other.load() != 0)
					return;
			lookers_process.store(process);
		}
		for (const auto &other : lookers)
			if (other.load() == self)
				return;
		for (auto &slot : lookers) {
			pthread_t nobody = 0;
			if (slot.compare_exchange_strong(nobody, self)) {
				slot_ = &slot;
				return;
			}
		}
	}
	~looker()
	{
		if (slot_)
			slot_->store(0);
	}
	looker(const looker &) = delete;
	looker &operator=(const looker &) = delete;

	[[nodiscard]] bool may_look() const noexcept { return slot_ != nullptr; }

private:
	std::atomic<pthread_t> *slot_ = nullptr;
};

// Threads that make their first calls at once each look for themselves and come
// to the same answer: nobody waits for another, so a fork child cannot be left
// waiting for a thread that it does not have.
int decide(int channel_fd) noexcept
{
	const undisturbed guard;
	const looker me;
	if (!me.may_look())
		return by_stock;
	const discovery found = discover(channel_fd);
	if (found.what == obstacle::none) {
		const int offset = static_cast<int>(found.offset);
		const int place = under_memcheck() ? -offset : offset;
		// A success stands, also over another thread's failure.
		if (handle_place.exchange(place, std::memory_order_relaxed) != place)
			report_found(found.offset);
		return place;
	}
	if (found.transient() &&
	    failed_looks.fetch_add(1, std::memory_order_relaxed) + 1 < failed_looks_max)
		return by_stock; // for this call; the next one looks again
	int undecided = 0;
	if (handle_place.compare_exchange_strong(undecided, by_stock, std::memory_order_relaxed)) {
		report_stock(found);
		return by_stock;
	}
	return undecided; // another thread found the place meanwhile
}

// Of several librdmacm, which know their own ids only, the one that calls, or the
// usual one: which a program's own call is meant for cannot be told.
int ask_stock(cm_id *id, ibv_qp_attr *attr, int *mask, const void *caller) noexcept
{
	int result = -1;
	int code = ENOSYS;
	const int before = errno;
	const auto ask = [&](const stock &library, undisturbed &guard) noexcept {
		if (!library.init_qp_attr)
			return false;
		guard.pause();
		errno = before;
		result = library.init_qp_attr(id, attr, mask);
		code = errno;
		guard.resume();
		return true;
	};
	{
		undisturbed guard;
		if (!ask(stock{librdmacm_of(caller)}, guard)) {
			const copies all;
			if (all.count())
				ask(stock{all[0]}, guard);
		}
	}
	// The dynamic linker may have left another.
	errno = code;
	return result;
}

int ask_kernel(cm_id *id, std::size_t offset, ibv_qp_attr *attr, int *mask) noexcept
{
	const auto asked = query(id->channel->fd, word_at(id, offset),
				 static_cast<std::uint32_t>(attr->qp_state), *attr, *mask);
	return asked ? 0 : refused(-asked.why().code);
}

} // namespace

int refused(long written) noexcept
{
	errno = ucma::write_error(written, sizeof(ucma::frame<uapi::init_qp_attr>));
	return -1;
}

int serve_slowly(cm_id *id, ibv_qp_attr *attr, int *mask, const void *caller) noexcept
{
	if (!mask || !id->channel)
		return refused(-EINVAL);
	// The look may leave any errno behind; a call that succeeds leaves the
	// caller's untouched.
	const int saved = errno;
	int place = handle_place.load(std::memory_order_relaxed);
	if (place == 0)
		place = decide(id->channel->fd);
	errno = saved;
	if (place == by_stock)
		return ask_stock(id, attr, mask, caller);
	return ask_kernel(id, static_cast<std::size_t>(place < 0 ? -place : place), attr, mask);
}

} // namespace qpattr::preload
