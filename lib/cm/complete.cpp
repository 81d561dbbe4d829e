// SPDX-License-Identifier: MIT
#include "lib/cm/complete.hpp"

#include "lib/cm/edge.hpp"
#include "lib/cm/qp_moves.hpp"

namespace qpattr::cm {
namespace {

int errno_of(const rdma_cm_event &happened) noexcept
{
	if (happened.event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return ENODEV;
	if (happened.status < 0)
		return -happened.status;
	// A reason of the connection manager's, which is no errno.
	if (happened.event == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	return happened.status;
}

// Not what the call waits for: a bond's failover, the end of a timewait; and, from
// kernels 6.1 on, an unreachable peer whose neighbour entry only changed, while the
// connection goes on.
bool is_beside(const identifier &id, const rdma_cm_event &happened) noexcept
{
	if (happened.event == RDMA_CM_EVENT_ADDR_CHANGE ||
	    happened.event == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return true;
	// Of a step that did not wait, such as an option: the call is further on.
	if (happened.event == RDMA_CM_EVENT_ADDR_RESOLVED ||
	    happened.event == RDMA_CM_EVENT_ROUTE_RESOLVED)
		return stage_of(id) >= stage::connecting;
	if (happened.event != RDMA_CM_EVENT_UNREACHABLE)
		return false;
	switch (stage_of(id)) {
	case stage::addr_resolved:
	case stage::route_resolved:
	case stage::established:
		return true;
	case stage::connecting:
	case stage::accepted:
		return still_connecting(id);
	default:
		return false;
	}
}

} // namespace

void drop_event(identifier &id) noexcept
{
	if (!id.event)
		return;
	rdma_ack_cm_event(id.event);
	id.event = nullptr;
}

result<void> complete(identifier &id, bool waits) noexcept
{
	if (!waits)
		return {};
	drop_event(id);
	for (;;) {
		if (rdma_get_cm_event(id.channel, &id.event) != 0)
			return failure{errno, QPATTR_STAGE_COMMAND};
		if (!is_beside(id, *id.event))
			break;
		drop_event(id);
	}
	if (const int code = errno_of(*id.event))
		return failure{code, QPATTR_STAGE_COMMAND};
	return {};
}

} // namespace qpattr::cm
