// SPDX-License-Identifier: MIT
// lib/cm/connect.cpp, accept.cpp and connection.cpp: what goes to the kernel, byte
// for byte, and what does not go there, because it would cost the connection.
#include "test/support/fake_cm_rig.hpp"

#include <cstdlib>

using namespace qpattr;
using namespace qpattr::test;

namespace {

constexpr std::uint32_t connect_number = 6, accept_number = 8, reject_number = 9, disconnect_number = 10,
			notify_number = 15, resolve_addr_number = 21;
constexpr unsigned responder_limit = fake_cm_verbs::max_responder_resources;
constexpr unsigned initiator_limit = fake_cm_verbs::max_initiator_depth;

rdma_conn_param some_param(const void *data = nullptr, std::uint8_t len = 0)
{
	rdma_conn_param param{};
	param.private_data = data;
	param.private_data_len = len;
	param.responder_resources = 2;
	param.initiator_depth = 3;
	param.flow_control = 1;
	param.retry_count = 5;
	param.rnr_retry_count = 6;
	param.srq = 1;
	param.qp_num = 0x123456;
	return param;
}

// some_param() at the offset of a command's conn_param.
wire &put_some(wire &to, std::size_t at)
{
	return to.put<std::uint32_t>(at, 0x123456)
		.put<std::uint8_t>(at + 265, 1)
		.put<std::uint8_t>(at + 266, 2)
		.put<std::uint8_t>(at + 267, 3)
		.put<std::uint8_t>(at + 268, 1)
		.put<std::uint8_t>(at + 269, 5)
		.put<std::uint8_t>(at + 270, 6)
		.put<std::uint8_t>(at + 271, 1);
}

// The only command of the number that was written since the last look, on the
// channel.
void check_sent(rig &on, std::uint32_t number, const wire &expected)
{
	const auto sent = on.kernel.writes_of(number);
	REQUIRE(sent.size() == 1);
	CHECK(sent[0].fd == on.channel->fd);
	CHECK(sent[0].bytes == expected.bytes());
	on.kernel.forget_writes();
}

// EINVAL, and nothing was written at all.
template <class F> void check_not_sent(rig &on, F call)
{
	on.kernel.forget_writes();
	errno = 0;
	CHECK(call() == -1);
	CHECK(errno == EINVAL);
	CHECK(on.kernel.writes().empty());
}

std::uint8_t byte_of(const fake_cm_kernel::written &command, std::size_t offset)
{
	return command.bytes.at(8 + offset);
}

void set(rdma_cm_id *id, cm::stage to)
{
	cm::set_stage(*static_cast<cm::identifier *>(id), to);
}

} // namespace

