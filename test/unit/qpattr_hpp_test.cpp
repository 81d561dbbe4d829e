// SPDX-License-Identifier: MIT
// The C++ layer (qpattr.hpp) over a scripted connection manager: what is told of
// failures, waiting, what is handed over. Who ends what: owners_test.
//
// The library's inside has a qpattr::result of its own, and is in this program too:
// what the linker sees of both is apart.
#include <qpattr/qpattr.hpp>

#include <climits>
#include <string>
#include <sys/epoll.h>
#include <unistd.h>

#include "test/support/catch.hpp"
#include "test/support/fake_kernel.hpp"
#include "test/support/fake_rdma_cm.hpp"
#include "test/support/layer.hpp"

using namespace std::chrono_literals;
using namespace qpattr::test;

// --- what is told of failures ---

TEST_CASE("hpp: every call tells its errno and its name", "[hpp][errors]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	const auto where = qpattr::address::parse("10.77.0.1", 7174).value();
	ibv_qp_init_attr init{};
	ibv_qp_init_attr_ex init_ex{};

	// The function fails once; then the same on an id that is none.
	const auto each = [&](const char *name, auto call) {
		INFO(name);
		cm.fail(name, ENXIO);
		const qpattr::error why = call(static_cast<qpattr::id_ref &>(id)).why();
		CHECK(why.code == ENXIO);
		CHECK(why.call == std::string{name});
		CHECK(call(static_cast<qpattr::id_ref &>(id)));
		const std::size_t before = cm.calls.size();
		const qpattr::error none = call(qpattr::id_ref{}).why();
		CHECK(none.code == EINVAL);
		CHECK(none.call == std::string{name});
		CHECK(cm.calls.size() == before);
	};
	each("rdma_bind_addr", [&](auto on) { return on.bind(where); });
	each("rdma_resolve_addr", [&](auto on) { return on.resolve_address(where, 2s); });
	each("rdma_resolve_route", [&](auto on) { return on.resolve_route(2s); });
	each("rdma_create_qp", [&](auto on) { return on.create_qp(init); });
	each("rdma_create_qp_ex", [&](auto on) { return on.create_qp(init_ex); });
	each("rdma_init_qp_attr", [&](auto on) { return on.attributes_for(IBV_QPS_INIT); });
	each("rdma_connect", [&](auto on) { return on.connect(); });
	each("rdma_connect", [&](auto on) { return on.connect(qpattr::parameters{}); });
	each("rdma_accept", [&](auto on) { return on.accept(); });
	each("rdma_accept", [&](auto on) { return on.accept(qpattr::parameters{}); });
	each("rdma_reject", [&](auto on) { return on.reject(); });
	each("rdma_reject_ece", [&](auto on) { return on.reject_ece(); });
	each("rdma_listen", [&](auto on) { return on.listen(); });
	each("rdma_establish", [&](auto on) { return on.establish(); });
	each("rdma_disconnect", [&](auto on) { return on.disconnect(); });
	each("rdma_notify", [&](auto on) { return on.notify(IBV_EVENT_COMM_EST); });
	each("rdma_set_option", [&](auto on) { return on.set_tos(104); });
	each("rdma_set_local_ece", [&](auto on) { return on.set_local_ece({}); });
	each("rdma_get_remote_ece", [&](auto on) { return on.remote_ece(); });
	each("rdma_migrate_id", [&](auto on) { return on.migrate(channel); });
	each("rdma_join_multicast_ex", [&](auto on) { return on.join_multicast(where); });
	each("rdma_leave_multicast", [&](auto on) { return on.leave_multicast(where); });

	cm.fail("rdma_create_event_channel", ENOENT);
	CHECK(qpattr::channel::create().why().code == ENOENT);
	cm.fail("rdma_create_id", EACCES);
	auto refused = qpattr::id::create(channel);
	CHECK(refused.why().code == EACCES);
	CHECK_FALSE(refused.value()); // empty, and may be looked at
	cm.fail("rdma_get_cm_event", EINTR);
	CHECK(channel.next_event().why().code == EINTR);
	cm.fail("rdma_get_request", ENOMEM);
	CHECK(id.get_request().why().code == ENOMEM);
}

