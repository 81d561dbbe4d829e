// SPDX-License-Identifier: MIT
// A program that is started, heard, and ended if it does not end by itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace conformance {

struct child_end {
	int status = 0;	  // of exit(), or 128 + the signal
	bool timed_out = false;
	std::string said; // on the standard error
};

// `on_line` gets each whole line of the standard output, as it comes. Throws
// std::system_error if the program cannot be started.
[[nodiscard]] child_end run_child(const std::vector<std::string> &command,
				  const std::vector<std::string> &environment, int seconds,
				  const std::function<void(const std::string &)> &on_line);

} // namespace conformance
