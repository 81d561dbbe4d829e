// SPDX-License-Identifier: MIT
// One end of a connection: the calls of a trace about it put together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/attr/lint.hpp"
#include "tools/qpattr/common/trace_file.hpp"

namespace qpattr::tool {

struct connection_end {
	std::size_t number = 0; // from 1, in the trace
	std::string program;
	std::uint64_t pid = 0;
	std::string id;
	std::string port_space, qp_type;
	std::optional<std::string> device, src, dst;
	std::optional<std::uint64_t> port, qp_num;
	std::uint64_t time_ns = 0; // of its first call

	attr::gathered got; // of all calls that succeeded, the later ones count
	std::vector<const call_record *> calls;

	// Which side called rdma_connect; not known where the trace does not tell.
	enum class side : std::uint8_t { unknown, active, passive } who = side::unknown;

	[[nodiscard]] bool has(const char *attribute) const;
	[[nodiscard]] std::uint32_t number_of(const char *attribute) const; // 0 without it
	[[nodiscard]] bool datagram() const { return qp_type == "UD"; }
};

// They point into the trace.
[[nodiscard]] std::vector<connection_end> ends_of(const trace &from);

// "rping 186, active side".
[[nodiscard]] std::string name_of(const connection_end &end);

// "10.77.0.1:34864 -> 10.77.0.1:7174", "RC QP 17 on rxe0 port 1".
[[nodiscard]] std::string addresses_of(const connection_end &end);
[[nodiscard]] std::string qp_of(const connection_end &end);

// What the trace tells beside the attributes.
[[nodiscard]] attr::surroundings surroundings_of(const connection_end &end);

// "10.77.0.1" of "10.77.0.1:7174", "fd77::1" of "[fd77::1]:7174"; the port behind.
[[nodiscard]] std::string host_of(const std::string &address);
[[nodiscard]] std::string port_of(const std::string &address);

} // namespace qpattr::tool