TEST_CASE("connection: CONNECT as it is written")
{
	rig on;
	auto *id = on.route_resolved();
	std::vector<unsigned char> data(255, 0xee);
	for (const unsigned len : {0U, 1U, 56U, 255U}) {
		set(id, cm::stage::route_resolved);
		auto param = some_param(data.data(), static_cast<std::uint8_t>(len));
		on.kernel.forget_writes();
		errno = 77;
		CHECK(rdma_connect(id, &param) == 0);
		CHECK(errno == 77);
		wire expected{connect_number, 288, 0};
		put_some(expected, 0).fill(8, len, 0xee).put<std::uint8_t>(264, param.private_data_len);
		check_sent(on, connect_number, expected.put(272, handle_of(id)));
		CHECK(stage_of(id) == cm::stage::connecting);
	}
	// No data, whatever the length says.
	auto param = some_param(nullptr, 200);
	set(id, cm::stage::route_resolved);
	CHECK(rdma_connect(id, &param) == 0);
	wire expected{connect_number, 288, 0};
	check_sent(on, connect_number, put_some(expected, 0).put(272, handle_of(id)));
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("connection: a QP of the id's stands for the parameters' own")
{
	rig on;
	auto *id = on.route_resolved();
	ibv_srq srq{};
	id->qp = on.verbs.make_qp(0x99);
	on.kernel.forget_writes();
	auto param = some_param();
	CHECK(rdma_connect(id, &param) == 0);
	wire expected{connect_number, 288, 0};
	put_some(expected, 0).put<std::uint32_t>(0, 0x99).put<std::uint8_t>(265, 0);
	check_sent(on, connect_number, expected.put(272, handle_of(id)));
	// Without parameters: retries for ever, all that the device can.
	set(id, cm::stage::route_resolved);
	id->qp = on.verbs.make_qp(0x98, &srq);
	CHECK(rdma_connect(id, nullptr) == 0);
	wire plain{connect_number, 288, 0};
	plain.put<std::uint32_t>(0, 0x98)
		.put<std::uint8_t>(265, 1)
		.put<std::uint8_t>(266, responder_limit)
		.put<std::uint8_t>(267, initiator_limit)
		.put<std::uint8_t>(269, 7)
		.put<std::uint8_t>(270, 7)
		.put<std::uint8_t>(271, 1)
		.put(272, handle_of(id));
	check_sent(on, connect_number, plain);
	id->qp = nullptr;
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("connection: responder_resources and initiator_depth within the device's limits")
{
	struct row {
		unsigned responder, initiator;
		int answer;
		unsigned sent_responder, sent_initiator;
	};
	rig on;
	auto *id = on.route_resolved();
	auto *listener = on.listening();
	for (const auto &[responder, initiator, answer, sent_responder, sent_initiator] : {
		     row{0, 0, 0, 0, 0},
		     row{responder_limit, initiator_limit, 0, responder_limit, initiator_limit},
		     row{0xff, 0xff, 0, responder_limit, initiator_limit},
		     row{0xff, 1, 0, responder_limit, 1},
		     row{responder_limit + 1, 0, -1, 0, 0},
		     row{0, initiator_limit + 1, -1, 0, 0},
		     row{0xfe, 0xff, -1, 0, 0}}) {
		INFO(responder << ", " << initiator);
		rdma_conn_param param{};
		param.responder_resources = static_cast<std::uint8_t>(responder);
		param.initiator_depth = static_cast<std::uint8_t>(initiator);
		set(id, cm::stage::route_resolved);
		// The peer offers more than the device can.
		rdma_ucm_conn_param offer{};
		offer.responder_resources = 200;
		offer.initiator_depth = 100;
		auto *accepting = on.requested(listener, offer);
		if (answer) {
			check_not_sent(on, [&] { return rdma_connect(id, &param); });
			CHECK(stage_of(id) == cm::stage::route_resolved);
			check_not_sent(on, [&] { return rdma_accept(accepting, &param); });
			CHECK(stage_of(accepting) == cm::stage::requested);
		} else {
			on.kernel.forget_writes();
			CHECK(rdma_connect(id, &param) == 0);
			CHECK(rdma_accept(accepting, &param) == 0);
			const auto connects = on.kernel.writes_of(connect_number);
			const auto accepts = on.kernel.writes_of(accept_number);
			REQUIRE(connects.size() == 1);
			REQUIRE(accepts.size() == 1);
			CHECK(byte_of(connects[0], 266) == sent_responder);
			CHECK(byte_of(connects[0], 267) == sent_initiator);
			CHECK(byte_of(accepts[0], 8 + 266) == sent_responder);
			CHECK(byte_of(accepts[0], 8 + 267) == sent_initiator);
		}
		CHECK(rdma_destroy_id(accepting) == 0);
	}
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("connection: 0xff in accept is what the peer offers, where that is less")
{
	rig on;
	auto *listener = on.listening();
	rdma_ucm_conn_param offer{};
	offer.responder_resources = 4;
	offer.initiator_depth = 5;
	for (const bool with_param : {true, false}) {
		auto *id = on.requested(listener, offer);
		auto param = some_param();
		param.responder_resources = RDMA_MAX_RESP_RES;
		param.initiator_depth = RDMA_MAX_INIT_DEPTH;
		if (!with_param) {
			id->qp = on.verbs.make_qp(0x97);
			on.kernel.attributes[handle_of(id)] = {};
		}
		on.kernel.forget_writes();
		CHECK(rdma_accept(id, with_param ? &param : nullptr) == 0);
		const auto sent = on.kernel.writes_of(accept_number);
		REQUIRE(sent.size() == 1);
		CHECK(byte_of(sent[0], 8 + 266) == 4);
		CHECK(byte_of(sent[0], 8 + 267) == 5);
		id->qp = nullptr;
		CHECK(rdma_destroy_id(id) == 0);
	}
	CHECK(rdma_destroy_id(listener) == 0);
}

// Found by the sequences: a peer whose device can more offers more. QPs that are asked
// for it fail, or have none.
TEST_CASE("connection: a QP that takes what the peer offers is within the device's limits")
{
	rig on;
	auto *listener = on.listening();
	rdma_ucm_conn_param offer{};
	offer.responder_resources = responder_limit + 9;
	offer.initiator_depth = initiator_limit + 9;
	for (const bool with_param : {true, false}) {
		auto *id = on.requested(listener, offer);
		auto param = some_param();
		param.responder_resources = RDMA_MAX_RESP_RES;
		param.initiator_depth = RDMA_MAX_INIT_DEPTH;
		id->qp = on.verbs.make_qp(0x97);
		auto &kernels = on.kernel.attributes[handle_of(id)];
		kernels = {};
		kernels.max_dest_rd_atomic = responder_limit + 9;
		kernels.max_rd_atomic = initiator_limit + 9;
		on.verbs.moves.clear();
		CHECK(rdma_accept(id, with_param ? &param : nullptr) == 0);
		REQUIRE(on.verbs.moves.size() >= 2);
		const auto &rts = on.verbs.moves.back().attr;
		const auto &rtr = on.verbs.moves[on.verbs.moves.size() - 2].attr;
		CHECK(rtr.max_dest_rd_atomic == responder_limit);
		CHECK(rts.max_rd_atomic == initiator_limit);
		id->qp = nullptr;
		CHECK(rdma_destroy_id(id) == 0);
	}
	CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("connection: ACCEPT as it is written, and the uid that it gives the id")
{
	rig on;
	auto *listener = on.listening();
	auto *id = on.requested(listener);
	const std::vector<unsigned char> data(196, 0xdd);
	auto param = some_param(data.data(), 196);
	on.kernel.forget_writes();
	CHECK(rdma_accept(id, &param) == 0);
	const auto uid = cm::ids.uid_of(static_cast<cm::identifier *>(id));
	wire expected{accept_number, 296, 0};
	put_some(expected.put(0, uid), 8).fill(8 + 8, 196, 0xdd).put<std::uint8_t>(8 + 264, 196);
	check_sent(on, accept_number, expected.put(280, handle_of(id)));
	CHECK(stage_of(id) == cm::stage::accepted);
	on.happens(id, RDMA_CM_EVENT_ESTABLISHED);
	CHECK(stage_of(id) == cm::stage::established);
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("connection: ECE goes out in CONNECT and ACCEPT, and comes in with the events")
{
	rig on;
	auto *id = on.route_resolved();
	ibv_ece ece{};
	ece.vendor_id = 0x15b3;
	ece.options = 0xabcdef01;
	CHECK(rdma_set_local_ece(id, &ece) == 0);
	auto param = some_param();
	on.kernel.forget_writes();
	CHECK(rdma_connect(id, &param) == 0);
	wire connect{connect_number, 288, 0};
	put_some(connect, 0).put(272, handle_of(id));
	connect.put<std::uint32_t>(280, 0x15b3).put<std::uint32_t>(284, 0xabcdef01);
	check_sent(on, connect_number, connect);

	auto response = on.kernel.event_of(handle_of(id), RDMA_CM_EVENT_CONNECT_RESPONSE);
	response.ece = {0x2222, 0x3333};
	on.kernel.raise(handle_of(id), response);
	CHECK(rdma_ack_cm_event(on.event()) == 0);
	ibv_ece peer{};
	CHECK(rdma_get_remote_ece(id, &peer) == 0);
	CHECK(peer.vendor_id == 0x2222);
	CHECK(peer.options == 0x3333);

	// The passive side answers with the vendor that was asked for.
	auto *listener = on.listening();
	auto *passive = on.requested(listener, {}, {0x4444, 0x5555});
	CHECK(rdma_get_remote_ece(passive, &peer) == 0);
	CHECK(peer.vendor_id == 0x4444);
	CHECK(peer.options == 0x5555);
	CHECK(rdma_set_local_ece(passive, &ece) == 0);
	on.kernel.forget_writes();
	CHECK(rdma_accept(passive, &param) == 0);
	const auto sent = on.kernel.writes_of(accept_number);
	REQUIRE(sent.size() == 1);
	std::uint32_t told[2];
	std::memcpy(told, sent[0].bytes.data() + 8 + 288, sizeof told);
	CHECK(told[0] == 0x4444);
	CHECK(told[1] == 0xabcdef01);
	for (auto *each : {id, passive, listener})
		CHECK(rdma_destroy_id(each) == 0);
}

TEST_CASE("connection: ACCEPT without parameters establishes, once")
{
	rig on;
	auto *id = on.route_resolved();
	auto param = some_param();
	CHECK(rdma_connect(id, &param) == 0);
	check_not_sent(on, [&] { return rdma_establish(id); }); // not answered yet
	on.happens(id, RDMA_CM_EVENT_CONNECT_RESPONSE);
	on.kernel.forget_writes();
	CHECK(rdma_establish(id) == 0);
	check_sent(on, accept_number, wire(accept_number, 296, 0).put(280, handle_of(id)));
	CHECK(stage_of(id) == cm::stage::established);
	check_not_sent(on, [&] { return rdma_establish(id); });
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("connection: calls of the wrong side or time are refused without a write")
{
	rig on;
	auto *listener = on.listening();
	auto param = some_param();
	auto *active = on.route_resolved();
	auto *passive = on.requested(listener);

	check_not_sent(on, [&] { return rdma_accept(active, &param); });
	check_not_sent(on, [&] { return rdma_accept(listener, &param); });
	check_not_sent(on, [&] { return rdma_establish(passive); });
	check_not_sent(on, [&] { return rdma_accept(passive, nullptr); }); // and no QP
	check_not_sent(on, [&] { return rdma_connect(active, nullptr); });
	CHECK(stage_of(passive) == cm::stage::requested);
	CHECK(stage_of(active) == cm::stage::route_resolved);

	CHECK(rdma_connect(active, &param) == 0);
	check_not_sent(on, [&] { return rdma_accept(active, &param); });
	check_not_sent(on, [&] { return rdma_reject(active, nullptr, 0); });
	check_not_sent(on, [&] { return rdma_reject_ece(active, nullptr, 0); });
	CHECK(rdma_accept(passive, &param) == 0);
	check_not_sent(on, [&] { return rdma_accept(passive, &param); });
	check_not_sent(on, [&] { return rdma_establish(passive); });
	check_not_sent(on, [&] { return rdma_reject(passive, nullptr, 0); });
	check_not_sent(on, [&] { return rdma_reject_ece(passive, nullptr, 0); });
	on.happens(passive, RDMA_CM_EVENT_ESTABLISHED);
	check_not_sent(on, [&] { return rdma_accept(passive, &param); });
	on.happens(active, RDMA_CM_EVENT_CONNECT_RESPONSE);
	check_not_sent(on, [&] { return rdma_accept(active, &param); });
	CHECK(rdma_establish(active) == 0);
	check_not_sent(on, [&] { return rdma_accept(active, &param); });
	for (auto *each : {active, passive, listener})
		CHECK(rdma_destroy_id(each) == 0);
}

// Found by the sequences.
TEST_CASE("connection: only of TCP's port space a connect wants parameters or a QP, within the limits")
{
	rig on;
	auto *active = on.route_resolved();
	auto param = some_param();
	param.responder_resources = responder_limit + 1;
	param.initiator_depth = initiator_limit + 2;
	check_not_sent(on, [&] { return rdma_connect(active, nullptr); });
	check_not_sent(on, [&] { return rdma_connect(active, &param); });
	active->ps = RDMA_PS_IB;
	CHECK(rdma_connect(active, &param) == 0);
	const auto sent = on.kernel.writes_of(connect_number);
	REQUIRE(sent.size() == 1);
	CHECK(byte_of(sent[0], 266) == responder_limit + 1);
	CHECK(byte_of(sent[0], 267) == initiator_limit + 2);
	set(active, cm::stage::route_resolved);
	CHECK(rdma_connect(active, nullptr) == 0);
	CHECK(rdma_destroy_id(active) == 0);
}

TEST_CASE("connection: a second RESOLVE_ADDR is not sent, a failed one may be repeated")
{
	rig on;
	auto *id = on.id();
	on.kernel.refuse(resolve_addr_number, ENETUNREACH);
	CHECK(rdma_resolve_addr(id, nullptr, rig::address(), 1000) == -1);
	CHECK(errno == ENETUNREACH);
	CHECK(stage_of(id) == cm::stage::idle);
	CHECK(id->route.addr.dst_storage.ss_family == 0); // as before
	on.kernel.forget_writes();
	CHECK(rdma_resolve_addr(id, nullptr, rig::address(), 1000) == 0);
	wire expected{resolve_addr_number, 272, 0};
	sockaddr_in to;
	std::memcpy(&to, rig::address(), sizeof to);
	expected.put(0, handle_of(id)).put<std::uint32_t>(4, 1000).put<std::uint16_t>(10, 16);
	check_sent(on, resolve_addr_number, expected.put(144, to));
	const auto again = [&] { return rdma_resolve_addr(id, nullptr, rig::address(), 1000); };
	check_not_sent(on, again);
	// The network said no: once more.
	on.happens(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	CHECK(again() == 0);
	on.kernel.routes[handle_of(id)] = rig::on_device();
	on.happens(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	check_not_sent(on, again);
	CHECK(rdma_resolve_route(id, 1000) == 0);
	on.happens(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	check_not_sent(on, again);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("connection: private data that the kernel would answer with a reject is not sent")
{
	rig on;
	const std::vector<unsigned char> data(255, 1);
	for (const auto &[ps, most] : {std::pair{RDMA_PS_TCP, 196U}, std::pair{RDMA_PS_UDP, 136U}}) {
		auto *listener = on.listening(ps);
		auto *id = on.requested(listener);
		for (const unsigned len : {most + 1, 255U}) {
			auto param = some_param(data.data(), static_cast<std::uint8_t>(len));
			check_not_sent(on, [&] { return rdma_accept(id, &param); });
			CHECK(stage_of(id) == cm::stage::requested);
		}
		auto param = some_param(data.data(), static_cast<std::uint8_t>(most));
		on.kernel.forget_writes();
		CHECK(rdma_accept(id, &param) == 0);
		CHECK(on.kernel.count(accept_number) == 1);
		CHECK(rdma_destroy_id(id) == 0);
		CHECK(rdma_destroy_id(listener) == 0);
	}
}
