// SPDX-License-Identifier: MIT
// What came of one connection of a probe, and how a person reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/qpattr/common/terminal.hpp"

namespace qpattr::tool::probe {

struct report {
	bool udp = false;
	std::string from, to; // addresses of client and server, "10.77.0.1:34864"
	std::string client, server; // records of both ends, JSON Lines
	std::uint64_t address_ns = 0, route_ns = 0, connect_ns = 0; // client only
	std::vector<std::uint64_t> round_trips_ns;
	std::size_t client_bytes = 0, server_bytes = 0; // that each end sent
};

// Tables of all transitions with both ends side by side, what does not fit, lints, times.
[[nodiscard]] std::string whole_text(const report &of, const terminal &on);

// One line, for the connections after the first.
[[nodiscard]] std::string short_text(const report &of);

// The records of both ends, and a notice with the times.
[[nodiscard]] std::string as_json_lines(const report &of);

} // namespace qpattr::tool::probe
