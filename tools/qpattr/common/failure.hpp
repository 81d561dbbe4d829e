// SPDX-License-Identifier: MIT
// What ends a command, and with which status.
#pragma once

#include <stdexcept>
#include <string>

namespace qpattr::tool {

// Statuses of every command. `run` and `trace` end with the program's own.
inline constexpr int failed_status = 1;
inline constexpr int usage_status = 2;

// What ends a command: one line that names the thing and the fix. Printed by main.
struct failure : std::runtime_error {
	explicit failure(const std::string &text, int status_ = failed_status)
		: runtime_error{text}, status{status_}
	{
	}
	int status;
};

} // namespace qpattr::tool
