// SPDX-License-Identifier: MIT
// The first call of a process, in which the preload object finds out where the
// kernel's handle is. One way to come to it a process: argv[1].
#include <atomic>
#include <barrier>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

#include "test/preload/subject.hpp"

using namespace subject;

namespace {

// Nothing but one call: for what is looked at from outside.
void plain()
{
	check::run("a first call is answered", [](check::test &t) {
		const bound one;
		const question what = about(one.id.get());
		answered(t, ask(what), what);
	});
}

void from_threads(check::test &t)
{
	constexpr std::size_t thread_count = 16;
	std::vector<bound> ids(thread_count);
	std::vector<outcome> answers(thread_count);
	std::barrier start{static_cast<std::ptrdiff_t>(thread_count)};
	std::vector<std::thread> running;
	for (std::size_t i = 0; i < thread_count; ++i)
		running.emplace_back([&, i] {
			start.arrive_and_wait();
			answers[i] = ask(about(ids[i].id.get()));
		});
	for (std::thread &each : running)
		each.join();
	for (std::size_t i = 0; i < thread_count; ++i) {
		const question what = about(ids[i].id.get());
		answered(t, answers[i], what);
		t.equal("the difference from stock",
			conformance::difference(ask_stock(what), answers[i], what), "");
	}
}

constexpr char threads_name[] = "a first call from 16 threads at once: each answer is stock's";

void threads()
{
	check::run(threads_name, from_threads);
}

// A process has one first call. The children have not made theirs, but have
// librdmacm set up already, which takes longer than all the rest.
void processes()
{
	constexpr unsigned children = 12;
	check::run(std::string{threads_name} + ", " + std::to_string(children) + " processes",
		   [](check::test &t) {
			   const bound warm;
			   for (unsigned i = 0; i < children; ++i)
				   in_child(t, from_threads);
		   });
}

void in_create_qp()
{
	check::run("a first call made by rdma_create_qp", [](check::test &t) {
		const bound one;
		conformance::make_qp(one.id);
		count_ours(1);
		ibv_qp_attr attr{};
		ibv_qp_init_attr init{};
		conformance::must(::ibv_query_qp(one.id->qp, &attr, IBV_QP_STATE, &init),
				  "ibv_query_qp");
		t.equal("the QP's state", attr.qp_state, IBV_QPS_INIT);
		agree_in_all(t, one.id.get());
	});
}

void descriptors()
{
	check::run("a first call leaves no descriptor open", [](check::test &t) {
		const bound one;
		const std::size_t before = open_descriptors();
		const question what = about(one.id.get());
		answered(t, ask(what), what);
		t.equal("open descriptors", open_descriptors(), before);
	});
}

void cancelled()
{
	check::run("a first call with a cancellation pending is completed", [](check::test &t) {
		const bound one;
		const std::size_t before = open_descriptors();
		const question what = about(one.id.get());
		outcome answer{};
		std::atomic<bool> ready{false}, pending{false}, returned{false};
		pthread_t thread;
		auto body = [&] {
			int state;
			::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
			ready = true;
			while (!pending)
				::sched_yield();
			::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
			answer = ask(what);
			returned = true;
			::pthread_testcancel();
		};
		using body_type = decltype(body);
		const auto start = [](void *b) -> void * {
			(*static_cast<body_type *>(b))();
			return nullptr;
		};
		conformance::must(::pthread_create(&thread, nullptr, start, &body),
				  "pthread_create");
		while (!ready)
			::sched_yield();
		::pthread_cancel(thread);
		pending = true;
		void *result = nullptr;
		::pthread_join(thread, &result);
		t.expect(returned, "the call returned");
		t.expect(result == PTHREAD_CANCELED, "the cancellation came after it");
		answered(t, answer, what);
		t.equal("open descriptors", open_descriptors(), before);
		// Nothing is left locked.
		agree(t, one.id.get());
	});
}

constexpr mode modes[] = {
	{"plain", plain},
	{"threads", threads},
	{"processes", processes},
	{"create-qp", in_create_qp},
	{"descriptors", descriptors},
	{"cancelled", cancelled},
};

} // namespace

int main(int argc, char **argv)
{
	return run_mode(argc, argv, modes);
}