TEST_CASE("hpp: empty owners and addresses are EINVAL, without a call", "[hpp][errors]")
{
	const clean check;
	qpattr::channel channel = make_channel(), none;
	qpattr::id id = make_id(channel);
	const std::size_t before = cm.calls.size();
	CHECK(none.next_event().why().code == EINVAL);
	CHECK(none.next_event(1ms).why().code == EINVAL);
	CHECK(none.set_nonblocking(true).why().code == EBADF);
	CHECK(qpattr::id::create(none).why().code == EINVAL);
	CHECK(qpattr::id{}.get_request().why().code == EINVAL);
	CHECK(id.migrate(none).why().code == EINVAL);
	CHECK(id.bind({}).why().code == EINVAL);
	CHECK(id.resolve_address({}, 1s).why().code == EINVAL);
	CHECK(id.join_multicast({}).why().code == EINVAL);
	CHECK(id.leave_multicast({}).why().code == EINVAL);
	CHECK(qpattr::attributes{}.apply(nullptr).why().code == EINVAL);
	const std::string long_data(256, 'x');
	CHECK(id.connect({.private_data = bytes(long_data)}).why().code == EINVAL);
	CHECK(id.accept({.private_data = bytes(long_data)}).why().code == EINVAL);
	CHECK(id.reject(bytes(long_data)).why().code == EINVAL);
	CHECK(id.reject_ece(bytes(long_data)).why().code == EINVAL);
	CHECK(cm.calls.size() == before);
	qpattr::id_ref{}.destroy_qp();
	qpattr::id_ref{}.set_context(&channel);
	CHECK(qpattr::id_ref{}.context() == nullptr);
	CHECK(qpattr::id_ref{}.local_address().family() == AF_UNSPEC);
	CHECK(qpattr::id_ref{}.local_port() == 0);
}

TEST_CASE("hpp: a message names the call, the errno and the way out", "[hpp][errors]")
{
	CHECK(message({ENODEV, "rdma_bind_addr"}) ==
	      "rdma_bind_addr: No such device (no RDMA device has the address: rdma link)");
	CHECK(message({ENOMEM, "rdma_create_id"}) == "rdma_create_id: Cannot allocate memory");
	CHECK(message({}) == "no error");
	CHECK(message({4711, "call"}) == "call: Unknown error 4711");
	CHECK_FALSE(qpattr::error{});
	CHECK(qpattr::error{EAGAIN, "x"}.would_block());
	char few[8];
	CHECK(qpattr::error{ENODEV, "rdma_bind_addr"}.message(few) == std::string{"rdma_bi"});
	CHECK(qpattr::error{ENODEV, "x"}.message({}) == std::string{});
	static_assert(*qpattr::error{EACCES, "anything"}.hint());
}

// --- waiting ---

TEST_CASE("hpp: a non-blocking channel without an event is EAGAIN", "[hpp]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	REQUIRE(channel.set_nonblocking(true));
	auto none = channel.next_event();
	CHECK(none.why().would_block());
	CHECK_FALSE(none.value());
	CHECK(take(channel, RDMA_CM_EVENT_ESTABLISHED, id).is(RDMA_CM_EVENT_ESTABLISHED));
	CHECK(channel.next_event().why().would_block());
	REQUIRE(channel.set_nonblocking(false));
	CHECK(take(channel, RDMA_CM_EVENT_ESTABLISHED, id));
}

TEST_CASE("hpp: the descriptor works with epoll", "[hpp]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	REQUIRE(channel.set_nonblocking(true));
	const int epoll = ::epoll_create1(0);
	epoll_event wanted{};
	wanted.events = EPOLLIN | EPOLLET;
	wanted.data.ptr = &channel;
	REQUIRE(::epoll_ctl(epoll, EPOLL_CTL_ADD, channel.fd(), &wanted) == 0);
	epoll_event ready{};
	CHECK(::epoll_wait(epoll, &ready, 1, 0) == 0);
	cm.put(channel.native_handle(), RDMA_CM_EVENT_ADDR_RESOLVED, id.native_handle());
	cm.put(channel.native_handle(), RDMA_CM_EVENT_ROUTE_RESOLVED, id.native_handle());
	REQUIRE(::epoll_wait(epoll, &ready, 1, 1000) == 1);
	auto *const from = static_cast<qpattr::channel *>(ready.data.ptr);
	int taken = 0;
	while (from->next_event())
		++taken;
	CHECK(taken == 2);
	CHECK(::epoll_wait(epoll, &ready, 1, 0) == 0);
	::close(epoll);
}

