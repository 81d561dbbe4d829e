// SPDX-License-Identifier: MIT
// The program that trace and run start: with what it is to be preloaded with, its
// signals, and its end. What it leaves running is waited for too, as strace -f does.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "tools/qpattr/trace/signals.hpp"

namespace qpattr::tool {

struct start_plan {
	std::string path;		    // of the program's file
	std::vector<std::string> arguments; // with its name first
	std::string preload;		    // object that comes first of LD_PRELOAD
	std::vector<std::pair<std::string, std::string>> environment;
};

struct child_watch {
	std::function<void()> on_tick; // some twenty times a second
	// Once: it has ended with this status, and other processes that it started are
	// still there.
	std::function<void(int status)> on_left_behind;
	// As of signals::hold.
	std::function<void(int signal)> on_give_up;
};

struct run_status {
	int code = 0;	// the program's own; 128+N where signal N ended it
	int signal = 0; // N, or 0
};

// Starts it and waits until it and all that it started have ended. SIGINT and SIGQUIT of the terminal
// are the program's, which got them too; every other signal that ends a program is
// handed on to it. When it has ended and others have not, such a signal ends the wait;
// `arriving` holds them off for as long as it lives.
// Throws `failure` where it could not be started.
[[nodiscard]] run_status run_program(const start_plan &plan, signals &arriving,
				     const child_watch &watch);

} // namespace qpattr::tool
