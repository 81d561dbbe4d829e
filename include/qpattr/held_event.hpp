// SPDX-License-Identifier: MIT
/**
 * @file held_event.hpp
 * Inside of the C++ layer: events that are not acknowledged yet, and who holds
 * them.
 *
 * rdma_destroy_id() waits until every event of the id is acknowledged. A thread that
 * holds one itself would wait for itself, for ever. So the layer knows which thread
 * holds which event; destroying an id looks here first.
 *
 * A lock of its own for each of some groups of ids, held for a few instructions: no
 * two connections wait for each other but by chance. Nothing is allocated: an event
 * is its own link.
 */
#ifndef QPATTR_HELD_EVENT_HPP
#define QPATTR_HELD_EVENT_HPP

#include <cstddef>
#include <cstdint>
#include <utility>

#include <pthread.h>

#include <rdma/rdma_cma.h>

namespace qpattr::inline v0::detail {

/* Owns one event of rdma_get_cm_event(): acknowledges it once. */
class held_event {
public:
	held_event() noexcept = default;
	explicit held_event(rdma_cm_event *got) noexcept { hold(got); }
	held_event(held_event &&other) noexcept { hold(other.let_go()); }
	held_event &operator=(held_event &&other) noexcept
	{
		if (this != &other) {
			ack();
			hold(other.let_go());
		}
		return *this;
	}
	~held_event() { ack(); }

	[[nodiscard]] rdma_cm_event *get() const noexcept { return raw_; }

	/* Forgets the event without acknowledging it. */
	rdma_cm_event *let_go() noexcept
	{
		if (!raw_)
			return nullptr;
		const group_lock lock{group_of(counted_on_)};
		if (!raw_)
			return nullptr; // acknowledged meanwhile, with its id
		unlink(lock);
		return std::exchange(raw_, nullptr);
	}

	void ack() noexcept
	{
		if (rdma_cm_event *const old = let_go())
			::rdma_ack_cm_event(old);
	}

	/* Whether this thread holds an event that a destruction of the id waits for. */
	static bool any_here(const rdma_cm_id *id) noexcept
	{
		const group_lock lock{group_of(id)};
		return find(lock, id) != nullptr;
	}

	/* Acknowledges those; their owners are empty then. */
	static void ack_all_here(const rdma_cm_id *id) noexcept
	{
		while (rdma_cm_event *const event = take_here(id))
			::rdma_ack_cm_event(event);
	}

	/* Once, whoever calls it first. */
	static bool make_fork_safe() noexcept
	{
		return __atomic_exchange_n(&forks_are_safe, true, __ATOMIC_RELAXED) ||
		       ::pthread_atfork(lock_all, unlock_all, unlock_all) == 0;
	}

private:
	struct group {
		pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		held_event *first = nullptr;
	};
	static constexpr std::size_t group_count = 64;
	static group groups[group_count];

	/* A child that is forked while another thread holds a lock would find it held by
	 * nobody. They are independent and nothing is called while one is held: any order. */
	static void lock_all() noexcept
	{
		for (group &each : groups)
			::pthread_mutex_lock(&each.lock);
	}
	static void unlock_all() noexcept
	{
		for (group &each : groups)
			::pthread_mutex_unlock(&each.lock);
	}
	static bool forks_are_safe;

	class group_lock {
	public:
		explicit group_lock(group &of) noexcept : of_{of} { ::pthread_mutex_lock(&of_.lock); }
		group_lock(const group_lock &) = delete;
		group_lock &operator=(const group_lock &) = delete;
		~group_lock() { ::pthread_mutex_unlock(&of_.lock); }
		held_event *&first() const noexcept { return of_.first; }

	private:
		group &of_;
	};

	/* Ids are some hundred bytes apart; a multiplication spreads what is left. */
	static group &group_of(const rdma_cm_id *id) noexcept
	{
		const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(id));
		static_assert(group_count == 1 << (64 - 58));
		return groups[(bits * 0x9e3779b97f4a7c15u) >> 58];
	}

	/* The kernel counts a request on the listener, not on the id that it brings. */
	static const rdma_cm_id *counted_on(const rdma_cm_event &event) noexcept
	{
		return event.event == RDMA_CM_EVENT_CONNECT_REQUEST ? event.listen_id : event.id;
	}

	static held_event *find(const group_lock &in, const rdma_cm_id *id) noexcept
	{
		const pthread_t here = ::pthread_self();
		for (held_event *each = in.first(); each; each = each->next_)
			if (each->counted_on_ == id && ::pthread_equal(each->holder_, here))
				return each;
		return nullptr;
	}

	static rdma_cm_event *take_here(const rdma_cm_id *id) noexcept
	{
		const group_lock lock{group_of(id)};
		held_event *const found = find(lock, id);
		if (!found)
			return nullptr;
		found->unlink(lock);
		return std::exchange(found->raw_, nullptr);
	}

	void hold(rdma_cm_event *event) noexcept
	{
		raw_ = event;
		if (!event)
			return;
		counted_on_ = counted_on(*event);
		holder_ = ::pthread_self();
		const group_lock lock{group_of(counted_on_)};
		previous_ = nullptr;
		next_ = lock.first();
		if (next_)
			next_->previous_ = this;
		lock.first() = this;
	}

	void unlink(const group_lock &in) noexcept
	{
		(previous_ ? previous_->next_ : in.first()) = next_;
		if (next_)
			next_->previous_ = previous_;
	}

	rdma_cm_event *raw_ = nullptr;
	const rdma_cm_id *counted_on_ = nullptr;
	pthread_t holder_{};
	held_event *next_ = nullptr;
	held_event *previous_ = nullptr;
};

inline constinit held_event::group held_event::groups[group_count]{};
inline constinit bool held_event::forks_are_safe = false;

/* Before main(), or as the library that includes this is loaded: no thread has an event
 * yet, and no lock needs to ask. Of each file its own; what is shared wants a guard of the
 * C++ runtime. */
[[maybe_unused]] const bool fork_safe = held_event::make_fork_safe();

} // namespace qpattr::inline v0::detail

#endif
