// SPDX-License-Identifier: MIT
#include "lib/cm/left_events.hpp"

#include <atomic>
#include <pthread.h>

#include "lib/cm/event.hpp"
#include "lib/cm/lifetime.hpp"
#include "lib/cm/live.hpp"
#include "lib/cm/locked.hpp"
#include "lib/cm/uncancelled.hpp"

namespace qpattr::cm {
namespace {

constinit std::atomic<unsigned> left_count{0};
constinit pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER; // taken where there are some only
event_record *left_events = nullptr;

// The first that `is_wanted`, out of the list.
template <class Wanted> event_record *take(Wanted is_wanted) noexcept
{
	if (!left_count.load(std::memory_order_relaxed))
		return nullptr;
	const uncancelled held;
	const locked lock{fork_safe<left_lock>()};
	for (event_record **at = &left_events; *at; at = &(*at)->next)
		if (is_wanted(**at)) {
			event_record *found = *at;
			*at = found->next;
			left_count.fetch_sub(1, std::memory_order_relaxed);
			return found;
		}
	return nullptr;
}

template <class Wanted> void forget(Wanted is_wanted) noexcept
{
	while (event_record *left = take(is_wanted)) {
		if (left->reply.event == RDMA_CM_EVENT_CONNECT_REQUEST)
			(void)destroy_in_kernel(left->fd, left->reply.id);
		const owner whose = owner_of(left->reply);
		left->counted = whose.id;
		left->counted_too = whose.joined;
		rdma_ack_cm_event(left);
	}
}

} // namespace

void leave_event(event_record *in_hand) noexcept
{
	if (!in_hand->reply.uid) {
		events.give(in_hand); // the kernel has written nothing
		return;
	}
	const locked lock{fork_safe<left_lock>()};
	event_record **end = &left_events;
	while (*end)
		end = &(*end)->next;
	*end = in_hand;
	left_count.fetch_add(1, std::memory_order_relaxed);
}

event_record *take_left_event(int fd) noexcept
{
	return take([fd](const event_record &left) { return left.fd == fd; });
}

void forget_left_events(int fd) noexcept
{
	forget([fd](const event_record &left) { return left.fd == fd; });
}

void forget_left_events(const identifier &id) noexcept
{
	forget([&id](const event_record &left) { return owner_of(left.reply).id == &id; });
}

void forget_left_events(const group &of) noexcept
{
	forget([&of](const event_record &left) { return owner_of(left.reply).joined == &of; });
}

std::uint32_t move_left_events(const identifier &id, int fd) noexcept
{
	if (!left_count.load(std::memory_order_relaxed))
		return 0;
	const uncancelled held;
	const locked lock{fork_safe<left_lock>()};
	std::uint32_t moved = 0;
	for (event_record *one = left_events; one; one = one->next)
		if (owner_of(one->reply).id == &id) {
			one->fd = fd;
			++moved;
		}
	return moved;
}

} // namespace qpattr::cm