TEST_CASE("hpp: waiting with a timeout", "[hpp]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	CHECK(channel.next_event(0ms).why().code == ETIMEDOUT);
	CHECK(channel.next_event(-5s).why().code == ETIMEDOUT);
	const auto begin = std::chrono::steady_clock::now();
	CHECK(channel.next_event(30ms).why().code == ETIMEDOUT);
	CHECK(std::chrono::steady_clock::now() - begin >= 25ms);
	cm.put(channel.native_handle(), RDMA_CM_EVENT_ADDR_RESOLVED, id.native_handle());
	CHECK(channel.next_event(std::chrono::milliseconds::max()));
}

TEST_CASE("hpp: another event than the expected one is an error with its name", "[hpp][errors]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	const auto other = [&](rdma_cm_event_type type, int status) {
		cm.put(channel.native_handle(), type, id.native_handle(), status);
		return channel.expect(RDMA_CM_EVENT_ESTABLISHED, 1s).why();
	};
	CHECK(other(RDMA_CM_EVENT_ESTABLISHED, 0).code == 0);
	CHECK(other(RDMA_CM_EVENT_ADDR_ERROR, -ENODEV).code == ENODEV);
	CHECK(other(RDMA_CM_EVENT_REJECTED, 28).code == ECONNREFUSED);
	CHECK(other(RDMA_CM_EVENT_REJECTED, 28).call == std::string{"RDMA_CM_EVENT_REJECTED"});
	CHECK(other(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT).code == ETIMEDOUT);
	CHECK(other(RDMA_CM_EVENT_UNREACHABLE, 1).code == ECONNREFUSED);
	CHECK(other(RDMA_CM_EVENT_DEVICE_REMOVAL, 0).code == ENODEV);
	CHECK(other(RDMA_CM_EVENT_DISCONNECTED, 0).code == EPROTO);
	CHECK(cm.count("rdma_ack_cm_event") == 8);
	CHECK(channel.expect(RDMA_CM_EVENT_ESTABLISHED, 0ms).why().code == ETIMEDOUT);
}

// --- what is handed over ---

TEST_CASE("hpp: arguments arrive in the C functions' units", "[hpp]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	int mine = 0;
	qpattr::id id = make_id(channel, RDMA_PS_UDP, &mine);
	CHECK(cm.last.space == RDMA_PS_UDP);
	CHECK(cm.last.channel == channel.native_handle());
	CHECK(id.context() == &mine);

	sockaddr_in v4{};
	v4.sin_family = AF_INET;
	const auto v6 = qpattr::address::parse("fd77::1", 7174).value();
	REQUIRE(id.resolve_address(v6, 2s, v4));
	CHECK(cm.last.destination == v6.get());
	CHECK(cm.last.source == reinterpret_cast<sockaddr *>(&v4));
	CHECK(cm.last.timeout_ms == 2000);
	REQUIRE(id.resolve_address(v6, std::chrono::hours{24 * 365}));
	CHECK(cm.last.timeout_ms == INT_MAX);
	CHECK_FALSE(cm.last.source);
	REQUIRE(id.resolve_route(-1s));
	CHECK(cm.last.timeout_ms == 0);
	REQUIRE(id.listen(5));
	CHECK(cm.last.backlog == 5);
	REQUIRE(id.notify(IBV_EVENT_COMM_EST));
	CHECK(cm.last.notified == IBV_EVENT_COMM_EST);
	REQUIRE(id.reject(bytes("no")));
	CHECK(cm.last.private_data == "no");
	REQUIRE(id.set_local_ece({.vendor_id = 1, .options = 2, .comp_mask = 0}));
	CHECK(cm.last.ece.options == 2);
	CHECK(id.remote_ece()->vendor_id == 0x15b3);
	REQUIRE(id.join_multicast(v6, &mine, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER));
	CHECK(cm.last.join.comp_mask == 3);
	CHECK(cm.last.join.join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
	CHECK(cm.last.join.addr == v6.get());
	CHECK(cm.last.context == &mine);
	auto synchronous = qpattr::id::create_synchronous();
	REQUIRE(synchronous);
	CHECK_FALSE(cm.last.channel);
	CHECK(synchronous->get_request());
}

TEST_CASE("hpp: options have the widths that the kernel takes", "[hpp]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	const auto was = [](int option, const std::string &value) {
		return cm.last.level == RDMA_OPTION_ID && cm.last.option == option &&
		       cm.last.option_value == value;
	};
	const int on = 1, off = 0;
	const std::string int_on{reinterpret_cast<const char *>(&on), sizeof on};
	const std::string int_off{reinterpret_cast<const char *>(&off), sizeof off};
	CHECK((id.set_tos(104) && was(RDMA_OPTION_ID_TOS, "h")));
	CHECK((id.set_reuse_address(true) && was(RDMA_OPTION_ID_REUSEADDR, int_on)));
	CHECK((id.set_af_only(false) && was(RDMA_OPTION_ID_AFONLY, int_off)));
	CHECK((id.set_ack_timeout(14) && was(RDMA_OPTION_ID_ACK_TIMEOUT, "\x0e")));
	// 4.096 us * 2^14 is 67.108864 ms.
	CHECK((id.set_ack_timeout(67'108'864ns) && was(RDMA_OPTION_ID_ACK_TIMEOUT, "\x0e")));
	CHECK((id.set_ack_timeout(67'108'865ns) && was(RDMA_OPTION_ID_ACK_TIMEOUT, "\x0f")));
	CHECK((id.set_ack_timeout(0ns) && was(RDMA_OPTION_ID_ACK_TIMEOUT, "\x01")));
	CHECK((id.set_ack_timeout(24h) && was(RDMA_OPTION_ID_ACK_TIMEOUT, "\x1f")));
}

