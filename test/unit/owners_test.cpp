// SPDX-License-Identifier: MIT
// The C++ layer over a scripted connection manager: who ends what, how often, and
// in which order. What it does on a kernel: test/example.
#include <qpattr/qpattr.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "test/support/catch.hpp"
#include "test/support/fake_rdma_cm.hpp"
#include "test/support/layer.hpp"

using namespace std::chrono_literals;
using namespace qpattr::test;

// --- who ends what ---

TEST_CASE("owners: a channel is destroyed once, whoever it moved to", "[owners]")
{
	const clean check;
	{
		qpattr::channel first = make_channel();
		auto *const raw = first.native_handle();
		qpattr::channel second{std::move(first)};
		CHECK_FALSE(first);
		CHECK(first.fd() == -1);
		CHECK(second.native_handle() == raw);
		qpattr::channel third;
		third = std::move(second);
		qpattr::channel &same = third;
		third = std::move(same); // itself
		CHECK(third.native_handle() == raw);
		CHECK(cm.count("rdma_destroy_event_channel") == 0);
		third = make_channel(); // the old one ends
		CHECK(cm.count("rdma_destroy_event_channel") == 1);
	}
	CHECK(cm.count("rdma_destroy_event_channel") == 2);
}

TEST_CASE("owners: an id is destroyed once, and its QP before it", "[owners]")
{
	const clean check;
	{
		qpattr::channel channel = make_channel();
		qpattr::id first = make_id(channel);
		ibv_qp_init_attr init{};
		REQUIRE(first.create_qp(init));
		CHECK(first.qp());
		qpattr::id second{std::move(first)};
		CHECK_FALSE(first);
		CHECK_FALSE(first.qp());
		qpattr::id &same = second;
		second = std::move(same);
		CHECK(second.qp());
		second = make_id(channel);
		CHECK(cm.count("rdma_destroy_qp") == 1);
		CHECK(cm.count("rdma_destroy_id") == 1);
	}
	CHECK(cm.count("rdma_destroy_qp") == 1);
	CHECK(cm.count("rdma_destroy_id") == 2);
}

TEST_CASE("owners: destroy() tells what came of it, and empties the owner in any case", "[owners][errors]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	cm.fail("rdma_destroy_id", EACCES);
	CHECK(id.destroy().why().code == EACCES);
	CHECK_FALSE(id);
	CHECK(id.destroy());
	CHECK(cm.count("rdma_destroy_id") == 1);
}

TEST_CASE("owners: what is released is the program's", "[owners]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	rdma_cm_id *const id = make_id(channel).release();
	CHECK(cm.count("rdma_destroy_id") == 0);
	qpattr::event event = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST, qpattr::id_ref{id});
	rdma_cm_event *const raw = event.release();
	CHECK_FALSE(event);
	CHECK_FALSE(event.take_id());
	CHECK(cm.count("rdma_ack_cm_event") == 0);
	qpattr::event again{raw}; // taken over
	qpattr::id listener{id};
	again.ack();
	CHECK(cm.count("rdma_ack_cm_event") == 1);
}

TEST_CASE("owners: an event is acknowledged once, whoever it moved to", "[owners]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel);
	{
		qpattr::event first = take(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
		qpattr::event second{std::move(first)};
		CHECK_FALSE(first);
		qpattr::event &same = second;
		second = std::move(same);
		CHECK(second);
		CHECK(cm.count("rdma_ack_cm_event") == 0);
		second = take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id);
		CHECK(cm.count("rdma_ack_cm_event") == 1);
		second.ack();
		CHECK_FALSE(second);
		second.ack();
		CHECK(cm.count("rdma_ack_cm_event") == 2);
	}
	CHECK(cm.count("rdma_ack_cm_event") == 2);
}

TEST_CASE("owners: an id that ends does not wait for events of its own thread", "[owners]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id id = make_id(channel), other = make_id(channel);
	qpattr::event one = take(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	qpattr::event of_other = take(channel, RDMA_CM_EVENT_ADDR_RESOLVED, other);
	qpattr::event two = take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id);
	qpattr::event moved{std::move(one)};
	REQUIRE(id.destroy()); // the fake complains of a live event
	CHECK_FALSE(moved);
	CHECK_FALSE(two);
	CHECK(of_other); // which may live
	CHECK(moved.private_data().empty());
	CHECK(moved.status() == 0);
	CHECK(moved.name() == std::string{});
	CHECK_FALSE(moved.id());
	CHECK(cm.count("rdma_ack_cm_event") == 2);
}

