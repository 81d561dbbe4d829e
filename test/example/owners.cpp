// SPDX-License-Identifier: MIT
// The C++ layer on a kernel: what ends how, what waits and what does not, and the
// calls that the example has no use for.
//     owners ADDRESS
#include <qpattr/qpattr.hpp>

#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/check.hpp"

using namespace std::chrono_literals;

namespace {

qpattr::address here; // an address of the RDMA device

template <class T> T must(qpattr::result<T> outcome)
{
	char text[256];
	if (!outcome)
		throw std::runtime_error(outcome.why().message(text));
	return std::move(outcome).value();
}

// The number is of no QP, but one that no other connection has: the kernel takes a
// number that it knows for a connection that went stale.
qpattr::parameters saying(std::string_view word)
{
	static std::uint32_t qp_num = 0xabc000;
	return {.private_data = std::as_bytes(std::span{word}),
		.responder_resources = 1,
		.initiator_depth = 1,
		.qp_num = ++qp_num};
}

std::string word_of(const qpattr::event &event)
{
	const auto bytes = event.private_data();
	const auto *const text = reinterpret_cast<const char *>(bytes.data());
	return {text, ::strnlen(text, bytes.size())};
}

void make_qp(qpattr::id_ref id)
{
	ibv_qp_init_attr init{};
	init.qp_type = id.native_handle()->qp_type;
	init.cap = {1, 1, 1, 1, 0};
	must(id.create_qp(init));
}

std::uint32_t qp_num(qpattr::id_ref of)
{
	if (!of.qp())
		throw std::runtime_error("no QP");
	return of.qp()->qp_num;
}

// A QP that the connection manager knows nothing of.
struct own_qp {
	explicit own_qp(qpattr::id_ref id)
	    : pd{::ibv_alloc_pd(id.verbs())}, cq{::ibv_create_cq(id.verbs(), 2, nullptr, nullptr, 0)}
	{
		ibv_qp_init_attr init{};
		init.qp_type = IBV_QPT_RC;
		init.cap = {1, 1, 1, 1, 0};
		init.send_cq = init.recv_cq = cq;
		qp = ::ibv_create_qp(pd, &init);
		if (!qp)
			throw std::runtime_error("ibv_create_qp");
	}
	own_qp(const own_qp &) = delete;
	~own_qp()
	{
		::ibv_destroy_qp(qp);
		::ibv_destroy_cq(cq);
		::ibv_dealloc_pd(pd);
	}
	[[nodiscard]] ibv_qp_state state() const
	{
		ibv_qp_attr attr;
		ibv_qp_init_attr init;
		return ::ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) ? IBV_QPS_UNKNOWN : attr.qp_state;
	}
	ibv_pd *pd;
	ibv_cq *cq;
	ibv_qp *qp;
};

// A listener and an id that has its route to it, on channels of their own.
struct two_sides {
	qpattr::channel passive = must(qpattr::channel::create());
	qpattr::channel active = must(qpattr::channel::create());
	qpattr::id listener, caller;

	explicit two_sides(rdma_port_space space = RDMA_PS_TCP)
	    : listener{must(qpattr::id::create(passive, space))},
	      caller{must(qpattr::id::create(active, space))}
	{
		must(listener.bind(here));
		must(listener.listen());
		must(caller.set_tos(104));
		if (space == RDMA_PS_TCP)
			must(caller.set_ack_timeout(67ms));
		qpattr::address to = here;
		const_cast<sockaddr_in *>(reinterpret_cast<const sockaddr_in *>(to.get()))->sin_port =
			htons(listener.local_port());
		must(caller.resolve_address(to, 5s));
		must(active.expect(RDMA_CM_EVENT_ADDR_RESOLVED, 10s));
		must(caller.resolve_route(5s));
		must(active.expect(RDMA_CM_EVENT_ROUTE_RESOLVED, 10s));
	}
	qpattr::event request() { return must(passive.expect(RDMA_CM_EVENT_CONNECT_REQUEST, 10s)); }
};

void destroyed_with_events(check::test &t)
{
	two_sides sides;
	make_qp(sides.caller);
	must(sides.caller.connect());
	auto request = sides.request();
	qpattr::id connection = request.take_id();
	make_qp(connection);
	must(connection.accept());
	const auto at_caller = must(sides.active.expect(RDMA_CM_EVENT_ESTABLISHED, 10s));
	const auto at_connection = must(sides.passive.expect(RDMA_CM_EVENT_ESTABLISHED, 10s));
	must(sides.caller.destroy());
	must(connection.destroy());
	must(sides.listener.destroy());
	t.expect(!at_caller && !at_connection && !request, "an event outlived its id");
}