TEST_CASE("hpp: parameters go and come", "[hpp]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	REQUIRE(id.connect());
	CHECK(cm.last.conn_is_null);
	REQUIRE(id.connect({.private_data = bytes("hello"), .responder_resources = 3, .retry_count = 2,
			    .srq = true, .qp_num = 17}));
	CHECK(cm.last.private_data == "hello");
	CHECK(cm.last.conn.responder_resources == 3);
	CHECK(cm.last.conn.initiator_depth == RDMA_MAX_INIT_DEPTH);
	CHECK(cm.last.conn.retry_count == 2);
	CHECK(cm.last.conn.rnr_retry_count == 7);
	CHECK(cm.last.conn.srq == 1);
	CHECK(cm.last.conn.qp_num == 17);
	const rdma_conn_param came = cm.last.conn;

	const std::string most(255, 'x');
	REQUIRE(id.accept({.private_data = bytes(most)}));
	CHECK(cm.last.private_data == most);
	REQUIRE(id.accept({}));
	CHECK(cm.last.conn.private_data_len == 0);

	auto *const raw = cm.put(channel.native_handle(), RDMA_CM_EVENT_CONNECT_RESPONSE, id.native_handle());
	raw->param.conn = came;
	qpattr::event event = take(channel);
	CHECK(event.private_data().size() == 5);
	const qpattr::parameters got = event.parameters();
	CHECK(got.private_data.data() == came.private_data);
	CHECK(got.responder_resources == 3);
	CHECK(got.retry_count == 2);
	CHECK(got.srq);
	CHECK(got.qp_num == 17);
	CHECK_FALSE(event.datagram());
}

TEST_CASE("hpp: datagrams and groups", "[hpp]")
{
	const clean check;
	int mine = 0;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel, RDMA_PS_UDP);
	auto *raw = cm.put(channel.native_handle(), RDMA_CM_EVENT_ESTABLISHED, id.native_handle());
	raw->param.ud.private_data = "reply";
	raw->param.ud.private_data_len = 5;
	raw->param.ud.qkey = RDMA_UDP_QKEY;
	{
		qpattr::event event = take(channel);
		REQUIRE(event.datagram());
		CHECK(event.datagram()->qkey == RDMA_UDP_QKEY);
		CHECK(event.private_data().size() == 5);
		CHECK(event.parameters().private_data.size() == 5);
	}
	raw = cm.put(channel.native_handle(), RDMA_CM_EVENT_MULTICAST_JOIN, id.native_handle());
	raw->param.ud.private_data = &mine;
	qpattr::event event = take(channel);
	CHECK(event.multicast_context() == &mine);
	CHECK(event.private_data().empty());
	REQUIRE(event.datagram());
}

