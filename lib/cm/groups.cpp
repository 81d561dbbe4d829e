// SPDX-License-Identifier: MIT
#include "lib/cm/groups.hpp"

#include <cstring>

#include "lib/cm/acks.hpp"
#include "lib/cm/complete.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/event.hpp"
#include "lib/cm/extras.hpp"
#include "lib/cm/learn.hpp"
#include "lib/cm/left_events.hpp"
#include "lib/cm/live.hpp"
#include "lib/cm/locked.hpp"
#include "lib/cm/uncancelled.hpp"
#include "lib/cm/verbs_error.hpp"

namespace qpattr::cm {
namespace {

bool is_at(const group &joined, const sockaddr *address, std::size_t len) noexcept
{
	return std::memcmp(&joined.address, address, len) == 0;
}

// The one that was joined last, out of the list.
group *take(extras &from, const sockaddr *address, std::size_t len) noexcept
{
	const locked lock{from.lock};
	for (group **at = &from.groups; *at; at = &(*at)->next)
		if (is_at(**at, address, len)) {
			group *found = *at;
			*at = found->next;
			return found;
		}
	return nullptr;
}

// Under the lock.
void link(extras &into, group *joined) noexcept
{
	joined->next = into.groups;
	into.groups = joined;
}

// False: the QP is in the group still, and cannot be destroyed so.
bool detach(ibv_qp *qp, group &left) noexcept
{
	if (!qp || !left.attached.exchange(false))
		return true;
	if (ibv_detach_mcast(qp, &left.gid, left.lid) == 0)
		return true;
	left.attached.store(true);
	return false;
}

result<group *> make(identifier &id, const sockaddr *address, std::size_t len, bool send_only,
		     void *context) noexcept
{
	extras *more = make_extras(id);
	group *made = more ? groups.take() : nullptr;
	if (!made)
		return wrong(ENOMEM);
	made->member = &id;
	made->context = context;
	made->send_only = send_only;
	std::memcpy(&made->address, address, len);
	return made;
}

result<void> join(identifier &id, const sockaddr *address, std::uint16_t flags,
		  void *context) noexcept
{
	const auto len = address_len(address);
	if (!len)
		return wrong(EINVAL);
	const bool waits = id.has(identifier::synchronous);
	const auto made =
		make(id, address, len, flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, context);
	if (!made)
		return made.why();
	group *joined = made.value();
	uapi::join_mcast::reply reply{};
	ucma::frame<uapi::join_mcast> command{&reply};
	command.body.uid = groups.uid_of(joined);
	command.body.id = id.handle;
	command.body.addr_size = len;
	command.body.join_flags = flags;
	std::memcpy(&command.body.addr, address, len);
	{
		// Who leaves the group at its event waits until it has its number; who
		// destroys the id then, until the lock is free.
		const uncancelled held;
		const kept alive{id.acked};
		extras &more = *extras_of(id);
		const locked lock{more.lock};
		if (const auto told = tell(id, command); !told) {
			groups.give(joined);
			return told;
		}
		joined->handle = reply.id;
		link(more, joined);
	}
	return complete(id, waits);
}

result<void> leave(identifier &id, const sockaddr *address) noexcept
{
	const auto len = address_len(address);
	if (!len)
		return wrong(EINVAL);
	const uncancelled held;
	extras *more = extras_of(id);
	group *left = more ? take(*more, address, len) : nullptr;
	if (!left)
		return wrong(EADDRNOTAVAIL);
	(void)detach(id.qp, *left); // asked again below
	uapi::leave_mcast::reply reply{};
	ucma::frame<uapi::leave_mcast> command{&reply};
	command.body.id = left->handle;
	if (const auto told = tell(id, command); !told) {
		const locked lock{more->lock};
		link(*more, left); // still a member
		return told;
	}
	// A synchronous join left its event with the id; nobody else acknowledges it.
	if (id.event && static_cast<event_record *>(id.event)->counted_too == left)
		drop_event(id);
	forget_left_events(*left);
	await_acks(left->acked, reply.events_reported, "rdma_leave_multicast", id.handle);
	// Its event may have been on its way.
	(void)detach(id.qp, *left);
	groups.give(left);
	return {};
}

} // namespace

result<void> attach(group &joined, const rdma_ud_param &where) noexcept
{
	joined.gid = where.ah_attr.grh.dgid;
	joined.lid = where.ah_attr.dlid;
	identifier &id = *joined.member;
	if (!id.qp || joined.send_only)
		return {};
	errno = 0;
	if (const int refused = ibv_attach_mcast(id.qp, &joined.gid, joined.lid))
		return verbs_failure(refused);
	joined.attached.store(true);
	return {};
}

void detach_all(identifier &id) noexcept
{
	extras *more = extras_of(id);
	if (!more)
		return;
	const locked lock{more->lock};
	// Asked again: what fails for a moment only would leave the QP to nobody.
	for (group *at = more->groups; at; at = at->next)
		if (!detach(id.qp, *at))
			(void)detach(id.qp, *at);
}

void free_groups(identifier &id) noexcept
{
	extras *more = extras_of(id);
	while (more && more->groups) {
		group *gone = more->groups;
		more->groups = gone->next;
		groups.give(gone);
	}
}

} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_join_multicast(rdma_cm_id *id, sockaddr *addr, void *context)
{
	const call made;
	if (!usable(id) || !addr)
		return refuse(EINVAL);
	return made.finish(join(*own(id), addr, RDMA_MC_JOIN_FLAG_FULLMEMBER, context));
}

int rdma_join_multicast_ex(rdma_cm_id *id, rdma_cm_join_mc_attr_ex *mc_join_attr, void *context)
{
	const call made;
	if (!usable(id) || !mc_join_attr)
		return refuse(EINVAL);
	if (mc_join_attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED)
		return refuse(EOPNOTSUPP);
	constexpr std::uint32_t both =
		RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
	if (mc_join_attr->comp_mask != both || !mc_join_attr->addr ||
	    mc_join_attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return refuse(EINVAL);
	return made.finish(join(*own(id), mc_join_attr->addr,
				static_cast<std::uint16_t>(mc_join_attr->join_flags), context));
}

int rdma_leave_multicast(rdma_cm_id *id, sockaddr *addr)
{
	const call made;
	if (!usable(id) || !addr)
		return refuse(EINVAL);
	return made.finish(leave(*own(id), addr));
}
