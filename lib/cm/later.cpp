// SPDX-License-Identifier: MIT
// What came with kernel 7.2: events that a program writes, and the resolution of
// InfiniBand services.
#include "lib/cm/edge.hpp"

using namespace qpattr;
using namespace qpattr::cm;

// Kernels before 7.2 do not know the command, and say EINVAL as to a wrong one.
// To a right one of a live id they have no other reason.
int rdma_write_cm_event(rdma_cm_id *id, enum rdma_cm_event_type event, int status, uint64_t arg)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	ucma::frame<uapi::write_cm_event> command;
	command.body.id = own(id)->handle;
	command.body.event = static_cast<std::uint32_t>(event);
	command.body.status = static_cast<std::uint32_t>(status);
	command.body.param.arg = arg;
	auto told = tell(*own(id), command);
	const bool right = event == RDMA_CM_EVENT_USER || event == RDMA_CM_EVENT_INTERNAL;
	if (!told && told.why().code == EINVAL && right)
		told = wrong(ENOSYS);
	return made.finish(told);
}

// Service records come from an InfiniBand subnet administrator only; without one
// the kernel has nothing to resolve.
int rdma_resolve_addrinfo(rdma_cm_id *id, const char *, const char *, const rdma_addrinfo *)
{
	return refuse(usable(id) ? ENOSYS : EINVAL);
}

int rdma_query_addrinfo(rdma_cm_id *id, rdma_addrinfo **info)
{
	return refuse(usable(id) && info ? ENOSYS : EINVAL);
}
