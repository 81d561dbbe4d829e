// SPDX-License-Identifier: MIT
// lib/cm/acks.cpp and its users: who ends or moves an id waits for what was read
// and not acknowledged; the futex behind it is counted.
#include "lib/cm/acks.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <linux/futex.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/support/fake_cm_rig.hpp"

using namespace qpattr;
using namespace qpattr::test;

namespace {

std::atomic<int> waits{0};
std::atomic<int> wakes{0};
std::atomic<std::uint32_t> to_wake{0};	 // how many the last wake was for, at most
std::atomic<long> patience_ms{-1};	 // of the last wait; -1: for ever
std::atomic<long> shorter_patience_ms{0}; // instead, where it has one
std::atomic<int> interrupts{0};		 // so many waits end by a signal

void forget_calls()
{
	waits = wakes = 0;
	to_wake = 0;
	patience_ms = -1;
	shorter_patience_ms = 0;
	interrupts = 0;
}

// Standard error while it lives, in a file.
class standard_error {
public:
	standard_error() : file_{std::tmpfile()}, kept_{::dup(STDERR_FILENO)}
	{
		REQUIRE(file_ != nullptr);
		::dup2(::fileno(file_), STDERR_FILENO);
	}
	~standard_error()
	{
		::dup2(kept_, STDERR_FILENO);
		::close(kept_);
		std::fclose(file_);
	}
	standard_error(const standard_error &) = delete;
	standard_error &operator=(const standard_error &) = delete;

	[[nodiscard]] std::string text() const
	{
		char all[4096];
		const ssize_t len = ::pread(::fileno(file_), all, sizeof all, 0);
		return {all, static_cast<std::size_t>(len < 0 ? 0 : len)};
	}

private:
	std::FILE *file_;
	int kept_;
};

} // namespace

extern "C" {

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	va_list rest;
	va_start(rest, number);
	auto *word = va_arg(rest, std::uint32_t *);
	const int op = va_arg(rest, int);
	const auto value = va_arg(rest, std::uint32_t);
	// Seconds and nanoseconds, as the kernel has them for this call.
	const auto *time = va_arg(rest, const long *);
	va_end(rest);
	if (number != SYS_futex)
		std::abort(); // the library makes no other
	if (op == FUTEX_WAIT_PRIVATE) {
		const long shorter[2] = {0, shorter_patience_ms * 1000000};
		patience_ms = time ? time[0] * 1000 + time[1] / 1000000 : -1;
		++waits;
		if (interrupts > 0) {
			--interrupts;
			errno = EINTR;
			return -1;
		}
		if (time && shorter_patience_ms)
			time = shorter;
		return __real_syscall(number, word, op, value, time, nullptr, 0);
	}
	++wakes;
	to_wake = value;
	return __real_syscall(number, word, op, value, time, nullptr, 0);
}

}

TEST_CASE("acks: no system call where nobody waits")
{
	forget_calls();
	std::atomic<std::uint32_t> acked{0};
	for (int times = 0; times < 5; ++times)
		cm::acknowledge(acked);
	CHECK(acked == 5);
	cm::await_acks(acked, 5, "test", 0);
	cm::await_acks(acked, 4, "test", 0); // more than the kernel counted
	CHECK(acked == 5);
	CHECK(waits == 0);
	CHECK(wakes == 0);
}

TEST_CASE("acks: the waiter wakes on the last one, not before")
{
	forget_calls();
	std::atomic<std::uint32_t> acked{1};
	sleeper waiter{[&acked] {
		cm::await_acks(acked, 3, "test", 0);
		return 0;
	}};
	REQUIRE(becomes([] { return waits == 1; }));
	CHECK_FALSE(waiter.done());
	cm::acknowledge(acked);
	REQUIRE(becomes([] { return waits == 2; })); // looked, and sleeps again
	CHECK_FALSE(waiter.done());
	cm::acknowledge(acked);
	REQUIRE(becomes([&waiter] { return waiter.done(); }));
	CHECK(wakes == 2);
	// Nobody waits any more, and the count goes on where it was.
	cm::acknowledge(acked);
	CHECK(wakes == 2);
	CHECK(acked == 4);
}

TEST_CASE("acks: a signal does not end the wait")
{
	forget_calls();
	interrupts = 3;
	std::atomic<std::uint32_t> acked{0};
	sleeper waiter{[&acked] {
		cm::await_acks(acked, 1, "test", 0);
		return 0;
	}};
	REQUIRE(becomes([] { return waits == 4; }));
	CHECK_FALSE(waiter.done());
	CHECK(patience_ms == 2000); // it was not told that it takes long
	cm::acknowledge(acked);
	REQUIRE(becomes([&waiter] { return waiter.done(); }));
}

