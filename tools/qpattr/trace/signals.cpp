// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/signals.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"

namespace qpattr::tool {
namespace {

using std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds{2};

// What stops and continues a job does so to this process too; what tells of a fault of
// this process is not the program's.
bool is_own(int signal)
{
	switch (signal) {
	case SIGKILL: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU: case SIGCONT:
	case SIGCHLD: case SIGPIPE: case SIGXFSZ: case SIGXCPU:
	case SIGSEGV: case SIGBUS: case SIGFPE: case SIGILL: case SIGSYS: case SIGTRAP: case SIGABRT:
		return true;
	default:
		return signal > SIGSYS && signal < SIGRTMIN; // the C library's own
	}
}

// As nohup leaves SIGHUP: then it is ignored by the program too.
bool ignored(int signal)
{
	struct sigaction is;
	return ::sigaction(signal, nullptr, &is) == 0 && !(is.sa_flags & SA_SIGINFO) &&
	       is.sa_handler == SIG_IGN;
}

sigset_t set_of_handed_on()
{
	sigset_t out;
	::sigemptyset(&out);
	for (int each = 1; each <= SIGRTMAX; ++each)
		if (!is_own(each) && !ignored(each))
			::sigaddset(&out, each);
	return out;
}

// The terminal sends these to all of its foreground, hence to the program too. Its
// hang-up goes to the first process of the session alone.
bool of_terminal(const signalfd_siginfo &what)
{
	return what.ssi_code == SI_KERNEL &&
	       (what.ssi_signo == SIGINT || what.ssi_signo == SIGQUIT || what.ssi_signo == SIGWINCH);
}

// Whether it asks a program to end, as far as can be known.
bool asks_to_end(int signal)
{
	return signal != SIGWINCH && signal != SIGURG;
}

int left_ms(steady_clock::time_point until)
{
	using std::chrono::milliseconds;
	const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
	return static_cast<int>(std::max(left, milliseconds{0}).count());
}

struct sigaction set(int signal, void (*how)(int))
{
	struct sigaction now{}, before;
	now.sa_handler = how;
	::sigaction(signal, &now, &before);
	return before;
}

} // namespace

signals::signals()
	: child_before_{set(SIGCHLD, SIG_DFL)}, // where ignored, the kernel keeps no status
	  pipe_before_{set(SIGPIPE, SIG_IGN)}, size_before_{set(SIGXFSZ, SIG_IGN)}
{
	::pthread_sigmask(SIG_BLOCK, nullptr, &before_);
}

signals::~signals()
{
	if (thread_.joinable()) {
		over_ = true;
		if (none_yet_)
			none_yet_.unlock();
		raise_event(stop_);
		thread_.join();
		// All was said: what has come since has nothing left to end.
		signalfd_siginfo late;
		while (::read(arrived_, &late, sizeof late) == sizeof late)
			;
	}
	if (arrived_ >= 0)
		::close(arrived_);
	if (stop_ >= 0)
		::close(stop_);
	restore();
}

void signals::hold(std::function<void(int)> on_give_up)
{
	const sigset_t watched = set_of_handed_on();
	arrived_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	stop_ = ::eventfd(0, EFD_CLOEXEC);
	if (arrived_ < 0 || stop_ < 0)
		throw failure{fmt::format("cannot watch for signals: {}", std::strerror(errno))};
	sigset_t blocked = watched;
	::sigaddset(&blocked, SIGCHLD);
	::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
	on_give_up_ = std::move(on_give_up);
	none_yet_ = std::unique_lock{children_};
	try {
		thread_ = std::thread{[this] { watch(); }};
	} catch (const std::system_error &why) {
		throw failure{fmt::format("cannot start a thread, which hands signals on to the "
					  "program: {}: raise the limit (ulimit -u, ulimit -v)",
					  why.code().message())};
	}
}

void signals::hand_to(pid_t child)
{
	child_ = child;
	none_yet_.unlock();
}

void signals::restore() const
{
	::sigaction(SIGCHLD, &child_before_, nullptr);
	::sigaction(SIGPIPE, &pipe_before_, nullptr);
	::sigaction(SIGXFSZ, &size_before_, nullptr);
	::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void signals::wait(const timespec &span)
{
	sigset_t ended;
	::sigemptyset(&ended);
	::sigaddset(&ended, SIGCHLD);
	::sigtimedwait(&ended, nullptr, &span);
}

pid_t signals::reap(int &status)
{
	const std::lock_guard hold{children_};
	const pid_t ended = ::waitpid(-1, &status, WNOHANG);
	reaped_ = reaped_ || ended == child_;
	return ended;
}

void signals::watch()
{
	pollfd which[]{{arrived_, POLLIN, 0}, {stop_, POLLIN, 0}};
	steady_clock::time_point until;
	for (;;) {
		const bool asked = leave_;
		if (::poll(which, std::size(which), asked ? left_ms(until) : -1) < 0)
			continue; // EINTR
		if (which[1].revents)
			return;
		if (asked && steady_clock::now() >= until) {
			on_give_up_(asked_by_);
			end_by(asked_by_);
		}
		signalfd_siginfo what;
		while (::read(arrived_, &what, sizeof what) == sizeof what)
			take(what);
		if (leave_ && !asked)
			until = steady_clock::now() + patience;
	}
}

void signals::take(const signalfd_siginfo &what)
{
	const auto number = static_cast<int>(what.ssi_signo);
	const std::lock_guard hold{children_};
	if (over_)
		return;
	if (!has_ended()) {
		if (!of_terminal(what))
			::kill(child_, number);
	} else if (asks_to_end(number) && !leave_) {
		asked_by_ = number;
		leave_ = true;
	}
}

bool signals::has_ended() const
{
	siginfo_t is{};
	return reaped_ || (::waitid(P_PID, static_cast<id_t>(child_), &is,
				    WEXITED | WNOHANG | WNOWAIT) == 0 &&
			   is.si_pid == child_);
}

void end_by(int signal)
{
	const rlimit none{0, 0};
	::setrlimit(RLIMIT_CORE, &none); // the program has left its own
	set(signal, SIG_DFL);
	sigset_t only;
	::sigemptyset(&only);
	::sigaddset(&only, signal);
	::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
	::kill(::getpid(), signal);
	::_exit(128 + signal);
}

} // namespace qpattr::tool