TEST_CASE("owners: an event that another thread holds is left to it", "[owners]")
{
	cm.reset();
	{
		qpattr::channel channel = make_channel();
		qpattr::id id = make_id(channel);
		qpattr::event event = take(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
		qpattr::event there;
		std::thread{[&] { there = std::move(event); }}.join();
		REQUIRE(id.destroy()); // the real one would wait for the other thread
		CHECK(there);
	}
	CHECK(cm.wrong == std::vector<std::string>{"an id destroyed with a live event"});
	cm.reset();
}

TEST_CASE("owners: events come and go in many threads", "[owners]")
{
	const clean check;
	// The fake is no more than a program of one thread; only events are at work. All
	// of them are of one id, so that they meet.
	rdma_cm_id id{};
	std::atomic<int> ready = 0, missed = 0;
	std::vector<std::thread> threads;
	for (int part = 0; part < 4; ++part)
		threads.emplace_back([&] {
			rdma_cm_event raw{};
			raw.id = &id;
			for (++ready; ready < 4;)
				;
			for (int round = 0; round < 200'000; ++round) {
				qpattr::event first{&raw};
				qpattr::event second{std::move(first)};
				missed += !qpattr::detail::held_event::any_here(&id);
				static_cast<void>(second.release());
				missed += qpattr::detail::held_event::any_here(&id);
			}
		});
	for (auto &each : threads)
		each.join();
	CHECK(missed == 0);
}

TEST_CASE("owners: a child that was forked under other threads' events goes on", "[owners]")
{
	const clean check;
	std::vector<rdma_cm_id> ids(256); // in every group of locks
	std::atomic<bool> stop = false;
	std::vector<std::thread> threads;
	for (int part = 0; part < 4; ++part)
		threads.emplace_back([&] {
			rdma_cm_event raw{};
			while (!stop)
				for (auto &id : ids) {
					raw.id = &id;
					qpattr::event held{&raw};
					static_cast<void>(held.release());
				}
		});
	int well = 0, forks = 0;
	while (forks < 300 && well == forks) {
		++forks;
		const pid_t child = ::fork();
		REQUIRE(child >= 0);
		if (!child) {
			::alarm(10);
			for (const auto &id : ids)
				static_cast<void>(qpattr::detail::held_event::any_here(&id));
			::_exit(0);
		}
		int status = -1;
		::waitpid(child, &status, 0);
		well += status == 0;
	}
	stop = true;
	for (auto &each : threads)
		each.join();
	CHECK(well == forks);
}

TEST_CASE("owners: what would wait for this thread's event is EDEADLK", "[owners][errors]")
{
	const clean check;
	qpattr::channel channel = make_channel(), to = make_channel();
	qpattr::id id = make_id(channel, RDMA_PS_UDP);
	const auto group = qpattr::address::parse("239.0.0.1", 0).value();
	{
		qpattr::event event = take(channel, RDMA_CM_EVENT_MULTICAST_JOIN, id);
		CHECK(id.migrate(to).why().code == EDEADLK);
		CHECK(id.leave_multicast(group).why().code == EDEADLK);
		CHECK(message(id.migrate(to).why()).find("ack() it first") != std::string::npos);
	}
	CHECK(id.leave_multicast(group));
	CHECK(id.migrate(to));
	CHECK(id.native_handle()->channel == to.native_handle());
}

// --- requests ---

TEST_CASE("owners: the id of a request is taken out of the event", "[owners]")
{
	const clean check;
	int mine = 0;
	qpattr::channel channel = make_channel();
	qpattr::id listener = make_id(channel, RDMA_PS_TCP, &mine);
	qpattr::id connection;
	{
		qpattr::event request = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST, listener);
		CHECK(request.listener() == listener);
		CHECK(request.context<int>() == &mine);
		connection = request.take_id();
		CHECK(connection == request.id());
		CHECK_FALSE(request.take_id());
	}
	CHECK(cm.count("rdma_destroy_id") == 0);
	connection.set_context(&connection);
	CHECK(connection.accept());
	CHECK(cm.last.conn_is_null);
	CHECK(listener.context() == &mine);
	CHECK(take(channel, RDMA_CM_EVENT_ESTABLISHED, connection).context<qpattr::id>() == &connection);
}

TEST_CASE("owners: a request that nobody takes ends with its event, after the acknowledgement", "[owners]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id listener = make_id(channel);
	const std::vector<std::string> ends{"rdma_ack_cm_event", "rdma_destroy_id"};
	const auto last_two = [] {
		return std::vector<std::string>{cm.calls.end() - 2, cm.calls.end()};
	};
	SECTION("by its end") { take(channel, RDMA_CM_EVENT_CONNECT_REQUEST, listener); }
	SECTION("by ack()")
	{
		qpattr::event request = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST, listener);
		request.ack();
		CHECK(last_two() == ends);
	}
	SECTION("by the next one")
	{
		qpattr::event request = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST, listener);
		request = qpattr::event{};
	}
	CHECK(last_two() == ends);
}

TEST_CASE("owners: a listener ends under a request", "[owners]")
{
	const clean check;
	qpattr::channel channel = make_channel();
	qpattr::id listener = make_id(channel);
	qpattr::event request = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST, listener);
	REQUIRE(listener.destroy());
	CHECK_FALSE(request);
	CHECK(request.take_id()); // it is there all the same
}
