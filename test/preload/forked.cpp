// SPDX-License-Identifier: MIT
// Fork: the kernel refuses the child every command on a descriptor that its
// parent opened, and the child may open its own.
#include <atomic>
#include <barrier>
#include <chrono>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "test/preload/subject.hpp"

using namespace subject;

namespace {

// Of a look that is made slow: how long, and whether it is under way.
thread_local unsigned look_us = 0;
std::atomic<bool> looking{false}, looked{false};

} // namespace

// Stock's rdma_create_id asks calloc for the id, of which 416 bytes are public; in a look
// it is the preload object that calls it.
extern "C" void *__libc_calloc(std::size_t, std::size_t);
extern "C" void *calloc(std::size_t count, std::size_t size)
{
	if (look_us && count * size >= sizeof(rdma_cm_id)) {
		looking = true;
		::usleep(std::exchange(look_us, 0));
		looked = true;
	}
	return __libc_calloc(count, size);
}

namespace {

void child_cases(check::test &t, rdma_cm_id *inherited)
{
	const question what = about(inherited);
	refused(t, ask(what), what, EACCES);
	agree_in_all(t, inherited);
	const bound own;
	agree_in_all(t, own.id.get());
}

void known_before()
{
	check::run("a child of a parent that has called: EACCES, its own id answered",
		   [](check::test &t) {
			   const bound one;
			   agree(t, one.id.get());
			   in_child(t, [&](check::test &inner) { child_cases(inner, one.id.get()); });
			   agree(t, one.id.get()); // the parent is unharmed
		   });
}

void known_in_child()
{
	check::run("a child that makes the first call: EACCES, its own id answered",
		   [](check::test &t) {
			   const bound one;
			   in_child(t, [&](check::test &inner) { child_cases(inner, one.id.get()); });
			   agree(t, one.id.get());
		   });
	check::run("a child of a child", [](check::test &t) {
		in_child(t, [&](check::test &outer) {
			const bound one;
			agree(outer, one.id.get());
			in_child(outer,
				 [&](check::test &inner) { child_cases(inner, one.id.get()); });
		});
	});
}

using std::chrono::steady_clock;

// How long a first call takes, in a process that has not made it yet.
steady_clock::duration first_call_duration(check::test &t)
{
	auto *shared = static_cast<std::atomic<steady_clock::rep> *>(
		::mmap(nullptr, sizeof(std::atomic<steady_clock::rep>), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	in_child(t, [&](check::test &inner) {
		const bound one;
		const question what = about(one.id.get());
		const auto start = steady_clock::now();
		const outcome answer = ask(what);
		*shared = (steady_clock::now() - start).count();
		answered(inner, answer, what);
	});
	return steady_clock::duration{*shared};
}

// A process in which threads make the first call at once, and `until_fork` later
// the main one forks. What they hold locked at that moment stays locked in the
// child for ever: many threads, as one holds librdmacm's lock for a few
// instructions only.
void fork_during_call(check::test &t, steady_clock::duration until_fork)
{
	constexpr std::size_t thread_count = 8;
	std::vector<bound> ids(thread_count);
	std::vector<outcome> answers(thread_count);
	std::barrier start{static_cast<std::ptrdiff_t>(thread_count) + 1};
	std::vector<std::thread> callers;
	for (std::size_t i = 0; i < thread_count; ++i)
		callers.emplace_back([&, i] {
			start.arrive_and_wait();
			answers[i] = ask(about(ids[i].id.get()));
		});
	start.arrive_and_wait();
	const auto fork_at = steady_clock::now() + until_fork;
	while (steady_clock::now() < fork_at)
		;
	in_child(t, [](check::test &inner) {
		const bound own;
		agree(inner, own.id.get());
	});
	for (std::thread &each : callers)
		each.join();
	for (std::size_t i = 0; i < thread_count; ++i)
		answered(t, answers[i], about(ids[i].id.get()));
	agree(t, ids[0].id.get());
}

// Each try has a process of its own, since a process has one first call. The
// moment of the fork moves through the call.
void during(unsigned tries)
{
	check::run("a fork while 8 threads are in their first call", [tries](check::test &t) {
		// librdmacm is set up here once, not in each of the processes.
		const bound warm;
		const auto duration = first_call_duration(t);
		for (unsigned i = 0; i < tries && t.held(); ++i)
			in_child(t, [&](check::test &worker) {
				fork_during_call(worker, 2 * duration * i / tries);
			});
		t.note(std::to_string(tries) + " times");
	});
}

// A fork while another thread looks, for so long. `waits`: until it has looked.
void fork_while_looking(check::test &t, unsigned us, bool waits)
{
	const bound one, other;
	std::thread looker{[&] {
		look_us = us;
		agree(t, one.id.get());
	}};
	while (!looking)
		::usleep(100);
	const auto start = steady_clock::now();
	in_child(t, [&](check::test &inner) {
		const bool was_looked = looked;
		inner.equal("the look is over", was_looked, waits);
		const bound own;
		const question what = about(own.id.get());
		answered(inner, ask(what), what);
		if (!waits)
			count_stock(1);
	});
	const auto took = steady_clock::now() - start;
	t.expect(waits || took < std::chrono::microseconds{us}, "the fork did not wait for it");
	looker.join();
	agree(t, other.id.get());
}

void during_look()
{
	check::run("a fork waits for a look that is under way", [](check::test &t) {
		fork_while_looking(t, 300'000, true);
	});
}

void during_hung_look()
{
	check::run("a fork does not wait for a look that does not end", [](check::test &t) {
		fork_while_looking(t, 5'000'000, false);
	});
}

constexpr mode modes[] = {
	{"during-look", during_look},
	{"during-hung-look", during_hung_look},
	{"known-before", known_before},
	{"known-in-child", known_in_child},
	{"during", [] { during(100); }},
	{"during-long", [] { during(2'000); }}, // for a hunt by hand
};

} // namespace

int main(int argc, char **argv)
{
	return run_mode(argc, argv, modes);
}