TEST_CASE("hpp: addresses", "[hpp]")
{
	const auto v4 = qpattr::address::parse("10.77.0.1", 7174);
	REQUIRE(v4);
	CHECK(qpattr::address_view{v4.value()}.family() == AF_INET);
	CHECK(qpattr::address_view{v4.value()}.port() == 7174);
	for (const char *wrong : {"", "localhost", "1.2.3", "10.0.0.1:5"})
		CHECK(qpattr::address::parse(wrong, 0).why().code == EINVAL);
	CHECK(qpattr::address::parse(nullptr, 0).why().code == EINVAL);

	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	CHECK(id.local_address().family() == AF_UNSPEC);
	id.native_handle()->route.addr.dst_sin.sin_family = AF_INET;
	id.native_handle()->route.addr.dst_sin.sin_port = htons(1234);
	CHECK(id.peer_port() == 1234);
	CHECK(id.peer_address().port() == 1234);
	CHECK(id.local_port() == 0);
}

// --- attributes ---

TEST_CASE("hpp: attributes of a state, described", "[hpp]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	cm.attr.timeout = 19;
	cm.attr.qp_state = IBV_QPS_RESET; // the layer puts the asked one there
	cm.mask = IBV_QP_STATE | IBV_QP_TIMEOUT;
	const auto asked = id.attributes_for(IBV_QPS_RTS);
	REQUIRE(asked);
	CHECK(cm.last.state == IBV_QPS_RTS);
	CHECK(asked->attr.qp_state == IBV_QPS_RTS);
	CHECK(asked->has(IBV_QP_TIMEOUT));
	CHECK(asked->has(IBV_QP_TIMEOUT | IBV_QP_STATE));
	CHECK_FALSE(asked->has(IBV_QP_TIMEOUT | IBV_QP_AV));
	const std::string text = "qp_state                       RTS         ready to send\n"
				 "timeout                        19          2.15 s\n";
	CHECK(asked->describe<std::string>() == text);
	CHECK(qpattr::attributes{}.describe<std::string>().empty());
	char few[12];
	CHECK(asked->describe(few) == text.size());
	CHECK(few == std::string{"qp_state   "});
}

TEST_CASE("hpp: attributes by descriptor and handle", "[hpp]")
{
	auto &kernel = fake_kernel::get();
	kernel.reset();
	const int fd = kernel.open_file();
	const auto handle = kernel.create_id(fd);
	ib_uverbs_qp_attr reply{};
	reply.qp_attr_mask = IBV_QP_TIMEOUT;
	reply.timeout = 14;
	kernel.answer(handle, reply);
	const auto asked = qpattr::attributes::query(fd, handle, IBV_QPS_RTS);
	REQUIRE(asked);
	CHECK(asked->attr.timeout == 14);
	CHECK(asked->attr.qp_state == IBV_QPS_RTS);
	CHECK(asked->mask == IBV_QP_TIMEOUT);
	const auto refused = qpattr::attributes::query(-1, handle, IBV_QPS_RTS);
	CHECK(refused.why().code == EBADF);
	CHECK(refused.why().call == std::string{"qpattr_query"});
}

TEST_CASE("hpp: apply() is ibv_modify_qp(), whose errno is its answer", "[hpp][errors]")
{
	const clean check;
	qpattr::attributes with;
	with.attr.timeout = 14;
	with.mask = IBV_QP_TIMEOUT;
	ibv_qp qp{};
	CHECK(with.apply(&qp));
	CHECK(cm.last.modified.timeout == 14);
	CHECK(cm.last.modified_mask == IBV_QP_TIMEOUT);
	for (const auto &[answered, told] : {std::pair{EINVAL, EINVAL}, {-ENOMEM, ENOMEM}, {0, EIO}}) {
		cm.fail("ibv_modify_qp", answered);
		errno = 0;
		const auto refused = with.apply(&qp);
		CHECK_FALSE(refused);
		CHECK(refused.why().code == told);
		CHECK(refused.why().call == std::string{"ibv_modify_qp"});
	}
	CHECK(with.apply(nullptr).why().code == EINVAL);
	errno = 77;
	CHECK(with.apply(&qp));
	CHECK(errno == 77);
}
