// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/signals.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace qpattr::tool {
namespace {

using std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds{2};
constexpr std::array handed_on{SIGINT,	SIGQUIT, SIGTERM, SIGHUP,
			       SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

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
	for (const int each : handed_on)
		if (!ignored(each))
			::sigaddset(&out, each);
	return out;
}

// The terminal sends to all of its foreground, hence to the program too.
bool of_terminal(const signalfd_siginfo &what)
{
	return what.ssi_code == SI_KERNEL;
}

int left_ms(steady_clock::time_point until)
{
	using std::chrono::milliseconds;
	const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
	return static_cast<int>(std::max(left, milliseconds{0}).count());
}

} // namespace

signals::signals()
{
	const sigset_t watched = set_of_handed_on();
	arrived_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	stop_ = ::eventfd(0, EFD_CLOEXEC);
	sigset_t blocked = watched;
	::sigaddset(&blocked, SIGCHLD);
	::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
	// Where children are ignored, the kernel keeps no status for who asks.
	struct sigaction usual{};
	usual.sa_handler = SIG_DFL;
	::sigaction(SIGCHLD, &usual, &child_before_);
}

signals::~signals()
{
	if (thread_.joinable()) {
		const std::uint64_t one = 1;
		[[maybe_unused]] const auto told = ::write(stop_, &one, sizeof one);
		thread_.join();
		// All was said: what has come since has nothing left to end.
		signalfd_siginfo late;
		while (::read(arrived_, &late, sizeof late) == sizeof late)
			;
	}
	::close(arrived_);
	::close(stop_);
	restore();
}

void signals::restore() const
{
	::sigaction(SIGCHLD, &child_before_, nullptr);
	::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void signals::hand_to(pid_t child, std::function<void(int)> on_give_up)
{
	child_ = child;
	on_give_up_ = std::move(on_give_up);
	thread_ = std::thread{[this] { watch(); }};
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
		if (asked && steady_clock::now() >= until)
			give_up();
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
	if (!has_ended()) {
		if (!of_terminal(what))
			::kill(child_, number);
	} else if (number != SIGWINCH && !leave_) {
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

void signals::give_up()
{
	on_give_up_(asked_by_);
	::signal(asked_by_, SIG_DFL);
	sigset_t only;
	::sigemptyset(&only);
	::sigaddset(&only, asked_by_);
	::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
	::kill(::getpid(), asked_by_);
}

} // namespace qpattr::tool
