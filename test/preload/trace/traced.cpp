// SPDX-License-Identifier: MIT
// A program that is traced, or overridden, while it does what a trace must survive. It
// says how often it called; the guest script reads the trace.
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "test/preload/subject.hpp"

using namespace subject;

namespace {

std::atomic<unsigned> calls{0};
const char *argument = "";

// As a program calls, with nothing around it that needs a stack.
int call(rdma_cm_id *id, ibv_qp_attr &attr, int state = IBV_QPS_INIT) noexcept
{
	int mask;
	calls.fetch_add(1);
	attr.qp_state = static_cast<ibv_qp_state>(state);
	return ::rdma_init_qp_attr(id, &attr, &mask);
}

void call_times(rdma_cm_id *id, int times, int result = 0)
{
	ibv_qp_attr attr;
	for (int i = 0; i < times; ++i)
		if (call(id, attr) != result)
			throw std::runtime_error("a call returns what it should not: errno " +
						 std::to_string(errno));
}

// An id that has no device yet: the kernel refuses it every answer.
struct unbound {
	conformance::channel_ptr channel = conformance::make_channel();
	conformance::id_ptr id = conformance::make_id(channel, RDMA_PS_TCP);
};

struct work {
	rdma_cm_id *answered, *refused;
	int times;
	bool held = true;
};

void *call_in_thread(void *of) noexcept
{
	auto &mine = *static_cast<work *>(of);
	ibv_qp_attr attr;
	for (int i = 0; i < mine.times; ++i) {
		mine.held = call(mine.answered, attr) == 0 && mine.held;
		mine.held = call(mine.refused, attr) == -1 && errno == EINVAL && mine.held;
	}
	return nullptr;
}

// Threads with the smallest stacks that there are. Each calls twice `times`.
void call_in_threads(check::test &t, unsigned thread_count, int times)
{
	std::vector<bound> good(thread_count);
	std::vector<unbound> bad(thread_count);
	std::vector<work> all(thread_count);
	std::vector<pthread_t> threads(thread_count);
	pthread_attr_t small;
	::pthread_attr_init(&small);
	t.equal("setting the size of stacks",
		::pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN), 0);
	for (unsigned i = 0; i < thread_count; ++i) {
		all[i] = {good[i].id.get(), bad[i].id.get(), times};
		t.equal("making a thread",
			::pthread_create(&threads[i], &small, call_in_thread, &all[i]), 0);
	}
	for (unsigned i = 0; i < thread_count; ++i) {
		::pthread_join(threads[i], nullptr);
		t.expect(all[i].held, "a thread's calls are answered");
	}
	::pthread_attr_destroy(&small);
}

void plain()
{
	check::run("plain", [](check::test &) {
		const bound one;
		call_times(one.id.get(), 10);
	});
}

void threads()
{
	check::run("threads", [](check::test &t) { call_in_threads(t, 16, 20); });
}

// Eight children with threads, of which half have a child of their own. They end by
// exit(), as programs do.
void forks()
{
	check::run("forks", [](check::test &t) {
		const bound one;
		call_times(one.id.get(), 10);
		std::fflush(nullptr);
		std::vector<pid_t> children;
		for (int i = 0; i < 8; ++i) {
			const pid_t child = ::fork();
			if (child == 0) {
				::alarm(60);
				check::test inner{"child"};
				call_times(one.id.get(), 1, -1); // the parent's: EACCES
				call_in_threads(inner, 4, 10);
				if (i % 2 == 0) {
					const pid_t grandchild = ::fork();
					if (grandchild == 0) {
						const bound own;
						call_times(own.id.get(), 5);
						std::exit(0);
					}
					int status = -1;
					::waitpid(grandchild, &status, 0);
					inner.equal("the grandchild's status", status, 0);
				}
				std::exit(inner.held() ? 0 : 1);
			}
			children.push_back(child);
		}
		for (const pid_t child : children) {
			int status = -1;
			::waitpid(child, &status, 0);
			t.equal("a child's status", status, 0);
		}
		call_times(one.id.get(), 10);
	});
}

// One that makes no call, and one that closes what it does not know.
void silent_child()
{
	check::run("silent child", [](check::test &t) {
		const bound one;
		call_times(one.id.get(), 1);
		std::fflush(nullptr);
		for (int i = 0; i < 2; ++i) {
			const pid_t child = ::fork();
			if (child == 0) {
				if (i == 1) {
					::close_range(3, UINT_MAX, 0);
					const bound own;
					call_times(own.id.get(), 2);
				}
				std::exit(0);
			}
			int status = -1;
			::waitpid(child, &status, 0);
			t.equal("the child's status", status, 0);
		}
	});
}

void closes()
{
	check::run("closes", [](check::test &) {
		::close_range(3, 1023, 0);
		const bound one;
		call_times(one.id.get(), 5);
		// As a program that makes room for descriptors of its own does.
		for (int fd = 1023; fd > 900; --fd)
			::close(fd);
		call_times(one.id.get(), 5);
	});
}

void other_user()
{
	check::run("other user", [](check::test &) {
		conformance::must(::setgroups(0, nullptr), "setgroups");
		conformance::must(::setgid(65534), "setgid");
		conformance::must(::setuid(65534), "setuid");
		const bound one;
		call_times(one.id.get(), 10);
	});
}