TEST_CASE("acks: the count goes round at 31 bits")
{
	forget_calls();
	std::atomic<std::uint32_t> acked{0x7fffffff};
	// The kernel counts with 32 bits: the same after 2^31, either way.
	cm::await_acks(acked, 0x7fffffff, "test", 0);
	cm::await_acks(acked, 0xffffffff, "test", 0);
	CHECK(waits == 0);
	sleeper waiter{[&acked] {
		cm::await_acks(acked, 0x80000001, "test", 0);
		return 0;
	}};
	REQUIRE(becomes([] { return waits == 1; }));
	cm::acknowledge(acked); // to 0
	REQUIRE(becomes([] { return waits == 2; }));
	CHECK_FALSE(waiter.done());
	cm::acknowledge(acked);
	REQUIRE(becomes([&waiter] { return waiter.done(); }));
	CHECK(acked == 1);
	// Going round does not look like somebody who waits.
	acked = 0x7fffffff;
	wakes = 0;
	cm::acknowledge(acked);
	CHECK(acked == 0);
	CHECK(wakes == 0);
}

TEST_CASE("acks: all who wait wake")
{
	forget_calls();
	std::atomic<std::uint32_t> acked{0};
	const auto wait = [&acked] {
		cm::await_acks(acked, 1, "test", 0);
		return 0;
	};
	sleeper one{wait};
	sleeper two{wait};
	REQUIRE(becomes([] { return waits == 2; }));
	cm::acknowledge(acked);
	CHECK(to_wake >= 2); // one that is left asleep would find out by its patience
	CHECK(becomes([&] { return one.done() && two.done(); }));
}

TEST_CASE("acks: who waits for more is not forgotten when who waits for less is content")
{
	forget_calls();
	std::atomic<std::uint32_t> acked{0};
	sleeper less{[&acked] {
		cm::await_acks(acked, 1, "test", 0);
		return 0;
	}};
	sleeper more{[&acked] {
		cm::await_acks(acked, 2, "test", 0);
		return 0;
	}};
	REQUIRE(becomes([] { return waits == 2; }));
	cm::acknowledge(acked);
	REQUIRE(becomes([&less] { return less.done() && waits == 3; }));
	CHECK_FALSE(more.done());
	cm::acknowledge(acked);
	CHECK(becomes([&more] { return more.done(); }));
	CHECK(wakes == 2);
	// And nobody is woken who does not wait.
	cm::acknowledge(acked);
	CHECK(wakes == 2);
}

TEST_CASE("acks: after two seconds QPATTR_DEBUG tells once who is waited for")
{
	forget_calls();
	shorter_patience_ms = 30;
	::setenv("QPATTR_DEBUG", "1", 1);
	std::string said;
	long first_patience = 0;
	{
		const standard_error error;
		std::atomic<std::uint32_t> acked{2};
		sleeper waiter{[&acked] {
			cm::await_acks(acked, 5, "rdma_destroy_id", 42);
			return 0;
		}};
		(void)becomes([] { return waits >= 1; });
		first_patience = patience_ms;
		(void)becomes([] { return waits >= 2; });
		std::this_thread::sleep_for(std::chrono::milliseconds{100});
		said = error.text();
		for (int times = 0; times < 3; ++times)
			cm::acknowledge(acked);
		(void)becomes([&waiter] { return waiter.done(); });
		CHECK(waiter.done());
		CHECK(error.text() == said); // told once
	}
	::unsetenv("QPATTR_DEBUG");
	CHECK(first_patience == 2000);
	CHECK(said == "qpattr: rdma_destroy_id of id 42 waits for 3 event(s) that were read and "
		      "not acknowledged (rdma_ack_cm_event)\n");
}

TEST_CASE("acks: nothing is said without QPATTR_DEBUG, and the wait goes on")
{
	forget_calls();
	shorter_patience_ms = 10;
	std::string said;
	{
		const standard_error error;
		std::atomic<std::uint32_t> acked{0};
		sleeper waiter{[&acked] {
			cm::await_acks(acked, 1, "rdma_destroy_id", 42);
			return 0;
		}};
		REQUIRE(becomes([] { return waits == 2; }));
		CHECK(patience_ms == -1); // the second one is for ever
		CHECK_FALSE(waiter.done());
		cm::acknowledge(acked);
		REQUIRE(becomes([&waiter] { return waiter.done(); }));
		said = error.text();
	}
	CHECK(said.empty());
}

