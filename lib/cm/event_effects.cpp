// SPDX-License-Identifier: MIT
// What an event does to its id before the program sees it.
#include "lib/cm/edge.hpp"
#include "lib/cm/event.hpp"
#include "lib/cm/extras.hpp"
#include "lib/cm/groups.hpp"
#include "lib/cm/learn.hpp"
#include "lib/cm/lifetime.hpp"
#include "lib/cm/qp_moves.hpp"

namespace qpattr::cm {
namespace {

void turn_into(event_record &happened, rdma_cm_event_type number, int code) noexcept
{
	happened.event = number;
	happened.status = -code;
}

void address_resolved(event_record &happened) noexcept
{
	identifier &id = *happened.counted;
	if (const auto learned = learn(id); !learned) {
		turn_into(happened, RDMA_CM_EVENT_ADDR_ERROR, learned.why().code);
		return;
	}
	advance(id, stage::resolving, stage::addr_resolved);
}

void route_resolved(event_record &happened) noexcept
{
	identifier &id = *happened.counted;
	advance(id, stage::addr_resolved, stage::route_resolved);
	if (const auto learned = learn_paths(id); !learned)
		turn_into(happened, RDMA_CM_EVENT_ROUTE_ERROR, learned.why().code);
}

// A request that was queued before its listener moved to another channel belongs
// to the old one, in the kernel, until it is moved itself.
result<void> learn_request(identifier &id, const identifier &listener) noexcept
{
	const auto learned = learn(id);
	const extras *more = extras_of(listener);
	if (learned || learned.why().code != EINVAL || !more || more->left_channel < 0)
		return learned;
	uapi::migrate_id::reply reply{};
	ucma::frame<uapi::migrate_id> command{&reply};
	command.body.id = id.handle;
	command.body.fd = static_cast<std::uint32_t>(more->left_channel);
	if (const auto moved = tell(id, command); !moved)
		return moved;
	return learn(id);
}

// False: the request cannot be served; the peer is refused by the kernel when it
// forgets the new id.
bool connect_request(event_record &happened) noexcept
{
	identifier &listener = *happened.counted;
	const auto made = make_id(listener.channel,
				  {listener.ps, listener.qp_type, listener.context});
	result<void> learned{};
	if (made) {
		identifier &id = *made.value();
		id.handle = happened.reply.id;
		set_stage(id, stage::requested);
		if (!is_datagram(id)) {
			id.responder_resources = happened.param.conn.responder_resources;
			id.initiator_depth = happened.param.conn.initiator_depth;
		}
		id.remote_ece = happened.reply.ece;
		learned = learn_request(id, listener);
	}
	if (!made || !learned) {
		say("a connection request is refused: %s (errno %d)",
		    made ? "its id cannot be queried" : "no memory for its id",
		    made ? learned.why().code : made.why().code);
		if (made)
			release(made.value());
		if (!destroy_in_kernel(listener.channel->fd, happened.reply.id))
			say("the id %u of a refused request stays in the kernel until its channel "
			    "is closed",
			    happened.reply.id);
		return false;
	}
	happened.listen_id = &listener;
	happened.id = made.value();
	return true;
}

// The peer has answered. A QP of the id's own is moved and the connection
// completed; otherwise both are the caller's (rdma_establish()).
void connect_response(event_record &happened) noexcept
{
	identifier &id = *happened.counted;
	id.remote_ece = happened.reply.ece;
	set_stage(id, stage::responded);
	if (!id.qp)
		return;
	if (const auto moved = complete_active(id); !moved) {
		turn_into(happened, RDMA_CM_EVENT_CONNECT_ERROR, moved.why().code);
		set_stage(id, stage::ended);
		return;
	}
	advance(id, stage::responded, stage::established);
	happened.event = RDMA_CM_EVENT_ESTABLISHED;
}

void no_connection(identifier &id) noexcept
{
	set_stage(id, stage::ended);
	if (id.qp && !is_datagram(id))
		(void)to_error(*id.qp); // the event is the news, not this
}

// Kernels from 6.1 on also say so when the neighbour entry of the peer changes,
// at any time; the connection does not notice. It ended only where the kernel
// has no attributes to give any more. The QP stays as it is, as with stock.
void unreachable(identifier &id) noexcept
{
	switch (stage_of(id)) {
	case stage::connecting:
	case stage::accepted:
		if (!still_connecting(id))
			set_stage(id, stage::ended);
		break;
	default:
		break;
	}
}

void multicast_joined(event_record &happened) noexcept
{
	group &joined = *happened.counted_too;
	happened.param.ud.private_data = joined.context;
	if (const auto attached = attach(joined, happened.param.ud); !attached)
		turn_into(happened, RDMA_CM_EVENT_MULTICAST_ERROR, attached.why().code);
}

} // namespace

bool take_effect(event_record &happened) noexcept
{
	identifier &id = *happened.counted;
	switch (happened.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		address_resolved(happened);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		// For a datagram id also a Q_Key that does not fit, after connecting.
		advance(id, stage::resolving, stage::bound);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		route_resolved(happened);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return connect_request(happened);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		connect_response(happened);
		break;
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		no_connection(id);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		unreachable(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		// Another reader may have the disconnect in hand already.
		if (!advance(id, stage::accepted, stage::established))
			advance(id, stage::connecting, stage::established);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		set_stage(id, stage::disconnected);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		set_stage(id, stage::removed);
		break;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		multicast_joined(happened);
		break;
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		happened.param.ud.private_data = happened.counted_too->context;
		break;
	default:
		// ROUTE_ERROR, ADDR_CHANGE, TIMEWAIT_EXIT, and what later kernels add.
		break;
	}
	return true;
}

} // namespace qpattr::cm
