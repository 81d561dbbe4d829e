// SPDX-License-Identifier: MIT
// lib/cm/event.cpp and event_effects.cpp: whose event it is, what the program sees of
// it, what it does to its id. Requests: request_test.cpp; queries: learn_test.cpp.
#include <pthread.h>

#include "test/support/fake_cm_memory.hpp"
#include "test/support/fake_cm_rig.hpp"

using namespace qpattr;
using namespace qpattr::test;

namespace {

// The memory of the next event or id: the one given back last.
template <class P> const void *next_of(P &pool)
{
	auto *next = pool.take();
	pool.give(next);
	return next;
}

void check_nothing_left(const rig &on)
{
	rdma_cm_event *read = nullptr;
	errno = 0;
	CHECK(rdma_get_cm_event(on.channel, &read) == -1);
	CHECK(errno == EAGAIN);
	CHECK(read == nullptr);
}

// Ends at once where every event that was read was acknowledged.
void check_destroyed(rdma_cm_id *id)
{
	sleeper destroyer{[id] { return rdma_destroy_id(id); }};
	CHECK(becomes([&destroyer] { return destroyer.done(); }));
	CHECK(destroyer.answer() == 0);
}

} // namespace

TEST_CASE("event: one of a uid that nobody has is dropped, and the next is read")
{
	rig on;
	auto *gone = on.id();
	auto stale = on.kernel.event_of(handle_of(gone), RDMA_CM_EVENT_ESTABLISHED);
	CHECK(rdma_destroy_id(gone) == 0);
	auto *id = on.id(); // in the same memory
	REQUIRE(id == gone);
	auto forged = stale;
	forged.uid = 0xdeadbeefULL << 32 | 0x7000000;
	on.kernel.raise_raw(on.channel->fd, stale);
	on.kernel.raise_raw(on.channel->fd, forged);
	const auto *memory = next_of(cm::events);
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	auto *read = on.event();
	CHECK(read->event == RDMA_CM_EVENT_ADDR_CHANGE);
	CHECK(read->id == id);
	CHECK(static_cast<void *>(read) == memory);
	CHECK(on.kernel.count(uapi::get_event::number) == 3);
	CHECK(rdma_ack_cm_event(read) == 0);
	CHECK(stage_of(id) == cm::stage::idle);
	check_destroyed(id);
}

TEST_CASE("event: uid 0 is EPROTO")
{
	rig on;
	const auto *memory = next_of(cm::events);
	on.kernel.raise_raw(on.channel->fd, rdma_ucm_event_resp{});
	rdma_cm_event *read = nullptr;
	CHECK(rdma_get_cm_event(on.channel, &read) == -1);
	CHECK(errno == EPROTO);
	CHECK(read == nullptr);
	CHECK(next_of(cm::events) == memory);
}

TEST_CASE("event: what the kernel refuses is its errno, and costs no memory")
{
	rig on;
	const auto *memory = next_of(cm::events);
	for (const int code : {EAGAIN, EINTR, EACCES, EBADF}) {
		on.kernel.refuse(uapi::get_event::number, code);
		rdma_cm_event *read = nullptr;
		CHECK(rdma_get_cm_event(on.channel, &read) == -1);
		CHECK(errno == code);
		CHECK(read == nullptr);
		CHECK(next_of(cm::events) == memory);
	}
	rdma_cm_event *read = nullptr;
	const auto asked = on.kernel.count(uapi::get_event::number);
	CHECK(rdma_get_cm_event(nullptr, &read) == -1);
	CHECK(errno == EINVAL);
	CHECK(rdma_get_cm_event(on.channel, nullptr) == -1);
	CHECK(errno == EINVAL);
	CHECK(on.kernel.count(uapi::get_event::number) == asked);
}

