// SPDX-License-Identifier: MIT
// The signals of trace and run: handed on to the program while it runs, and held off
// from then on, so that what there is to say at the end is said.
#pragma once

#include <atomic>
#include <csignal>
#include <ctime>
#include <functional>
#include <mutex>
#include <optional>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <thread>

namespace qpattr::tool {

// From construction to destruction no signal that can be held off ends this process,
// but for `give_up` below. A thread takes them: the one that writes records may be held
// up by their reader.
class signals {
public:
	signals();
	~signals();
	signals(const signals &) = delete;
	signals &operator=(const signals &) = delete;

	// As it was before, for the program: what is ignored, too. Safe after fork.
	void restore() const;

	// From now on to this child. Those that came before are handed on too.
	// on_give_up: a signal came when the program had ended, and after two seconds this
	// object is still there; called in another thread, right before the signal's
	// default action, the end of the process. Throws std::system_error.
	void hand_to(pid_t child, std::function<void(int signal)> on_give_up);

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
	void give_up();

	sigset_t before_;
	struct sigaction child_before_;
	int arrived_ = -1, stop_ = -1;
	std::mutex children_; // no child is taken away between a look at it and a kill
	pid_t child_ = 0;
	bool reaped_ = false;
	std::atomic<bool> leave_ = false;
	int asked_by_ = 0; // the thread's: the signal that first asked to come to an end
	std::function<void(int)> on_give_up_;
	std::thread thread_;
};

} // namespace qpattr::tool
