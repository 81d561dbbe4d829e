// SPDX-License-Identifier: MIT
#include "lib/preload/served.hpp"

#include <cerrno>

#include "lib/preload/diagnostics.hpp"
#include "lib/preload/discover.hpp"
#include "lib/preload/looker.hpp"
#include "lib/preload/memcheck.hpp"
#include "lib/preload/observe.hpp"
#include "lib/preload/undisturbed.hpp"
#include "lib/query.hpp"

namespace qpattr::preload {

placement handle_place{0};
std::atomic<int> failed_looks{0};

namespace {

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
		const int place = under_memcheck() || observing ? -offset : offset;
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
	const auto ask = [&](const stock &library, undisturbed &guard, looker &me) noexcept {
		if (!library.init_qp_attr)
			return false;
		me.leave();
		guard.pause();
		errno = before;
		result = library.init_qp_attr(id, attr, mask);
		code = errno;
		guard.resume();
		me.join();
		return true;
	};
	{
		undisturbed guard;
		looker me;
		if (!ask(stock{librdmacm_of(caller)}, guard, me)) {
			const copies all;
			if (all.count())
				ask(stock{all[0]}, guard, me);
		}
	}
	// The dynamic linker may have left another.
	errno = code;
	return result;
}

int ask_kernel(cm_id *id, std::size_t offset, ibv_qp_attr *attr, int *mask) noexcept
{
	const auto asked = query(id->channel->fd, word_at(id, offset),
				 state_asked(*attr), *attr, *mask);
	return asked ? 0 : refused(-asked.why().code);
}

} // namespace

int refused(long written) noexcept
{
	errno = ucma::write_error(written, sizeof(ucma::frame<uapi::init_qp_attr>));
	return -1;
}

int serve(cm_id *id, ibv_qp_attr *attr, int *mask, const void *caller, bool &stock_served) noexcept
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
	stock_served = place == by_stock;
	if (stock_served)
		return ask_stock(id, attr, mask, caller);
	return ask_kernel(id, static_cast<std::size_t>(place < 0 ? -place : place), attr, mask);
}

int serve_slowly(cm_id *id, ibv_qp_attr *attr, int *mask, const void *caller) noexcept
{
	bool stock_served = false;
	return observing ? observe(id, attr, mask, caller)
			 : serve(id, attr, mask, caller, stock_served);
}

} // namespace qpattr::preload
