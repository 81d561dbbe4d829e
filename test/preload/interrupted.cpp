// SPDX-License-Identifier: MIT
// Calls in a signal handler that interrupts other calls.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <pthread.h>
#include <thread>
#include <unistd.h>

#include "test/preload/subject.hpp"

using namespace subject;

namespace {

thread_local bool in_handler = false;
std::atomic<bool> raise_at_id{false};
std::atomic<unsigned> ids_in_handler{0};

} // namespace

// Stock's rdma_create_id asks calloc for the id, of which 416 bytes are public.
extern "C" void *__libc_calloc(std::size_t, std::size_t);
extern "C" void *calloc(std::size_t count, std::size_t size)
{
	if (count * size >= sizeof(rdma_cm_id)) {
		if (in_handler)
			++ids_in_handler;
		else if (raise_at_id.exchange(false))
			::raise(SIGUSR1);
	}
	return __libc_calloc(count, size);
}

namespace {

question handled_question;
std::atomic<unsigned> handled{0}, handled_wrong{0};

void on_signal(int)
{
	// Nothing in here allocates, and errno is restored as any handler must.
	const int saved = errno;
	in_handler = true;
	const outcome answer = ask(handled_question);
	in_handler = false;
	if (!answer.answered() || answer.mask_value() != conformance::mask_init ||
	    answer.code != conformance::untouched_errno)
		++handled_wrong;
	++handled;
	errno = saved;
}

void handle_with(rdma_cm_id *asked_by_handler)
{
	handled_question = about(asked_by_handler);
	struct sigaction action {};
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	::sigaction(SIGUSR1, &action, nullptr);
}

// Signals for the calling thread, in close order, while this lives.
class signal_storm {
public:
	explicit signal_storm(rdma_cm_id *asked_by_handler) : target_{::pthread_self()}
	{
		handle_with(asked_by_handler);
		sender_ = std::thread{[this] {
			while (!stop_) {
				::pthread_kill(target_, SIGUSR1);
				::usleep(100);
			}
		}};
	}
	~signal_storm()
	{
		stop_ = true;
		sender_.join();
	}
	signal_storm(const signal_storm &) = delete;
	signal_storm &operator=(const signal_storm &) = delete;

private:
	pthread_t target_;
	std::atomic<bool> stop_{false};
	std::thread sender_;
};

void check_handled(check::test &t, unsigned at_least)
{
	t.expect(handled >= at_least, "signals came");
	t.equal("wrong answers in the handler", handled_wrong.load(), 0U);
	t.note(std::to_string(handled.load()) + " calls in the handler");
}

void later()
{
	check::run("calls in a signal handler during calls outside", [](check::test &t) {
		const bound one, other;
		const question what = about(one.id.get());
		answered(t, ask(what), what);
		{
			const signal_storm storm{other.id.get()};
			for (unsigned calls = 0; handled < 200 && calls < 200'000; ++calls)
				answered(t, ask(what), what);
		}
		check_handled(t, 200);
	});
}

// The handler may run in the midst of the first call, in which librdmacm makes
// ids. It must not make any itself: librdmacm's lock and malloc's may be held by
// what it interrupted.
void storm_at_first()
{
	constexpr unsigned children = 100;
	check::run("calls in a signal handler during the first call, " + std::to_string(children) +
			   " processes",
		   [](check::test &t) {
			   const bound warm;
			   for (unsigned i = 0; i < children && t.held(); ++i)
				   in_child(t, [](check::test &inner) {
					   const bound one, other;
					   const question what = about(one.id.get());
					   {
						   const signal_storm storm{other.id.get()};
						   for (unsigned call = 0; call < 20; ++call)
							   answered(inner, ask(what), what);
					   }
					   check_handled(inner, 0);
				   });
		   });
}

// The same without chance: the signal is raised where the first call allocates an
// id.
void raised_at_first()
{
	check::run("a call in a signal handler that interrupts the first call", [](check::test &t) {
		const bound one, other;
		const question what = about(one.id.get());
		handle_with(other.id.get());
		raise_at_id = true;
		answered(t, ask(what), what);
		t.expect(!raise_at_id, "the first call allocates an id");
		check_handled(t, 1);
		t.equal("ids allocated in the handler", ids_in_handler.load(), 0U);
	});
}

constexpr mode modes[] = {
	{"later", later},
	{"storm-at-first", storm_at_first},
	{"raised-at-first", raised_at_first},
};

} // namespace

int main(int argc, char **argv)
{
	return run_mode(argc, argv, modes);
}
