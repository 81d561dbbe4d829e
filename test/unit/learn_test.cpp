// SPDX-License-Identifier: MIT
// lib/cm/learn.cpp: what the kernel answers when it is asked about an id is believed
// only where it can be, and changes nothing otherwise.
#include "test/support/fake_cm_rig.hpp"

using namespace qpattr;
using namespace qpattr::test;

namespace {

constexpr sa_family_t af_ib = 27;

// What ADDR_RESOLVED turns into with this answer to the library's question.
void check_address_error(const rdma_ucm_query_route_resp &route,
			 const rdma_ucm_query_addr_resp &address, int code,
			 const rdma_ucm_query_addr_resp &gids = {})
{
	rig on;
	auto *id = on.id();
	on.kernel.routes[handle_of(id)] = route;
	on.kernel.addresses[handle_of(id)] = address;
	on.kernel.gids[handle_of(id)] = gids;
	REQUIRE(rdma_resolve_addr(id, nullptr, rig::address(), 1000) == 0);
	const rdma_cm_id before = *id;
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_RESOLVED);
	auto *read = on.event();
	CHECK(read->event == (code ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED));
	CHECK(read->status == -code);
	if (code)
		CHECK(std::memcmp(static_cast<const void *>(id), &before, sizeof before) == 0);
	CHECK(rdma_ack_cm_event(read) == 0);
	CHECK(rdma_destroy_id(id) == 0);
}

} // namespace

TEST_CASE("learn: QUERY_ROUTE as it is written, and QUERY(ADDR) for AF_IB only")
{
	rig on;
	auto *id = on.addr_resolved();
	auto sent = on.kernel.writes_of(uapi::query_route::number);
	REQUIRE(sent.size() == 1);
	std::uint64_t reply;
	std::memcpy(&reply, sent[0].bytes.data() + 8, sizeof reply);
	CHECK(sent[0].bytes == wire(5, 16, 208).put(0, reply).put(8, handle_of(id)).bytes());
	CHECK(on.kernel.count(uapi::query_addr::number) == 0);
	CHECK(rdma_destroy_id(id) == 0);

	auto *ib = on.id();
	auto route = rig::on_device();
	route.src_addr.sin6_family = route.dst_addr.sin6_family = af_ib;
	on.kernel.routes[handle_of(ib)] = route;
	auto &addresses = on.kernel.addresses[handle_of(ib)];
	addresses.src_size = addresses.dst_size = 48;
	std::memset(&addresses.src_addr, 0x11, sizeof addresses.src_addr);
	std::memset(&addresses.dst_addr, 0x22, sizeof addresses.dst_addr);
	std::memcpy(&addresses.src_addr, &af_ib, sizeof af_ib);
	auto &gids = on.kernel.gids[handle_of(ib)];
	gids.src_size = gids.dst_size = 48;
	std::memset(&gids.src_addr, 0x33, sizeof gids.src_addr);
	std::memset(&gids.dst_addr, 0x44, sizeof gids.dst_addr);
	REQUIRE(rdma_resolve_addr(ib, nullptr, rig::address(), 1000) == 0);
	REQUIRE(on.happens(ib, RDMA_CM_EVENT_ADDR_RESOLVED) == RDMA_CM_EVENT_ADDR_RESOLVED);
	sent = on.kernel.writes_of(uapi::query_addr::number); // and QUERY_GID's
	REQUIRE(sent.size() == 2);
	for (const std::uint32_t option : {0U, 2U}) {
		const auto &bytes = sent[option ? 1 : 0].bytes;
		std::memcpy(&reply, bytes.data() + 8, sizeof reply);
		wire expected{19, 16, 280};
		CHECK(bytes == expected.put(0, reply).put(8, handle_of(ib)).put(12, option).bytes());
	}
	// 48 bytes, and no more of what the reply held.
	const auto *src = reinterpret_cast<const unsigned char *>(&ib->route.addr.src_storage);
	const auto *dst = reinterpret_cast<const unsigned char *>(&ib->route.addr.dst_storage);
	CHECK(src[47] == 0x11);
	CHECK(src[48] == 0);
	CHECK(dst[47] == 0x22);
	CHECK(dst[48] == 0);
	CHECK(ib->route.addr.addr.ibaddr.sgid.raw[0] == 0x33);
	CHECK(ib->route.addr.addr.ibaddr.dgid.raw[15] == 0x44);
	CHECK(rdma_destroy_id(ib) == 0);
}