TEST_CASE("event: GET_EVENT as it is written")
{
	rig on;
	auto *id = on.id();
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	errno = 77;
	auto *read = on.event();
	CHECK(errno == 77);
	const auto sent = on.kernel.writes_of(uapi::get_event::number);
	REQUIRE(sent.size() == 1);
	const auto reply = reinterpret_cast<std::uint64_t>(
		&static_cast<cm::event_record *>(read)->reply);
	CHECK(sent[0].bytes == wire(12, 8, 336).put(0, reply).bytes());
	CHECK(rdma_ack_cm_event(read) == 0);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("event: no memory for it is ENOMEM, and it stays in the queue")
{
	rig on;
	auto *id = on.id();
	std::vector<cm::event_record *> all;
	cm_out_of_memory = true;
	while (auto *one = cm::events.take())
		all.push_back(one);
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	rdma_cm_event *read = nullptr;
	const int answer = rdma_get_cm_event(on.channel, &read);
	const int code = errno;
	cm_out_of_memory = false;
	for (auto *one : all)
		cm::events.give(one);
	CHECK(answer == -1);
	CHECK(code == ENOMEM);
	CHECK(on.kernel.count(uapi::get_event::number) == 0);
	read = on.event();
	CHECK(read->id == id);
	CHECK(rdma_ack_cm_event(read) == 0);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("event: every number is handed on with its id and status")
{
	for (const std::uint32_t number : {0U, 1U, 2U, 3U, 5U, 6U, 7U, 8U, 9U, 10U, 11U, 14U, 15U, 16U, 17U,
					   18U, 19U, 1000U, 0x7fffffffU}) {
		for (const auto ps : {RDMA_PS_TCP, RDMA_PS_UDP}) {
			rig on;
			auto *id = on.id(ps);
			for (const int status : {0, -ETIMEDOUT, 28}) {
				on.kernel.raise(handle_of(id), number, status);
				auto *read = on.event();
				CHECK(read->event == static_cast<rdma_cm_event_type>(number));
				CHECK(read->status == status);
				CHECK(read->id == id);
				CHECK(read->listen_id == nullptr);
				CHECK(rdma_ack_cm_event(read) == 0);
			}
			check_destroyed(id);
		}
	}
}

TEST_CASE("event: what it does to the stage of its id")
{
	using cm::stage;
	struct row {
		std::uint32_t number;
		stage before, after;
	};
	for (const auto &[number, before, after] : {
		     row{RDMA_CM_EVENT_ADDR_RESOLVED, stage::resolving, stage::addr_resolved},
		     row{RDMA_CM_EVENT_ADDR_ERROR, stage::resolving, stage::bound},
		     row{RDMA_CM_EVENT_ADDR_ERROR, stage::established, stage::established},
		     row{RDMA_CM_EVENT_ROUTE_RESOLVED, stage::addr_resolved, stage::route_resolved},
		     row{RDMA_CM_EVENT_ROUTE_ERROR, stage::addr_resolved, stage::addr_resolved},
		     row{RDMA_CM_EVENT_CONNECT_RESPONSE, stage::connecting, stage::responded},
		     row{RDMA_CM_EVENT_CONNECT_ERROR, stage::connecting, stage::ended},
		     row{RDMA_CM_EVENT_UNREACHABLE, stage::connecting, stage::ended},
		     row{RDMA_CM_EVENT_UNREACHABLE, stage::established, stage::established},
		     row{RDMA_CM_EVENT_UNREACHABLE, stage::route_resolved, stage::route_resolved},
		     row{RDMA_CM_EVENT_REJECTED, stage::accepted, stage::ended},
		     row{RDMA_CM_EVENT_ESTABLISHED, stage::accepted, stage::established},
		     row{RDMA_CM_EVENT_DISCONNECTED, stage::established, stage::disconnected},
		     row{RDMA_CM_EVENT_DEVICE_REMOVAL, stage::established, stage::removed},
		     row{RDMA_CM_EVENT_ADDR_CHANGE, stage::established, stage::established},
		     row{RDMA_CM_EVENT_TIMEWAIT_EXIT, stage::disconnected, stage::disconnected},
		     row{1000, stage::connecting, stage::connecting}}) {
		rig on;
		auto *id = on.id();
		cm::set_stage(*static_cast<cm::identifier *>(id), before);
		INFO("event " << number << " in stage " << static_cast<int>(before));
		on.happens(id, number);
		CHECK(static_cast<int>(stage_of(id)) == static_cast<int>(after));
		CHECK(rdma_destroy_id(id) == 0);
	}
}

TEST_CASE("event: UNREACHABLE does not end what the kernel still has attributes for")
{
	rig on;
	auto *id = on.id();
	on.kernel.attributes[handle_of(id)] = {};
	for (const auto waiting : {cm::stage::connecting, cm::stage::accepted}) {
		cm::set_stage(*static_cast<cm::identifier *>(id), waiting);
		on.happens(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		CHECK(stage_of(id) == waiting);
	}
	CHECK(rdma_destroy_id(id) == 0);
}

// As with stock. REJECTED puts it into the error state.
TEST_CASE("event: UNREACHABLE leaves the QP of its id alone, also where the connection has ended")
{
	using cm::stage;
	rig on;
	auto *id = on.addr_resolved();
	ibv_qp_init_attr attr{};
	attr.qp_type = IBV_QPT_RC;
	attr.cap = {4, 4, 1, 1, 0};
	on.kernel.attributes[handle_of(id)] = {};
	REQUIRE(rdma_create_qp(id, nullptr, &attr) == 0);
	on.verbs.moves.clear();

	for (const auto now : {stage::addr_resolved, stage::route_resolved, stage::connecting, stage::accepted,
			       stage::established}) {
		cm::set_stage(*static_cast<cm::identifier *>(id), now);
		on.happens(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		CHECK(stage_of(id) == now);
	}
	// The kernel has no attributes any more: it was the end.
	on.kernel.attributes.clear();
	for (const auto now : {stage::connecting, stage::accepted}) {
		cm::set_stage(*static_cast<cm::identifier *>(id), now);
		on.happens(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		CHECK(stage_of(id) == stage::ended);
	}
	CHECK(on.verbs.moves.empty());
	cm::set_stage(*static_cast<cm::identifier *>(id), stage::connecting);
	on.happens(id, RDMA_CM_EVENT_REJECTED, 8);
	REQUIRE(on.verbs.moves.size() == 1);
	CHECK(on.verbs.moves[0].attr.qp_state == IBV_QPS_ERR);
	CHECK(on.verbs.moves[0].mask == IBV_QP_STATE);
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("event: the parameters of a connection")
{
	for (const unsigned len : {0U, 1U, 255U}) {
		rig on;
		auto *id = on.id();
		auto event = on.kernel.event_of(handle_of(id), RDMA_CM_EVENT_ESTABLISHED);
		auto &param = event.param.conn;
		param.qp_num = 0x123456;
		param.qkey = 0xffffffff;
		param.srq = 1;
		param.responder_resources = 2;
		param.initiator_depth = 3;
		param.flow_control = 4;
		param.retry_count = 5;
		param.rnr_retry_count = 6;
		param.private_data_len = static_cast<std::uint8_t>(len);
		std::memset(param.private_data, 0xab, len);
		on.kernel.raise(handle_of(id), event);
		auto *read = on.event();
		const auto &conn = read->param.conn;
		CHECK(conn.qp_num == 0x123456);
		CHECK(conn.srq == 1);
		CHECK(conn.responder_resources == 2);
		CHECK(conn.initiator_depth == 3);
		CHECK(conn.flow_control == 4);
		CHECK(conn.retry_count == 5);
		CHECK(conn.rnr_retry_count == 6);
		CHECK(conn.private_data_len == len);
		const auto *record = static_cast<cm::event_record *>(read);
		const void *kept = record->reply.param.conn.private_data;
		CHECK(conn.private_data == (len ? kept : nullptr));
		if (len)
			CHECK(std::memcmp(conn.private_data, event.param.conn.private_data, 256) == 0);
		CHECK(rdma_ack_cm_event(read) == 0);
		CHECK(rdma_destroy_id(id) == 0);
	}
}

TEST_CASE("event: the parameters of a datagram service")
{
	for (const unsigned len : {0U, 1U, 255U}) {
		rig on;
		auto *id = on.id(RDMA_PS_UDP);
		auto event = on.kernel.event_of(handle_of(id), RDMA_CM_EVENT_ESTABLISHED);
		auto &param = event.param.ud;
		param.qp_num = 0x123456;
		param.qkey = 0x01234567;
		for (unsigned at = 0; at < 16; ++at)
			param.ah_attr.grh.dgid[at] = static_cast<std::uint8_t>(at + 1);
		param.ah_attr.grh.flow_label = 17;
		param.ah_attr.grh.sgid_index = 18;
		param.ah_attr.grh.hop_limit = 19;
		param.ah_attr.grh.traffic_class = 20;
		param.ah_attr.dlid = 21;
		param.ah_attr.sl = 22;
		param.ah_attr.src_path_bits = 23;
		param.ah_attr.static_rate = 24;
		param.ah_attr.is_global = 1;
		param.ah_attr.port_num = 26;
		param.private_data_len = static_cast<std::uint8_t>(len);
		std::memset(param.private_data, 0xcd, len);
		on.kernel.raise(handle_of(id), event);
		auto *read = on.event();
		const auto &ud = read->param.ud;
		CHECK(ud.qp_num == 0x123456);
		CHECK(ud.qkey == 0x01234567);
		CHECK(std::memcmp(&ud.ah_attr.grh.dgid, param.ah_attr.grh.dgid, 16) == 0);
		CHECK(ud.ah_attr.grh.flow_label == 17);
		CHECK(ud.ah_attr.grh.sgid_index == 18);
		CHECK(ud.ah_attr.grh.hop_limit == 19);
		CHECK(ud.ah_attr.grh.traffic_class == 20);
		CHECK(ud.ah_attr.dlid == 21);
		CHECK(ud.ah_attr.sl == 22);
		CHECK(ud.ah_attr.src_path_bits == 23);
		CHECK(ud.ah_attr.static_rate == 24);
		CHECK(ud.ah_attr.is_global == 1);
		CHECK(ud.ah_attr.port_num == 26);
		CHECK(ud.private_data_len == len);
		const auto *record = static_cast<cm::event_record *>(read);
		const void *kept = record->reply.param.ud.private_data;
		CHECK(ud.private_data == (len ? kept : nullptr));
		CHECK(rdma_ack_cm_event(read) == 0);
		CHECK(rdma_destroy_id(id) == 0);
	}
}

TEST_CASE("event: one that a program wrote brings its argument")
{
	for (const auto ps : {RDMA_PS_TCP, RDMA_PS_UDP}) {
		rig on;
		auto *id = on.id(ps);
		const std::uint64_t argument = 0x1122334455667788;
		auto event = on.kernel.event_of(handle_of(id), RDMA_CM_EVENT_USER, 5);
		std::memcpy(&event.param, &argument, sizeof argument); // at offset 20
		on.kernel.raise(handle_of(id), event);
		auto *read = on.event();
		CHECK(read->status == 5);
		CHECK(read->param.arg == argument);
		CHECK(rdma_ack_cm_event(read) == 0);
		CHECK(rdma_destroy_id(id) == 0);
	}
}

TEST_CASE("event: acknowledging what is none, or twice, is EINVAL")
{
	rig on;
	auto *id = on.id();
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	auto *read = on.event();
	rdma_cm_event own{};
	for (auto *none : {static_cast<rdma_cm_event *>(nullptr), &own,
			   reinterpret_cast<rdma_cm_event *>(reinterpret_cast<char *>(read) + 8)}) {
		errno = 0;
		CHECK(rdma_ack_cm_event(none) == -1);
		CHECK(errno == EINVAL);
	}
	CHECK(rdma_ack_cm_event(read) == 0);
	CHECK(rdma_ack_cm_event(read) == -1);
	CHECK(errno == EINVAL);
	// It counted once: the next one is waited for.
	CHECK(static_cast<cm::identifier *>(id)->acked == 1);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("event: multicast events are found by their group, not by an id")
{
	rig on;
	// Ids and groups have uids of their own kinds; here they shall not be equal.
	CHECK(rdma_destroy_id(on.id()) == 0);
	auto *id = on.addr_resolved(RDMA_PS_UDP);
	int context = 0;
	REQUIRE(rdma_join_multicast(id, rig::address(), &context) == 0);
	const auto group = handle_of(id) + 1;
	REQUIRE(on.kernel.ids.at(group).uid != on.kernel.ids.at(handle_of(id)).uid);
	for (const auto number : {RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_CM_EVENT_MULTICAST_ERROR}) {
		// With the id's uid: the kernel never does, so it is not the kernel.
		on.kernel.raise(handle_of(id), number);
		on.kernel.ids.at(handle_of(id)).reported -= 1; // it counts for nobody
		auto event = on.kernel.event_of(group, number, 0);
		event.param.ud.qp_num = 0xffffff;
		event.param.ud.qkey = 7;
		on.kernel.ids.at(handle_of(id)).reported += 1; // the kernel counts it on both
		on.kernel.raise(group, event);
		auto *read = on.event();
		CHECK(read->event == number);
		CHECK(read->id == id);
		CHECK(read->param.ud.private_data == &context);
		CHECK(read->param.ud.private_data_len == 0);
		CHECK(read->param.ud.qp_num == 0xffffff);
		CHECK(read->param.ud.qkey == 7);
		CHECK(rdma_ack_cm_event(read) == 0);
	}
	on.kernel.raise_raw(on.channel->fd, on.kernel.event_of(group, RDMA_CM_EVENT_ESTABLISHED));
	check_nothing_left(on); // a group is no id either
	CHECK(stage_of(id) == cm::stage::addr_resolved);
	on.kernel.ids.at(group).reported = 2;
	on.kernel.ids.at(handle_of(id)).reported = 3; // ADDR_RESOLVED and the two
	sleeper leaver{[id] { return rdma_leave_multicast(id, rig::address()); }};
	CHECK(becomes([&leaver] { return leaver.done(); }));
	check_destroyed(id);
}

TEST_CASE("event: a cancelled reader gives its memory back and takes no event")
{
	rig on;
	auto *id = on.id();
	const auto *memory = next_of(cm::events);
	on.kernel.sleeps = true;
	pthread_t reader;
	REQUIRE(pthread_create(
			&reader, nullptr,
			[](void *channel) -> void * {
				rdma_cm_event *read = nullptr;
				rdma_get_cm_event(static_cast<rdma_event_channel *>(channel), &read);
				return nullptr;
			},
			on.channel) == 0);
	CHECK(becomes([&on] { return on.kernel.sleepers > 0; }));
	// It holds the memory while it sleeps.
	const bool held = cm::events.holds(memory);
	CHECK(held);
	CHECK(pthread_cancel(reader) == 0);
	void *answer = nullptr;
	CHECK(pthread_join(reader, &answer) == 0);
	CHECK(answer == PTHREAD_CANCELED);
	on.kernel.sleeps = false;
	CHECK_FALSE(cm::events.holds(memory));
	CHECK(next_of(cm::events) == memory);
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	CHECK(rdma_ack_cm_event(on.event()) == 0);
	CHECK(rdma_destroy_id(id) == 0);
}