TEST_CASE("acks: rdma_destroy_id waits for the acknowledgements of its events")
{
	rig on;
	forget_calls();
	auto *id = on.id();
	const auto handle = handle_of(id);
	on.kernel.raise(handle, RDMA_CM_EVENT_ADDR_CHANGE);
	on.kernel.raise(handle, RDMA_CM_EVENT_ADDR_CHANGE);
	auto *first = on.event();
	auto *second = on.event();
	sleeper destroyer{[id] { return rdma_destroy_id(id); }};
	REQUIRE(becomes([] { return waits == 1; }));
	// The kernel has forgotten it; for an event in another thread's hands it is there.
	CHECK(on.kernel.count(uapi::destroy_id::number) == 1);
	CHECK(cm::ids.holds(id));
	CHECK(rdma_ack_cm_event(first) == 0);
	REQUIRE(becomes([] { return waits == 2; }));
	CHECK_FALSE(destroyer.done());
	CHECK(cm::ids.holds(id));
	CHECK(rdma_ack_cm_event(second) == 0);
	REQUIRE(becomes([&destroyer] { return destroyer.done(); }));
	CHECK(destroyer.answer() == 0);
	CHECK_FALSE(cm::ids.holds(id));
}

TEST_CASE("acks: rdma_destroy_id does not wait for events that nobody read")
{
	rig on;
	forget_calls();
	auto *id = on.id();
	const auto handle = handle_of(id);
	on.kernel.raise(handle, RDMA_CM_EVENT_ADDR_CHANGE);
	CHECK(on.happens(id, RDMA_CM_EVENT_ADDR_CHANGE) == RDMA_CM_EVENT_ADDR_CHANGE);
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(waits == 0);
	CHECK(wakes == 0);
	// The one that is left is nobody's.
	rdma_cm_event *read = nullptr;
	CHECK(rdma_get_cm_event(on.channel, &read) == -1);
	CHECK(errno == EAGAIN);
}

TEST_CASE("acks: an id that the kernel does not let go stays whole")
{
	rig on;
	forget_calls();
	auto *id = on.id();
	on.kernel.refuse(uapi::destroy_id::number, EACCES);
	CHECK(rdma_destroy_id(id) == -1);
	CHECK(errno == EACCES);
	CHECK(cm::ids.holds(id));
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(rdma_destroy_id(id) == -1);
	CHECK(errno == EINVAL);
	CHECK(on.kernel.count(uapi::destroy_id::number) == 2);
}

TEST_CASE("acks: rdma_migrate_id waits too, and the count goes on after it")
{
	rig on;
	forget_calls();
	auto *id = on.id();
	auto *to = rdma_create_event_channel();
	REQUIRE(to != nullptr);
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	auto *read = on.event();
	sleeper mover{[id, to] { return rdma_migrate_id(id, to); }};
	REQUIRE(becomes([] { return waits == 1; }));
	CHECK_FALSE(mover.done());
	CHECK(rdma_ack_cm_event(read) == 0);
	REQUIRE(becomes([&mover] { return mover.done(); }));
	CHECK(mover.answer() == 0);
	CHECK(id->channel == to);
	const auto sent = on.kernel.writes_of(uapi::migrate_id::number);
	REQUIRE(sent.size() == 1);
	CHECK(sent[0].fd == to->fd);

	forget_calls();
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	auto *later = on.event(to);
	CHECK(later->id == id);
	sleeper destroyer{[id] { return rdma_destroy_id(id); }};
	REQUIRE(becomes([] { return waits == 1; }));
	CHECK_FALSE(destroyer.done());
	CHECK(rdma_ack_cm_event(later) == 0);
	REQUIRE(becomes([&destroyer] { return destroyer.done(); }));
	rdma_destroy_event_channel(to);
}

TEST_CASE("acks: rdma_leave_multicast waits for the group's events")
{
	rig on;
	forget_calls();
	auto *id = on.addr_resolved(RDMA_PS_UDP);
	REQUIRE(rdma_join_multicast(id, rig::address(), nullptr) == 0);
	const auto group = handle_of(id) + 1;
	on.kernel.raise(group, RDMA_CM_EVENT_MULTICAST_JOIN);
	auto *read = on.event();
	sleeper leaver{[id] { return rdma_leave_multicast(id, rig::address()); }};
	REQUIRE(becomes([] { return waits == 1; }));
	CHECK_FALSE(leaver.done());
	CHECK(rdma_ack_cm_event(read) == 0);
	REQUIRE(becomes([&leaver] { return leaver.done(); }));
	CHECK(leaver.answer() == 0);
	CHECK(rdma_leave_multicast(id, rig::address()) == -1);
	CHECK(rdma_destroy_id(id) == 0);
}
