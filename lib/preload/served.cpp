// SPDX-License-Identifier: MIT
#include "lib/preload/served.hpp"

#include <cerrno>
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include "lib/attr/translate.hpp"
#include "lib/preload/diagnostics.hpp"
#include "lib/preload/discover.hpp"
#include "lib/preload/memcheck.hpp"
#include "lib/ucma/command.hpp"

namespace qpattr::preload {

placement handle_place{0};
std::atomic<int> failed_looks{0};

namespace {

// Cancellation is held off while ids and descriptors of ours are open, and while
// the dynamic linker holds its lock for us.
class uncancelled {
public:
	uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
	~uncancelled() { pause(); }
	// As it was before.
	void pause() noexcept { ::pthread_setcancelstate(before_, nullptr); }
	void resume() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr); }
	uncancelled(const uncancelled &) = delete;
	uncancelled &operator=(const uncancelled &) = delete;

private:
	int before_ = PTHREAD_CANCEL_ENABLE;
};

// Looks that are going on, and in which process. In a child that was forked
// during one they stay for ever, and so may locks inside librdmacm that the
// looking thread held: such a child does not look.
std::atomic<int> looks{0};
std::atomic<pid_t> looks_of{0};

bool forked_during_a_look() noexcept
{
	return looks.load(std::memory_order_relaxed) > 0 &&
	       looks_of.load(std::memory_order_relaxed) != ::getpid();
}

// Threads that make their first calls at once each look for themselves and come
// to the same answer: nobody waits for another, so a fork child cannot be left
// waiting for a thread that it does not have.
int decide(int channel_fd) noexcept
{
	const uncancelled guard;
	if (forked_during_a_look())
		return by_stock;
	looks_of.store(::getpid(), std::memory_order_relaxed);
	looks.fetch_add(1, std::memory_order_relaxed);
	const discovery found = discover(channel_fd);
	looks.fetch_sub(1, std::memory_order_relaxed);
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

int ask_stock(cm_id *id, ibv_qp_attr *attr, int *mask) noexcept
{
	const int saved = errno;
	uncancelled guard;
	const stock library;
	if (!library.init_qp_attr)
		return refused(-ENOSYS);
	errno = saved;
	guard.pause();
	const int result = library.init_qp_attr(id, attr, mask);
	guard.resume();
	return result;
}

int ask_kernel(cm_id *id, std::size_t offset, ibv_qp_attr *attr, int *mask) noexcept
{
	uapi::init_qp_attr::reply reply;
	attr::clear(reply);
	ucma::frame<uapi::init_qp_attr> command{&reply};
	command.body.id = word_at(id, offset);
	command.body.qp_state = static_cast<std::uint32_t>(attr->qp_state);
	const long written = sys::write(id->channel->fd, &command, sizeof command);
	if (written != static_cast<long>(sizeof command))
		return refused(written);
	attr::translate(reply, *attr);
	*mask = static_cast<int>(reply.qp_attr_mask);
	return 0;
}

} // namespace

int refused(long written) noexcept
{
	errno = ucma::write_error(written, sizeof(ucma::frame<uapi::init_qp_attr>));
	return -1;
}

int serve_slowly(cm_id *id, ibv_qp_attr *attr, int *mask) noexcept
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
		return ask_stock(id, attr, mask);
	return ask_kernel(id, static_cast<std::size_t>(place < 0 ? -place : place), attr, mask);
}

} // namespace qpattr::preload
