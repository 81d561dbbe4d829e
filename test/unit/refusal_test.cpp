// SPDX-License-Identifier: MIT
// lib/cm/connection.cpp: reject, disconnect, notify; what is no id; and what can be
// tried again after the kernel refused a command.
#include "test/support/fake_cm_rig.hpp"

using namespace qpattr;
using namespace qpattr::test;

namespace {

constexpr std::uint32_t connect_number = 6, accept_number = 8, reject_number = 9, disconnect_number = 10,
			notify_number = 15;

template <class F> void check_not_sent(rig &on, F call)
{
	on.kernel.forget_writes();
	errno = 0;
	CHECK(call() == -1);
	CHECK(errno == EINVAL);
	CHECK(on.kernel.writes().empty());
}

// The one write since the last look.
void check_sent(rig &on, const wire &expected)
{
	const auto sent = on.kernel.writes();
	REQUIRE(sent.size() == 1);
	CHECK(sent[0].fd == on.channel->fd);
	CHECK(sent[0].bytes == expected.bytes());
	on.kernel.forget_writes();
}

rdma_conn_param a_param()
{
	rdma_conn_param param{};
	param.qp_num = 5;
	return param;
}

} // namespace

TEST_CASE("refusal: REJECT as it is written, with either reason, once")
{
	rig on;
	auto *listener = on.listening();
	const std::vector<unsigned char> data(255, 0xcc);
	for (const bool ece : {false, true})
		for (const unsigned len : {0U, 1U, 148U, 255U}) {
			auto *id = on.requested(listener);
			on.kernel.forget_writes();
			const auto call = [&] {
				const auto *bytes = data.data();
				const auto size = static_cast<std::uint8_t>(len);
				return ece ? rdma_reject_ece(id, bytes, size) : rdma_reject(id, bytes, size);
			};
			CHECK(call() == 0);
			wire expected{reject_number, 264, 0};
			expected.put(0, handle_of(id))
				.put(4, static_cast<std::uint8_t>(len))
				.put<std::uint8_t>(5, ece ? 35 : 28)
				.fill(8, len, 0xcc);
			check_sent(on, expected);
			CHECK(stage_of(id) == cm::stage::ended);
			auto param = a_param();
			check_not_sent(on, [&] { return rdma_accept(id, &param); });
			CHECK(rdma_destroy_id(id) == 0);
		}
	auto *id = on.requested(listener);
	on.kernel.forget_writes();
	CHECK(rdma_reject(id, nullptr, 9) == 0); // no data, whatever the length says
	check_sent(on, wire(reject_number, 264, 0).put(0, handle_of(id)).put<std::uint8_t>(5, 28));
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("refusal: DISCONNECT as it is written, the QP in error before it")
{
	rig on;
	auto *id = on.route_resolved();
	on.kernel.forget_writes();
	CHECK(rdma_disconnect(id) == 0);
	check_sent(on, wire(disconnect_number, 4, 0).put(0, handle_of(id)));
	CHECK(on.verbs.moves.empty());
	id->qp = on.verbs.make_qp(1);
	CHECK(rdma_disconnect(id) == 0);
	REQUIRE(on.verbs.moves.size() == 1);
	CHECK(on.verbs.moves[0].attr.qp_state == IBV_QPS_ERR);
	CHECK(on.verbs.moves[0].mask == IBV_QP_STATE);
	on.verbs.modify_errno = EIO;
	on.kernel.forget_writes();
	CHECK(rdma_disconnect(id) == -1);
	CHECK(errno == EIO);
	CHECK(on.kernel.writes().empty());
	id->qp = nullptr;
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("refusal: a synchronous id does not wait for a disconnection that cannot come")
{
	rig on;
	rdma_cm_id *id = nullptr;
	REQUIRE(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0);
	for (const auto at : {cm::stage::idle, cm::stage::route_resolved, cm::stage::listening,
			      cm::stage::connecting, cm::stage::requested, cm::stage::ended}) {
		cm::set_stage(*static_cast<cm::identifier *>(id), at);
		check_not_sent(on, [&] { return rdma_disconnect(id); });
	}
	// After DISCONNECTED there is nothing to wait for: the queue is empty.
	cm::set_stage(*static_cast<cm::identifier *>(id), cm::stage::disconnected);
	on.kernel.forget_writes();
	CHECK(rdma_disconnect(id) == 0);
	CHECK(on.kernel.count(disconnect_number) == 1);
	CHECK(on.kernel.count(uapi::get_event::number) == 0);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("refusal: NOTIFY of a migrated path needs an alternate path")
{
	rig on;
	auto *id = on.route_resolved();
	for (const int paths : {0, 1}) {
		id->route.num_paths = paths;
		check_not_sent(on, [&] { return rdma_notify(id, IBV_EVENT_PATH_MIG); });
	}
	id->route.num_paths = 2;
	on.kernel.forget_writes();
	CHECK(rdma_notify(id, IBV_EVENT_PATH_MIG) == 0);
	check_sent(on, wire(notify_number, 8, 0)
			       .put(0, handle_of(id))
			       .put<std::uint32_t>(4, IBV_EVENT_PATH_MIG));
	id->route.num_paths = 1;
	CHECK(rdma_notify(id, IBV_EVENT_COMM_EST) == 0);
	check_sent(on, wire(notify_number, 8, 0)
			       .put(0, handle_of(id))
			       .put<std::uint32_t>(4, IBV_EVENT_COMM_EST));
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("refusal: what is no id, or none any more, or without a channel, is EINVAL")
{
	rig on;
	auto *freed = on.id();
	auto *closed = on.addr_resolved(); // it lacks nothing else
	CHECK(rdma_destroy_id(freed) == 0);
	auto *channel = closed->channel;
	closed->channel = nullptr;
	std::vector<unsigned char> memory(2 * sizeof(cm::identifier), 0xff);
	auto *foreign = reinterpret_cast<rdma_cm_id *>(memory.data());
	auto *inside = reinterpret_cast<rdma_cm_id *>(reinterpret_cast<unsigned char *>(closed) + 8);
	auto param = a_param();
	for (auto *id : {static_cast<rdma_cm_id *>(nullptr), freed, foreign, inside, closed}) {
		check_not_sent(on, [&] { return rdma_connect(id, &param); });
		check_not_sent(on, [&] { return rdma_establish(id); });
		check_not_sent(on, [&] { return rdma_listen(id, 1); });
		check_not_sent(on, [&] { return rdma_accept(id, &param); });
		check_not_sent(on, [&] { return rdma_reject(id, nullptr, 0); });
		check_not_sent(on, [&] { return rdma_reject_ece(id, nullptr, 0); });
		check_not_sent(on, [&] { return rdma_disconnect(id); });
		check_not_sent(on, [&] { return rdma_notify(id, IBV_EVENT_COMM_EST); });
		check_not_sent(on, [&] { return rdma_bind_addr(id, rig::address()); });
		check_not_sent(on, [&] { return rdma_resolve_addr(id, nullptr, rig::address(), 1); });
		check_not_sent(on, [&] { return rdma_resolve_route(id, 1); });
		check_not_sent(on, [&] { return rdma_migrate_id(id, on.channel); });
		check_not_sent(on, [&] { return rdma_destroy_id(id); });
		check_not_sent(on, [&] { return rdma_join_multicast(id, rig::address(), nullptr); });
		check_not_sent(on, [&] { return rdma_leave_multicast(id, rig::address()); });
	}
	CHECK(memory == std::vector<unsigned char>(memory.size(), 0xff));
	closed->channel = channel;
	CHECK(rdma_destroy_id(closed) == 0);
}

TEST_CASE("refusal: a CONNECT that the kernel refuses can be sent again")
{
	rig on;
	for (const bool early : {false, true}) {
		auto *id = early ? on.addr_resolved() : on.route_resolved();
		const auto before = stage_of(id);
		auto param = a_param();
		on.kernel.refuse(connect_number, EINVAL);
		CHECK(rdma_connect(id, &param) == -1);
		CHECK(errno == EINVAL);
		CHECK(stage_of(id) == before);
		on.kernel.forget_writes();
		CHECK(rdma_connect(id, &param) == 0);
		CHECK(on.kernel.count(connect_number) == 1);
		CHECK(stage_of(id) == cm::stage::connecting);
		CHECK(rdma_destroy_id(id) == 0);
	}
}

TEST_CASE("refusal: a REJECT that the kernel refuses can be sent again")
{
	rig on;
	auto *listener = on.listening();
	auto *id = on.requested(listener);
	on.kernel.refuse(reject_number, EINVAL); // too much private data
	CHECK(rdma_reject(id, nullptr, 0) == -1);
	CHECK(errno == EINVAL);
	CHECK(stage_of(id) == cm::stage::requested);
	CHECK(rdma_reject(id, nullptr, 0) == 0);
	CHECK(on.kernel.count(reject_number) == 2);
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("refusal: an ACCEPT that the kernel refuses has cost the connection")
{
	rig on;
	auto *listener = on.listening();
	auto *id = on.requested(listener);
	auto param = a_param();
	on.kernel.refuse(accept_number, EINVAL);
	CHECK(rdma_accept(id, &param) == -1);
	CHECK(stage_of(id) == cm::stage::ended);
	check_not_sent(on, [&] { return rdma_accept(id, &param); });
	CHECK(rdma_destroy_id(id) == 0);

	auto *active = on.route_resolved();
	CHECK(rdma_connect(active, &param) == 0);
	on.happens(active, RDMA_CM_EVENT_CONNECT_RESPONSE);
	on.kernel.refuse(accept_number, EINVAL);
	CHECK(rdma_establish(active) == -1);
	CHECK(stage_of(active) == cm::stage::ended);
	check_not_sent(on, [&] { return rdma_establish(active); });
	CHECK(rdma_destroy_id(active) == 0);
	CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("refusal: an accept whose QP cannot be moved can be tried again")
{
	rig on;
	auto *listener = on.listening();
	auto *id = on.requested(listener);
	id->qp = on.verbs.make_qp(9);
	on.kernel.attributes[handle_of(id)] = {};
	on.verbs.modify_errno = ENOMEM;
	CHECK(rdma_accept(id, nullptr) == -1);
	CHECK(errno == ENOMEM);
	CHECK(on.kernel.count(accept_number) == 0);
	CHECK(stage_of(id) == cm::stage::requested);
	on.verbs.modify_errno = 0;
	on.verbs.moves.clear();
	CHECK(rdma_accept(id, nullptr) == 0);
	CHECK(on.kernel.count(accept_number) == 1);
	REQUIRE(on.verbs.moves.size() == 3);
	CHECK(on.verbs.moves[0].attr.qp_state == IBV_QPS_INIT);
	CHECK(on.verbs.moves[1].attr.qp_state == IBV_QPS_RTR);
	CHECK(on.verbs.moves[2].attr.qp_state == IBV_QPS_RTS);
	id->qp = nullptr;
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("refusal: an answer for which the QP cannot be moved refuses the peer")
{
	rig on;
	auto *id = on.route_resolved();
	auto param = a_param();
	CHECK(rdma_connect(id, &param) == 0);
	id->qp = on.verbs.make_qp(9);
	on.kernel.forget_writes();
	// INIT_QP_ATTR is EINVAL: there are no attributes.
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_CONNECT_RESPONSE);
	auto *read = on.event();
	CHECK(read->event == RDMA_CM_EVENT_CONNECT_ERROR);
	CHECK(read->status == -EINVAL);
	CHECK(stage_of(id) == cm::stage::ended);
	CHECK(on.kernel.count(reject_number) == 1);
	CHECK(on.kernel.count(accept_number) == 0);
	CHECK(rdma_ack_cm_event(read) == 0);
	id->qp = nullptr;
	CHECK(rdma_destroy_id(id) == 0);
}
