// SPDX-License-Identifier: MIT
// CONNECT_REQUEST: an id of its own for each, or none where the kernel does not
// tell of it; and requests that a listener left behind on its old channel.
#include "lib/cm/extras.hpp"
#include "test/support/fake_cm_memory.hpp"
#include "test/support/fake_cm_rig.hpp"

using namespace qpattr;
using namespace qpattr::test;

namespace {

const void *next_id()
{
	auto *next = cm::ids.take();
	cm::ids.give(next);
	return next;
}

void check_destroyed(rdma_cm_id *id)
{
	sleeper destroyer{[id] { return rdma_destroy_id(id); }};
	CHECK(becomes([&destroyer] { return destroyer.done(); }));
	CHECK(destroyer.answer() == 0);
}

} // namespace

TEST_CASE("request: the new id is like its listener, on the device, with the peer's values")
{
	rig on;
	auto *listener = on.listening();
	rdma_ucm_conn_param param{};
	param.responder_resources = 5;
	param.initiator_depth = 6;
	param.qp_num = 0x777;
	const auto handle = on.kernel.request(handle_of(listener), param, {11, 12});
	on.kernel.routes[handle] = rig::on_device();
	auto *read = on.event();
	CHECK(read->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(read->status == 0);
	CHECK(read->listen_id == listener);
	auto *id = read->id;
	REQUIRE(cm::ids.holds(id));
	CHECK(id != listener);
	CHECK(read->param.conn.qp_num == 0x777);
	CHECK(read->param.conn.responder_resources == 5);
	CHECK(id->channel == on.channel);
	CHECK(id->context == listener->context);
	CHECK(id->ps == RDMA_PS_TCP);
	CHECK(id->qp_type == IBV_QPT_RC);
	CHECK(id->verbs != nullptr);
	CHECK(id->pd != nullptr);
	CHECK(id->port_num == 1);
	CHECK(id->route.num_paths == 1);
	CHECK(handle_of(id) == handle);
	CHECK(stage_of(id) == cm::stage::requested);
	ibv_ece peer{};
	CHECK(rdma_get_remote_ece(id, &peer) == 0);
	CHECK(peer.vendor_id == 11);
	CHECK(peer.options == 12);
	CHECK(stage_of(listener) == cm::stage::listening);
	CHECK(rdma_ack_cm_event(read) == 0);
	// The kernel counted it on the listener.
	CHECK(static_cast<cm::identifier *>(listener)->acked == 1);
	CHECK(static_cast<cm::identifier *>(id)->acked == 0);
	check_destroyed(id);
	check_destroyed(listener);
}

TEST_CASE("request: one whose query fails is destroyed in the kernel, acknowledged, dropped")
{
	for (const int code : {ENXIO, EINVAL, ENOENT}) {
		rig on;
		auto *listener = on.listening();
		const auto *memory = next_id();
		const auto lost = on.kernel.request(handle_of(listener));
		on.kernel.refuse(uapi::query_route::number, code);
		const auto good = on.kernel.request(handle_of(listener));
		on.kernel.routes[good] = rig::on_device();
		errno = 77;
		auto *read = on.event();
		CHECK(errno == 77); // what went wrong is nothing to the program
		CHECK(handle_of(read->id) == good);
		CHECK(static_cast<const void *>(read->id) == memory); // the lost one's
		CHECK_FALSE(on.kernel.ids.contains(lost));
		CHECK(static_cast<cm::identifier *>(listener)->acked == 1);
		const auto sent = on.kernel.writes_of(uapi::destroy_id::number);
		REQUIRE(sent.size() == 1);
		CHECK(sent[0].fd == on.channel->fd);
		auto *id = read->id;
		CHECK(rdma_ack_cm_event(read) == 0);
		check_destroyed(id);
		check_destroyed(listener);
	}
}

TEST_CASE("request: one without memory for its id is dropped the same way")
{
	rig on;
	auto *listener = on.listening();
	const auto lost = on.kernel.request(handle_of(listener));
	std::vector<cm::identifier *> all;
	auto *event = cm::events.take(); // there is memory for the event
	cm::events.give(event);
	cm_out_of_memory = true;
	while (auto *one = cm::ids.take())
		all.push_back(one);
	rdma_cm_event *read = nullptr;
	const int answer = rdma_get_cm_event(on.channel, &read);
	const int code = errno;
	cm_out_of_memory = false;
	for (auto *one : all)
		cm::ids.give(one);
	CHECK(answer == -1);
	CHECK(code == EAGAIN); // of the empty queue
	CHECK_FALSE(on.kernel.ids.contains(lost));
	CHECK(static_cast<cm::identifier *>(listener)->acked == 1);
	check_destroyed(listener);
}

TEST_CASE("request: one that the kernel will not even destroy is dropped")
{
	rig on;
	auto *listener = on.listening();
	const auto *memory = next_id();
	(void)on.kernel.request(handle_of(listener));
	on.kernel.refuse(uapi::query_route::number, EINVAL);
	on.kernel.refuse(uapi::destroy_id::number, EINVAL);
	rdma_cm_event *read = nullptr;
	CHECK(rdma_get_cm_event(on.channel, &read) == -1);
	CHECK(errno == EAGAIN);
	CHECK(next_id() == memory);
	check_destroyed(listener);
}

TEST_CASE("request: one left on the old channel by rdma_migrate_id is fetched from there")
{
	rig on;
	auto *listener = on.listening();
	const auto left = on.kernel.request(handle_of(listener));
	on.kernel.routes[left] = rig::on_device();
	auto *to = rdma_create_event_channel();
	REQUIRE(to != nullptr);
	REQUIRE(rdma_migrate_id(listener, to) == 0);
	// The event moved with the listener; the new id did not.
	REQUIRE(on.kernel.ids.at(left).fd == on.channel->fd);
	on.kernel.forget_writes();
	auto *read = on.event(to);
	CHECK(read->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(handle_of(read->id) == left);
	CHECK(read->id->channel == to);
	CHECK(read->id->verbs != nullptr);
	CHECK(on.kernel.ids.at(left).fd == to->fd);
	const auto sent = on.kernel.writes_of(uapi::migrate_id::number);
	REQUIRE(sent.size() == 1);
	CHECK(sent[0].fd == to->fd);
	std::uint32_t fields[2];
	std::memcpy(fields, sent[0].bytes.data() + 16, sizeof fields);
	CHECK(fields[0] == left);
	CHECK(fields[1] == static_cast<std::uint32_t>(on.channel->fd));
	auto *id = read->id;
	CHECK(rdma_ack_cm_event(read) == 0);

	// One that comes later is there already.
	auto *later = [&] {
		const auto made = on.kernel.request(handle_of(listener));
		on.kernel.routes[made] = rig::on_device();
		return on.event(to);
	}();
	CHECK(on.kernel.count(uapi::migrate_id::number) == 1);
	auto *later_id = later->id;
	CHECK(rdma_ack_cm_event(later) == 0);
	check_destroyed(later_id);
	check_destroyed(id);
	check_destroyed(listener);
	rdma_destroy_event_channel(to);
}

TEST_CASE("request: one left behind is not lost by a migration that fails")
{
	rig on;
	auto *listener = on.listening();
	const auto left = on.kernel.request(handle_of(listener));
	on.kernel.routes[left] = rig::on_device();
	auto *to = rdma_create_event_channel();
	REQUIRE(to != nullptr);
	REQUIRE(rdma_migrate_id(listener, to) == 0);
	rdma_event_channel bad{-1};
	CHECK(rdma_migrate_id(listener, &bad) == -1);
	CHECK(errno == EBADF);
	CHECK(listener->channel == to);
	auto *read = on.event(to);
	auto *id = read->id;
	CHECK(handle_of(id) == left);
	CHECK(on.kernel.ids.at(left).fd == to->fd);
	CHECK(rdma_ack_cm_event(read) == 0);
	check_destroyed(id);
	check_destroyed(listener);
	rdma_destroy_event_channel(to);
}

TEST_CASE("request: without a migration EINVAL is not taken for one left behind")
{
	rig on;
	auto *listener = on.listening();
	// Nor where an endpoint's listener has more to it.
	REQUIRE(cm::make_extras(*static_cast<cm::identifier *>(listener)) != nullptr);
	(void)on.kernel.request(handle_of(listener));
	on.kernel.refuse(uapi::query_route::number, EINVAL);
	rdma_cm_event *read = nullptr;
	CHECK(rdma_get_cm_event(on.channel, &read) == -1);
	CHECK(on.kernel.count(uapi::migrate_id::number) == 0);
	check_destroyed(listener);
}