TEST_CASE("learn: addresses, device, port, GIDs and path of a route")
{
	rig on;
	auto *id = on.id();
	auto route = rig::on_device();
	sockaddr_in from{};
	from.sin_family = AF_INET;
	from.sin_port = htons(4242);
	from.sin_addr.s_addr = htonl(0x0a4d0002);
	std::memset(&route.src_addr, 0xee, sizeof route.src_addr); // the slot is longer
	std::memcpy(&route.src_addr, &from, sizeof from);
	std::memcpy(&route.dst_addr, rig::address(), sizeof from);
	auto &path = route.ib_route[0];
	std::memset(path.sgid, 0x33, sizeof path.sgid);
	std::memset(path.dgid, 0x44, sizeof path.dgid);
	path.pkey = 0xffff;
	path.mtu = 3;
	path.rate = 7;
	path.hop_limit = 64;
	on.kernel.routes[handle_of(id)] = route;
	REQUIRE(rdma_resolve_addr(id, nullptr, rig::address(), 1000) == 0);
	REQUIRE(on.happens(id, RDMA_CM_EVENT_ADDR_RESOLVED) == RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(std::memcmp(&id->route.addr.src_storage, &from, sizeof from) == 0);
	CHECK(reinterpret_cast<const unsigned char *>(&id->route.addr.src_storage)[16] == 0);
	CHECK(rdma_get_src_port(id) == htons(4242));
	CHECK(rdma_get_dst_port(id) == htons(7471));
	CHECK(id->port_num == 1);
	CHECK(id->route.addr.addr.ibaddr.sgid.raw[15] == 0x33);
	CHECK(id->route.addr.addr.ibaddr.dgid.raw[15] == 0x44);
	REQUIRE(id->route.num_paths == 1);
	CHECK(id->route.path_rec[0].mtu == 3);
	CHECK(id->route.path_rec[0].rate == 7);
	CHECK(id->route.path_rec[0].hop_limit == 64);
	CHECK(id->route.path_rec[0].pkey == 0xffff);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("learn: an address whose query fails is ADDR_ERROR with its errno, the id untouched")
{
	for (const int code : {EINVAL, ENXIO, ENOENT}) {
		rig on;
		auto *id = on.id();
		on.kernel.refuse(uapi::query_route::number, code);
		REQUIRE(rdma_resolve_addr(id, nullptr, rig::address(), 1000) == 0);
		on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_RESOLVED);
		auto *read = on.event();
		CHECK(read->event == RDMA_CM_EVENT_ADDR_ERROR);
		CHECK(read->status == -code);
		CHECK(id->verbs == nullptr);
		CHECK(rdma_ack_cm_event(read) == 0);
		CHECK(rdma_destroy_id(id) == 0);
	}
	auto unknown = rig::on_device();
	unknown.src_addr.sin6_family = AF_INET;
	unknown.node_guid = 99; // libibverbs has no such device
	check_address_error(unknown, {}, ENODEV);
	auto another = unknown;
	another.node_guid = fake_cm_verbs::guid;
	another.ibdev_index = 99; // it came back as another one
	check_address_error(another, {}, ENODEV);
	check_address_error(rig::on_device(), {}, 0);
}

TEST_CASE("learn: more paths than the reply has room for are EPROTO")
{
	for (const std::uint32_t many : {3U, 4U, 1000U, 0x7fffffffU, 0xffffffffU}) {
		auto route = rig::on_device();
		route.num_paths = many;
		check_address_error(route, {}, EPROTO);

		rig on;
		auto *id = on.addr_resolved();
		const auto *paths = id->route.path_rec;
		on.kernel.routes[handle_of(id)].num_paths = many;
		on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ROUTE_RESOLVED);
		auto *read = on.event();
		CHECK(read->event == RDMA_CM_EVENT_ROUTE_ERROR);
		CHECK(read->status == -EPROTO);
		CHECK(id->route.path_rec == paths);
		CHECK(id->route.num_paths == 1);
		CHECK(rdma_ack_cm_event(read) == 0);
		CHECK(rdma_destroy_id(id) == 0);
	}
	auto two = rig::on_device();
	two.num_paths = 2;
	check_address_error(two, {}, 0);
}

TEST_CASE("learn: addresses longer than the reply has room for are EPROTO")
{
	auto route = rig::on_device();
	route.src_addr.sin6_family = af_ib;
	for (const std::uint16_t len : {std::uint16_t{129}, std::uint16_t{256}, std::uint16_t{65535}}) {
		rdma_ucm_query_addr_resp reply{};
		reply.src_size = len;
		reply.dst_size = 48;
		check_address_error(route, reply, EPROTO);
		reply.src_size = 48;
		reply.dst_size = len;
		check_address_error(route, reply, EPROTO);
		check_address_error(route, {}, EPROTO, reply); // of the GIDs
	}
	rdma_ucm_query_addr_resp reply{};
	reply.src_size = reply.dst_size = 128;
	check_address_error(route, reply, 0);
}
