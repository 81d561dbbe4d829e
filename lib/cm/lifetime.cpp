// SPDX-License-Identifier: MIT
#include "lib/cm/lifetime.hpp"

#include <cstdlib>
#include <utility>

#include "lib/cm/acks.hpp"
#include "lib/cm/channel.hpp"
#include "lib/cm/complete.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/extras.hpp"
#include "lib/cm/groups.hpp"
#include "lib/cm/left_events.hpp"
#include "lib/cm/live.hpp"

#include <qpattr/cm.h>

namespace qpattr::cm {
namespace {

// What plain rdma_create_id() takes for the type of the QP.
ibv_qp_type usual_type(rdma_port_space ps) noexcept
{
	return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

// The channel of its own that a listener has left.
void close_left(identifier &id) noexcept
{
	extras *more = extras_of(id);
	if (more && more->left_own)
		close_channel(std::exchange(more->left_own, nullptr));
}

} // namespace

result<identifier *> make_id(rdma_event_channel *channel, const id_properties &what) noexcept
{
	identifier *id = ids.take();
	if (!id)
		return wrong(ENOMEM);
	id->channel = channel;
	id->context = what.context;
	id->ps = what.ps;
	id->qp_type = what.qp_type;
	return id;
}

void release(identifier *id) noexcept
{
	free_groups(*id);
	close_left(*id);
	free_extras(*id);
	std::free(id->route.path_rec);
	if (id->has(identifier::synchronous))
		close_channel(id->channel);
	ids.give(id);
}

result<identifier *> create_id(rdma_event_channel *channel, const id_properties &what) noexcept
{
	const bool synchronous = !channel;
	if (synchronous) {
		const auto opened = open_channel();
		if (!opened)
			return opened.why();
		channel = opened.value();
	}
	const auto made = make_id(channel, what);
	if (!made) {
		if (synchronous)
			close_channel(channel);
		return made;
	}
	identifier &id = *made.value();
	id.put(identifier::synchronous, synchronous);
	uapi::create_id::reply reply{};
	ucma::frame<uapi::create_id> command{&reply};
	command.body.uid = ids.uid_of(&id);
	command.body.ps = static_cast<std::uint16_t>(what.ps);
	command.body.qp_type = static_cast<std::uint8_t>(what.qp_type);
	if (const auto told = tell(id, command); !told) {
		release(&id);
		return told.why();
	}
	id.handle = reply.id;
	return &id;
}

result<std::uint32_t> destroy_in_kernel(int fd, std::uint32_t handle) noexcept
{
	uapi::destroy_id::reply reply{};
	ucma::frame<uapi::destroy_id> command{&reply};
	command.body.id = handle;
	if (const auto told = tell(fd, command); !told)
		return told.why();
	return reply.events_reported;
}

result<void> destroy(identifier *id) noexcept
{
	const auto delivered = destroy_in_kernel(id->channel->fd, id->handle);
	if (!delivered)
		return delivered.why();
	drop_event(*id);
	forget_left_events(*id);
	// Another thread may have read an event and not looked it up yet: the id
	// stays in the table until all that were delivered are acknowledged.
	await_acks(id->acked, delivered.value(), "rdma_destroy_id", id->handle);
	release(id);
	return {};
}

result<void> move(identifier &id, rdma_event_channel *to, bool synchronous) noexcept
{
	uapi::migrate_id::reply reply{};
	ucma::frame<uapi::migrate_id> command{&reply};
	rdma_event_channel *const from = id.channel;
	rdma_cm_event *const last = id.event;
	const bool was_synchronous = id.has(identifier::synchronous);
	command.body.id = id.handle;
	command.body.fd = static_cast<std::uint32_t>(from->fd);
	const kept alive{id.acked};
	// All of it first: who reads the new channel may have an event that moved along at
	// once, and destroy the id.
	id.channel = to;
	id.event = nullptr;
	id.put(identifier::synchronous, synchronous);
	if (const auto told = tell(to->fd, command); !told) {
		id.channel = from;
		id.event = last;
		id.put(identifier::synchronous, was_synchronous);
		return told.why();
	}
	if (last)
		rdma_ack_cm_event(last);
	// Those are read, and acknowledged, on the new channel. One less: it is `alive`.
	const std::uint32_t left = move_left_events(id, to->fd) + 1;
	await_acks(id.acked, reply.events_reported - left, "rdma_migrate_id", id.handle);
	return {};
}

namespace {

// Requests that wait unread stay behind in the kernel: see event_effects.cpp.
result<void> move_listener(identifier &id, rdma_event_channel *to, bool synchronous) noexcept
{
	if (stage_of(id) != stage::listening)
		return move(id, to, synchronous);
	extras *more = make_extras(id);
	if (!more)
		return wrong(ENOMEM);
	const int left_before = more->left_channel;
	more->left_channel = id.channel->fd;
	const auto moved = move(id, to, synchronous);
	if (moved)
		close_left(id);
	else
		more->left_channel = left_before;
	return moved;
}

// The channel of its own. With it the kernel would refuse the requests that wait there unread,
// and on 6.1 destroying one that is read later waits for ever: a listener keeps it.
void leave_own(identifier &id, rdma_event_channel *channel) noexcept
{
	extras *more = extras_of(id);
	if (more && more->left_channel == channel->fd)
		more->left_own = channel;
	else
		close_channel(channel);
}

} // namespace
} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_create_id(rdma_event_channel *channel, rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	return qpattr_id_create(channel, id, context, ps, 0);
}

int qpattr_id_create(rdma_event_channel *channel, rdma_cm_id **id, void *context,
		     enum rdma_port_space ps, unsigned int flags)
{
	if (!id || (flags & ~static_cast<unsigned>(QPATTR_ID_NO_PATH)))
		return refuse(EINVAL);
	const call done;
	const auto made = create_id(channel, {ps, usual_type(ps), context});
	if (!made)
		return refuse(made.why().code);
	made.value()->put(identifier::no_path, flags & QPATTR_ID_NO_PATH);
	*id = made.value();
	done.succeeded();
	return 0;
}

int rdma_destroy_id(rdma_cm_id *id)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(destroy(own(id)));
}

int rdma_migrate_id(rdma_cm_id *public_id, rdma_event_channel *channel)
{
	if (!usable(public_id))
		return refuse(EINVAL);
	const call made;
	identifier &id = *own(public_id);
	const bool synchronous = !channel;
	rdma_event_channel *const old = id.channel;
	const bool own_channel = id.has(identifier::synchronous);
	// Synchronous already; its channel would be closed under it.
	if (own_channel && (synchronous || channel == old))
		return refuse(EINVAL);
	if (synchronous) {
		const auto opened = open_channel();
		if (!opened)
			return refuse(opened.why().code);
		channel = opened.value();
	}
	if (const auto moved = move_listener(id, channel, synchronous); !moved) {
		if (synchronous)
			close_channel(channel);
		return refuse(moved.why().code);
	}
	if (own_channel)
		leave_own(id, old);
	made.succeeded();
	return 0;
}