void untaken(check::test &t)
{
	two_sides sides;
	must(sides.caller.connect(saying("?")));
	t.equal("the request's word", word_of(sides.request()), std::string{"?"}); // and it ends
	const auto answer = must(sides.active.next_event(10s));
	t.expect(answer.is(RDMA_CM_EVENT_REJECTED), answer.name());
	t.equal("the reason", answer.status(), 28);
	t.equal("as an errno", answer.status_errno(), ECONNREFUSED);
}

void rejected(check::test &t)
{
	two_sides sides;
	must(sides.caller.connect(saying("")));
	{
		auto request = sides.request();
		const qpattr::id connection = request.take_id();
		must(connection.reject(saying("no").private_data));
	}
	t.equal("the word", word_of(must(sides.active.expect(RDMA_CM_EVENT_REJECTED, 10s))), std::string{"no"});
}

void own_qps(check::test &t)
{
	two_sides sides;
	const own_qp active{sides.caller};
	auto with = saying("by hand");
	with.qp_num = active.qp->qp_num;
	must(sides.caller.connect(with));
	auto request = sides.request();
	qpattr::id connection = request.take_id();
	const own_qp passive{connection};
	t.equal("the peer's QP", request.parameters().qp_num, active.qp->qp_num);
	for (const auto state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
		must(must(connection.attributes_for(state)).apply(passive.qp));
	with.qp_num = passive.qp->qp_num;
	must(connection.accept(with));
	t.equal("the answer's QP", must(sides.active.expect(RDMA_CM_EVENT_CONNECT_RESPONSE, 10s)).parameters().qp_num,
		passive.qp->qp_num);
	for (const auto state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
		const auto asked = must(sides.caller.attributes_for(state));
		must(asked.apply(active.qp));
		if (state == IBV_QPS_RTR)
			t.equal("traffic class", int{asked.attr.ah_attr.grh.traffic_class}, 104);
		if (state == IBV_QPS_RTS)
			t.equal("timeout", int{asked.attr.timeout}, 14);
	}
	must(sides.caller.establish());
	must(sides.passive.expect(RDMA_CM_EVENT_ESTABLISHED, 10s));
	t.equal("the active QP's state", active.state(), IBV_QPS_RTS);
	t.equal("the passive QP's state", passive.state(), IBV_QPS_RTS);
	t.equal("again", must(sides.caller.attributes_for(IBV_QPS_INIT)).apply(nullptr).why().code, EINVAL);
}

void by_epoll(check::test &t)
{
	two_sides sides;
	must(sides.active.set_nonblocking(true));
	must(sides.passive.set_nonblocking(true));
	t.expect(sides.active.next_event().why().would_block(), "an empty channel does not answer EAGAIN");
	const int epoll = ::epoll_create1(0);
	for (qpattr::channel *each : {&sides.active, &sides.passive}) {
		epoll_event wanted{};
		wanted.events = EPOLLIN | EPOLLET;
		wanted.data.ptr = each;
		::epoll_ctl(epoll, EPOLL_CTL_ADD, each->fd(), &wanted);
	}
	must(sides.caller.connect(saying("")));
	qpattr::id connection;
	int established = 0;
	for (int round = 0; round < 20 && established < 1; ++round) {
		epoll_event ready[2];
		const int count = ::epoll_wait(epoll, ready, 2, 1000);
		for (int i = 0; i < count; ++i) {
			auto *const channel = static_cast<qpattr::channel *>(ready[i].data.ptr);
			while (auto got = channel->next_event()) {
				if (got->is(RDMA_CM_EVENT_CONNECT_REQUEST)) {
					connection = got->take_id();
					must(connection.accept(saying("")));
				} else if (got->is(RDMA_CM_EVENT_CONNECT_RESPONSE)) {
					must(sides.caller.establish());
				} else if (got->is(RDMA_CM_EVENT_ESTABLISHED)) {
					++established;
					t.expect(got->id() == connection, "the event is not the connection's");
				}
			}
		}
	}
	::close(epoll);
	t.equal("established", established, 1);
}

void migrated(check::test &t)
{
	two_sides sides;
	qpattr::channel other = must(qpattr::channel::create());
	must(sides.caller.connect(saying("")));
	qpattr::id connection;
	{
		auto request = sides.request();
		connection = request.take_id();
		must(connection.migrate(other)); // the event is the listener's
		t.equal("the listener", sides.listener.migrate(other).why().code, EDEADLK);
	}
	must(connection.accept(saying("moved")));
	const auto answer = must(sides.active.expect(RDMA_CM_EVENT_CONNECT_RESPONSE, 10s));
	t.equal("the word", word_of(answer), std::string{"moved"});
	must(sides.caller.establish());
	t.expect(must(other.expect(RDMA_CM_EVENT_ESTABLISHED, 10s)).id() == connection, "not the connection's");
}

void datagrams(check::test &t)
{
	two_sides sides{RDMA_PS_UDP};
	make_qp(sides.caller);
	must(sides.caller.connect(saying("who?")));
	auto request = sides.request();
	qpattr::id connection = request.take_id();
	t.equal("the request's word", word_of(request), std::string{"who?"});
	make_qp(connection);
	auto with = saying("me");
	with.qp_num = qp_num(connection);
	must(connection.accept(with));
	const auto answer = must(sides.active.expect(RDMA_CM_EVENT_ESTABLISHED, 10s));
	t.equal("the answer's word", word_of(answer), std::string{"me"});
	if (t.expect(answer.datagram(), "no datagram parameters")) {
		t.equal("QP number", answer.datagram()->qp_num, qp_num(connection));
		t.equal("Q_Key", answer.datagram()->qkey, std::uint32_t{RDMA_UDP_QKEY});
	}
}

void groups(check::test &t)
{
	int mine = 0;
	qpattr::channel channel = must(qpattr::channel::create());
	qpattr::id id = must(qpattr::id::create(channel, RDMA_PS_UDP, &mine));
	must(id.bind(here));
	make_qp(id);
	const auto group = must(qpattr::address::parse("239.77.0.1", 0));
	must(id.join_multicast(group, &channel));
	{
		const auto joined = must(channel.expect(RDMA_CM_EVENT_MULTICAST_JOIN, 10s));
		t.expect(joined.id() == id && joined.context<int>() == &mine, "not the id's");
		t.expect(joined.multicast_context() == &channel, "not the join's context");
		t.expect(joined.datagram() && joined.datagram()->qp_num == 0xffffff, "no group");
		t.equal("leave with the event", id.leave_multicast(group).why().code, EDEADLK);
	}
	must(id.leave_multicast(group));
}

void forked(check::test &t)
{
	qpattr::channel channel = must(qpattr::channel::create());
	qpattr::id id = must(qpattr::id::create(channel));
	const ::pid_t child = ::fork();
	if (child == 0) {
		const qpattr::error why = id.bind(here).why();
		::_exit(why.code == EACCES && std::strstr(why.hint(), "fork") ? 0 : 1);
	}
	int status = -1;
	::waitpid(child, &status, 0);
	t.equal("the child's status", status, 0);
	must(id.bind(here));
}

void small_calls(check::test &t)
{
	qpattr::channel channel = must(qpattr::channel::create());
	qpattr::id one = must(qpattr::id::create(channel)), two = must(qpattr::id::create(channel));
	t.equal("without a device", one.attributes_for(IBV_QPS_INIT).why().code, EINVAL);
	must(one.set_reuse_address(true));
	must(two.set_reuse_address(true));
	must(one.set_af_only(true));
	must(one.bind(here));
	must(two.bind(one.local_address()));
	t.equal("the port of both", two.local_port(), one.local_port());
	t.expect(one.verbs() && one.port_num() == 1, "no device");
	t.equal("its mask", must(one.attributes_for(IBV_QPS_INIT)).mask, 0x39);
	const auto nowhere = must(qpattr::address::parse("192.0.2.1", 1));
	qpattr::id third = must(qpattr::id::create(channel));
	t.equal("not of this machine", third.bind(nowhere).why().code, EADDRNOTAVAIL);
	const auto synchronous = must(qpattr::id::create_synchronous());
	must(synchronous.resolve_address(here, 5s));
	t.expect(synchronous.verbs(), "a synchronous id did not wait");
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2)
		return std::fputs("owners: ADDRESS\n", stderr), 2;
	here = must(qpattr::address::parse(argv[1], 0));
	check::run("owners: ids that end do not wait for events of their own thread", destroyed_with_events);
	check::run("owners: a request that nobody takes is rejected", untaken);
	check::run("owners: a rejection brings its private data", rejected);
	check::run("owners: QPs of the program's, moved by their attributes", own_qps);
	check::run("owners: epoll and non-blocking channels", by_epoll);
	check::run("owners: an id moves to another channel", migrated);
	check::run("owners: datagrams", datagrams);
	check::run("owners: multicast groups", groups);
	check::run("owners: a fork child is told why", forked);
	check::run("owners: options, ports, a synchronous id", small_calls);
	return check::status();
}
