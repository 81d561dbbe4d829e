// SPDX-License-Identifier: MIT
// From an idle id to a route: rdma_bind_addr(), rdma_resolve_addr(),
// rdma_resolve_route(), and the ports.
#include "lib/cm/acks.hpp"
#include "lib/cm/complete.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/learn.hpp"
#include "lib/cm/resolve.hpp"

#include <cstring>
#include <endian.h>
#include <netinet/in.h>

#include <infiniband/ib.h>

namespace qpattr::cm {

result<void> bind(identifier &id, const sockaddr *address, std::size_t len) noexcept
{
	if (len > sizeof(sockaddr_storage) || (len && !address))
		return wrong(EINVAL);
	ucma::frame<uapi::bind> command;
	command.body.id = id.handle;
	command.body.addr_size = static_cast<std::uint16_t>(len);
	std::memcpy(&command.body.addr, address, len);
	// Its device may go at once, and who reads of that destroys it.
	const kept alive{id.acked};
	if (const auto told = tell(id, command); !told)
		return told;
	advance(id, stage::idle, stage::bound);
	return learn(id);
}

result<void> resolve_address(identifier &id, const resolution &what) noexcept
{
	if (what.src_len > sizeof(sockaddr_storage) || what.dst_len > sizeof(sockaddr_storage) ||
	    (what.dst_len && !what.dst) || (what.src_len && !what.src))
		return wrong(EINVAL);
	// A second one in a later state is EINVAL and, on 5.10, makes the kernel forget
	// the destination: it is not sent.
	const stage before = stage_of(id);
	if ((before != stage::idle && before != stage::bound) ||
	    !advance(id, before, stage::resolving))
		return wrong(EINVAL);
	const bool waits = id.has(identifier::synchronous);
	ucma::frame<uapi::resolve_addr> command;
	command.body.id = id.handle;
	command.body.timeout_ms = static_cast<std::uint32_t>(what.timeout_ms);
	command.body.src_size = static_cast<std::uint16_t>(what.src_len);
	command.body.dst_size = static_cast<std::uint16_t>(what.dst_len);
	if (what.src_len)
		std::memcpy(&command.body.src_addr, what.src, what.src_len);
	if (what.dst_len)
		std::memcpy(&command.body.dst_addr, what.dst, what.dst_len);
	// Before the event can come: it brings what the kernel knows of the address.
	const sockaddr_storage kept = id.route.addr.dst_storage;
	if (what.dst_len)
		std::memcpy(&id.route.addr.dst_storage, what.dst, what.dst_len);
	if (const auto told = tell(id, command); !told) {
		id.route.addr.dst_storage = kept;
		set_stage(id, before);
		return told;
	}
	return complete(id, waits);
}

result<void> resolve_route(identifier &id, int timeout_ms) noexcept
{
	const bool waits = id.has(identifier::synchronous);
	ucma::frame<uapi::resolve_route> command;
	command.body.id = id.handle;
	command.body.timeout_ms = static_cast<std::uint32_t>(timeout_ms);
	if (const auto told = tell(id, command); !told)
		return told;
	return complete(id, waits);
}

namespace {

__be16 port_of(const sockaddr_storage &address) noexcept
{
	switch (address.ss_family) {
	case AF_INET:
		return reinterpret_cast<const sockaddr_in &>(address).sin_port;
	case AF_INET6:
		return reinterpret_cast<const sockaddr_in6 &>(address).sin6_port;
	case AF_IB: { // the low 16 bits of the service id, where the mask has them
		const auto &ib = reinterpret_cast<const sockaddr_ib &>(address);
		return htons(static_cast<std::uint16_t>(be64toh(ib.sib_sid & ib.sib_sid_mask)));
	}
	default:
		return 0;
	}
}

} // namespace
} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_bind_addr(rdma_cm_id *id, sockaddr *addr)
{
	const call made;
	if (!usable(id) || !addr)
		return refuse(EINVAL);
	const auto len = address_len(addr);
	if (!len)
		return refuse(EINVAL);
	return made.finish(bind(*own(id), addr, len));
}

int rdma_resolve_addr(rdma_cm_id *id, sockaddr *src_addr, sockaddr *dst_addr, int timeout_ms)
{
	const call made;
	if (!usable(id) || !dst_addr)
		return refuse(EINVAL);
	resolution what{};
	what.dst = dst_addr;
	what.dst_len = address_len(dst_addr);
	if (!what.dst_len)
		return refuse(EINVAL);
	what.src = src_addr;
	what.src_len = src_addr ? address_len(src_addr) : 0;
	if (src_addr && !what.src_len)
		return refuse(EINVAL);
	what.timeout_ms = timeout_ms;
	return made.finish(resolve_address(*own(id), what));
}

int rdma_resolve_route(rdma_cm_id *id, int timeout_ms)
{
	const call made;
	// Without a device there is no route to resolve.
	if (!usable(id) || !id->verbs)
		return refuse(EINVAL);
	return made.finish(resolve_route(*own(id), timeout_ms));
}

__be16 rdma_get_src_port(rdma_cm_id *id)
{
	return known(id) ? port_of(id->route.addr.src_storage) : static_cast<__be16>(0);
}

__be16 rdma_get_dst_port(rdma_cm_id *id)
{
	return known(id) ? port_of(id->route.addr.dst_storage) : static_cast<__be16>(0);
}