void other_root(bool closed)
{
	check::run("other root", [&](check::test &) {
		const bound one;
		conformance::must(::chroot(argument), "chroot");
		conformance::must(::chdir("/"), "chdir");
		if (closed)
			::close_range(900, UINT_MAX, 0);
		call_times(one.id.get(), 10);
	});
}

// The argument is a file that fills the disk, and is removed half-way.
void full()
{
	check::run("full", [](check::test &t) {
		const bound one;
		call_times(one.id.get(), 60);
		t.equal("removing the file", ::unlink(argument), 0);
		call_times(one.id.get(), 20);
	});
}

// A handler that calls, too: at any place of a call and of its record.
rdma_cm_id *handlers_id;
std::atomic<unsigned> handled{0};
void on_alarm(int) noexcept
{
	const int saved = errno;
	ibv_qp_attr attr;
	if (call(handlers_id, attr) == 0)
		++handled;
	errno = saved;
}

void handlers()
{
	check::run("handlers", [](check::test &t) {
		const bound one, two;
		handlers_id = two.id.get();
		call_times(one.id.get(), 1); // the first is not for handlers
		struct sigaction action {};
		action.sa_handler = on_alarm;
		action.sa_flags = SA_RESTART;
		conformance::must(::sigaction(SIGALRM, &action, nullptr), "sigaction");
		const itimerval often{{0, 2000}, {0, 2000}}, never{};
		::setitimer(ITIMER_REAL, &often, nullptr);
		for (int i = 0; i < 3000 && handled < 100; ++i)
			call_times(one.id.get(), 1);
		::setitimer(ITIMER_REAL, &never, nullptr);
		t.expect(handled >= 20, "the handler has called");
	});
}

// What comes to nobody but us.
void refusals()
{
	check::run("refusals", [](check::test &t) {
		const bound one;
		ibv_qp_attr attr;
		attr.qp_state = IBV_QPS_RTR;
		calls += 2;
		t.equal("without a mask", ::rdma_init_qp_attr(one.id.get(), &attr, nullptr), -1);
		t.equal("errno", errno, EINVAL);
		rdma_event_channel *const channel = one.id->channel;
		one.id->channel = nullptr;
		ibv_context *const verbs = one.id->verbs;
		// What an id points to that is none, and a QP that was destroyed behind
		// librdmacm's back.
		one.id->verbs = reinterpret_cast<ibv_context *>(8);
		one.id->qp = reinterpret_cast<ibv_qp *>(8);
		int mask;
		t.equal("without a channel", ::rdma_init_qp_attr(one.id.get(), &attr, &mask), -1);
		one.id->channel = channel;
		one.id->verbs = verbs;
		call_times(one.id.get(), 1);
		one.id->qp = nullptr;
		t.equal("a state of nobody", call(one.id.get(), attr, 99), -1);
		t.equal("errno", errno, EINVAL);
		// A cancellation that is pending waits for the end of the record.
		pthread_t thread;
		::pthread_create(
			&thread, nullptr,
			[](void *id) -> void * {
				ibv_qp_attr own;
				::pthread_cancel(::pthread_self());
				call(static_cast<rdma_cm_id *>(id), own);
				::pthread_testcancel();
				return nullptr;
			},
			one.id.get());
		void *end = nullptr;
		::pthread_join(thread, &end);
		t.expect(end == PTHREAD_CANCELED, "the thread is cancelled");
	});
}

// With overrides of qp_access_flags and pkey_index.
void overridden(bool by_stock)
{
	check::run("overridden", [&](check::test &t) {
		const bound one;
		rlimit before{};
		::getrlimit(RLIMIT_NOFILE, &before);
		if (by_stock) {
			const int lowest = ::dup(0);
			::close(lowest);
			rlimit none = before;
			none.rlim_cur = static_cast<rlim_t>(lowest);
			::setrlimit(RLIMIT_NOFILE, &none);
		}
		ibv_qp_attr attr;
		std::memset(&attr, 0x55, sizeof attr);
		errno = 12345;
		t.equal("the call", call(one.id.get(), attr), 0);
		t.equal("errno", errno, 12345);
		t.equal("the flags", attr.qp_access_flags, unsigned{IBV_ACCESS_REMOTE_READ});
		t.equal("the P_Key's index", attr.pkey_index, 0);
		t.equal("the port", int{attr.port_num}, 1);
		t.equal("a field outside the mask", int{attr.timeout}, 0);
		::setrlimit(RLIMIT_NOFILE, &before);
	});
}

constexpr mode modes[] = {
	{"plain", plain},
	{"threads", threads},
	{"forks", forks},
	{"silent-child", silent_child},
	{"closes", closes},
	{"other-user", other_user},
	{"other-root", [] { other_root(false); }},
	{"other-root-closed", [] { other_root(true); }},
	{"full", full},
	{"handlers", handlers},
	{"refusals", refusals},
	{"overridden", [] { overridden(false); }},
	{"overridden-by-stock", [] { overridden(true); }},
};

} // namespace

int main(int argc, char **argv)
{
	if (argc == 3)
		argument = argv[2];
	const int status = run_mode(argc < 2 ? argc : 2, argv, modes);
	std::printf("# called %u\n", calls.load());
	return status;
}
