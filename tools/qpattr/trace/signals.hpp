// SPDX-License-Identifier: MIT
// The signals of trace and run: handed on to the program while it runs, and held off
// from then on, so that what there is to say at the end is said.
#pragma once

#include <atomic>
#include <csignal>
#include <ctime>
#include <functional>
#include <mutex>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <thread>

namespace qpattr::tool {

// From construction a reader that is gone and a file that is as large as it may be end a
// write with an errno, not this process.
class signals {
public:
	signals();
	~signals();
	signals(const signals &) = delete;
	signals &operator=(const signals &) = delete;

	// From now until destruction no signal that can be held off ends this process, but
	// for on_give_up: a signal came when the program had ended, and after two seconds
	// this object is still there. Called in another thread, right before the process
	// ends by that signal. A thread takes the signals, as the one that writes records
	// may be held up by their reader. Throws `failure` where there can be none.
	void hold(std::function<void(int signal)> on_give_up);

	// To this child, also those that came since hold().
	void hand_to(pid_t child);

	// As it was before, for the program: mask, and what is ignored. Safe after fork.
	void restore() const;

	// Until a child ends, for `span` at most.
	static void wait(const timespec &span);

	// waitpid(-1, status, WNOHANG).
	[[nodiscard]] pid_t reap(int &status);

	// A signal came when the program had ended: time to come to an end.
	[[nodiscard]] bool leave() const { return leave_; }

private:
	void watch();
	void take(const signalfd_siginfo &what);
	[[nodiscard]] bool has_ended() const;

	sigset_t before_;
	struct sigaction child_before_, pipe_before_, size_before_;
	int arrived_ = -1, stop_ = -1;
	// Held until there is a child. No child is taken away between a look at it and a
	// kill.
	std::mutex children_;
	std::unique_lock<std::mutex> none_yet_;
	std::atomic<bool> over_ = false;
	pid_t child_ = 0;
	bool reaped_ = false;
	std::atomic<bool> leave_ = false;
	int asked_by_ = 0; // the thread's: the signal that first asked to come to an end
	std::function<void(int)> on_give_up_;
	std::thread thread_;
};

// Ends this process as that signal does, without a core; by the status 128+N where it
// does not, as in the first process of a container.
[[noreturn]] void end_by(int signal);

} // namespace qpattr::tool
