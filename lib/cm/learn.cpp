// SPDX-License-Identifier: MIT
#include "lib/cm/learn.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>

#include "lib/cm/device.hpp"
#include "lib/cm/edge.hpp"

#include <infiniband/ib.h>

namespace qpattr::cm {
namespace {

using route_reply = uapi::query_route::reply;
constexpr unsigned max_paths = sizeof(route_reply{}.ib_route) / sizeof(route_reply{}.ib_route[0]);

result<void> ask(const identifier &id, route_reply &reply) noexcept
{
	ucma::frame<uapi::query_route> command{&reply};
	command.body.id = id.handle;
	if (const auto told = tell(id, command); !told)
		return told;
	if (reply.num_paths > max_paths)
		return failure{EPROTO, QPATTR_STAGE_COMMAND};
	return {};
}

template <class From> void copy_address(sockaddr_storage &to, const From &from, std::size_t len) noexcept
{
	static_assert(sizeof from <= sizeof to);
	std::memcpy(&to, &from, len < sizeof from ? len : sizeof from);
}

// One of QUERY's two answers that are a pair of addresses.
template <uapi::command Query>
result<void> ask_pair(const identifier &id, sockaddr_storage &src, sockaddr_storage &dst) noexcept
{
	typename Query::reply reply{};
	ucma::frame<Query> command{&reply};
	command.body.id = id.handle;
	command.body.option = Query::option;
	if (const auto told = tell(id, command); !told)
		return told;
	if (reply.src_size > sizeof reply.src_addr || reply.dst_size > sizeof reply.dst_addr)
		return failure{EPROTO, QPATTR_STAGE_COMMAND};
	copy_address(src, reply.src_addr, reply.src_size);
	copy_address(dst, reply.dst_addr, reply.dst_size);
	return {};
}

// Of AF_IB: the addresses, and the GIDs, which the route has only once it is
// resolved.
result<void> ask_addresses(const identifier &id, rdma_addr &to) noexcept
{
	if (const auto asked = ask_pair<uapi::query_addr>(id, to.src_storage, to.dst_storage); !asked)
		return asked;
	sockaddr_storage src{};
	sockaddr_storage dst{};
	if (const auto asked = ask_pair<uapi::query_gid>(id, src, dst); !asked)
		return asked;
	rdma_ib_addr &ib = to.addr.ibaddr;
	std::memcpy(&ib.sgid, reinterpret_cast<const char *>(&src) + offsetof(sockaddr_ib, sib_addr), sizeof ib.sgid);
	std::memcpy(&ib.dgid, reinterpret_cast<const char *>(&dst) + offsetof(sockaddr_ib, sib_addr), sizeof ib.dgid);
	return {};
}

// The kernel fills the whole slot of a sockaddr_in6; behind the 16 bytes of an
// IPv4 address there is nothing.
template <class Slot> void take_address(sockaddr_storage &to, const Slot &from) noexcept
{
	const auto *address = reinterpret_cast<const sockaddr *>(&from);
	copy_address(to, from, address_len(address));
}

ibv_sa_path_rec path_of(const ib_user_path_rec &from) noexcept
{
	ibv_sa_path_rec to{};
	std::memcpy(&to.dgid, from.dgid, sizeof to.dgid);
	std::memcpy(&to.sgid, from.sgid, sizeof to.sgid);
	to.dlid = from.dlid;
	to.slid = from.slid;
	to.raw_traffic = static_cast<int>(from.raw_traffic);
	to.flow_label = from.flow_label;
	to.hop_limit = from.hop_limit;
	to.traffic_class = from.traffic_class;
	to.reversible = static_cast<int>(from.reversible);
	to.numb_path = from.numb_path;
	to.pkey = from.pkey;
	to.sl = from.sl;
	to.mtu_selector = from.mtu_selector;
	to.mtu = static_cast<std::uint8_t>(from.mtu);
	to.rate_selector = from.rate_selector;
	to.rate = from.rate;
	to.packet_life_time_selector = from.packet_life_time_selector;
	to.packet_life_time = from.packet_life_time;
	to.preference = from.preference;
	return to;
}

result<void> take_paths(identifier &id, const route_reply &reply) noexcept
{
	ibv_sa_path_rec *paths = nullptr;
	if (reply.num_paths) {
		paths = static_cast<ibv_sa_path_rec *>(
			std::calloc(reply.num_paths, sizeof(ibv_sa_path_rec)));
		if (!paths)
			return failure{ENOMEM, QPATTR_STAGE_COMMAND};
	}
	for (unsigned at = 0; at < reply.num_paths; ++at)
		paths[at] = path_of(reply.ib_route[at]);
	std::free(id.route.path_rec);
	id.route.path_rec = paths;
	id.route.num_paths = static_cast<int>(reply.num_paths);
	return {};
}

bool is_loopback(const sockaddr_storage &address) noexcept
{
	static constexpr unsigned char v6[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	const auto *bytes = reinterpret_cast<const unsigned char *>(&address);
	switch (address.ss_family) {
	case AF_INET:
		return bytes[offsetof(sockaddr_in, sin_addr)] == 127;
	case AF_INET6:
		return std::memcmp(bytes + offsetof(sockaddr_in6, sin6_addr), v6, sizeof v6) == 0;
	default:
		return false;
	}
}

// The P_Key that the public struct shows is the interface's, which an Ethernet
// interface has not; the route has the default one there. With a loopback address
// or one of AF_IB the kernel takes it from the port.
bool has_pkey(device &dev, std::uint8_t port, const rdma_addr &addresses) noexcept
{
	return addresses.src_storage.ss_family == AF_IB || is_loopback(addresses.src_storage) ||
	       !is_ethernet(dev, port);
}

// Without a device there are no GIDs.
result<void> take_device(identifier &id, const route_reply &reply,
			 const rdma_addr &addresses) noexcept
{
	if (!reply.node_guid && !reply.port_num)
		return {};
	const auto found = device_of(reply.node_guid, reply.ibdev_index);
	if (!found)
		return found.why();
	device &dev = *found.value();
	id.verbs = dev.verbs;
	if (!id.pd)
		id.pd = dev.pd;
	id.port_num = reply.port_num;
	rdma_ib_addr &ib = id.route.addr.addr.ibaddr;
	if (addresses.src_storage.ss_family == AF_IB) {
		ib.sgid = addresses.addr.ibaddr.sgid;
		ib.dgid = addresses.addr.ibaddr.dgid;
	} else {
		std::memcpy(&ib.sgid, reply.ib_route[0].sgid, sizeof ib.sgid);
		std::memcpy(&ib.dgid, reply.ib_route[0].dgid, sizeof ib.dgid);
	}
	ib.pkey = has_pkey(dev, reply.port_num, addresses) ? reply.ib_route[0].pkey : 0;
	return {};
}

} // namespace

std::uint16_t address_len(const sockaddr *address) noexcept
{
	switch (address->sa_family) {
	case AF_INET:
		return sizeof(sockaddr_in);
	case AF_INET6:
		return sizeof(sockaddr_in6);
	case AF_IB:
		return sizeof(sockaddr_ib);
	default:
		return 0;
	}
}

result<void> learn(identifier &id) noexcept
{
	route_reply reply{};
	if (const auto asked = ask(id, reply); !asked)
		return asked;
	rdma_addr addresses{};
	const bool ib = reinterpret_cast<const sockaddr *>(&reply.src_addr)->sa_family == AF_IB ||
			reinterpret_cast<const sockaddr *>(&reply.dst_addr)->sa_family == AF_IB;
	if (ib) {
		if (const auto asked = ask_addresses(id, addresses); !asked)
			return asked;
	} else {
		take_address(addresses.src_storage, reply.src_addr);
		take_address(addresses.dst_storage, reply.dst_addr);
	}
	if (const auto taken = take_device(id, reply, addresses); !taken)
		return taken;
	id.route.addr.src_storage = addresses.src_storage;
	id.route.addr.dst_storage = addresses.dst_storage;
	return reply.num_paths ? take_paths(id, reply) : result<void>{};
}

result<void> learn_paths(identifier &id) noexcept
{
	if (id.has(identifier::no_path))
		return {};
	route_reply reply{};
	if (const auto asked = ask(id, reply); !asked)
		return asked;
	return take_paths(id, reply);
}

} // namespace qpattr::cm
