// SPDX-License-Identifier: MIT
// What a trace comes to: by process and connection, what failed, what was overridden,
// what is wrong with the attributes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/attr/lint.hpp"
#include "tools/qpattr/common/connections.hpp"
#include "tools/qpattr/common/terminal.hpp"
#include "tools/qpattr/common/trace_file.hpp"

namespace qpattr::tool {

class trace_summary {
public:
	void take(const record &each);

	[[nodiscard]] std::uint64_t calls() const;
	[[nodiscard]] std::uint64_t failures() const;
	[[nodiscard]] std::size_t processes() const { return processes_.size(); }
	// Records that the processes could not hand over, as far as they tell or the
	// numbers of their calls do.
	[[nodiscard]] std::uint64_t lost() const;

	// "12 calls of 2 processes, 1 failed".
	[[nodiscard]] std::string in_short() const;

	// Several lines.
	[[nodiscard]] std::string table(const terminal &on) const;

private:
	struct process {
		std::string program;
		std::map<std::string, std::uint64_t> asked; // by state
		std::uint64_t calls = 0, failed = 0;
		std::uint64_t last_seq = 0, said_lost = 0;
		std::vector<std::uint64_t> durations_ns;
	};
	struct connection {
		std::uint64_t pid;
		std::string program, way, type;
		std::vector<std::string> states; // "INIT", "RTR EINVAL", as they came
		attr::gathered attributes;
		std::uint32_t qp_type = 0;
		bool rxe = false;
	};
	struct count_of_rule {
		std::uint64_t applied = 0, refused = 0;
	};

	void take_call(const call_record &call);
	void add_processes(const terminal &on, std::string &to) const;
	void add_connections(const terminal &on, std::string &to) const;
	void add_failures(const terminal &on, std::string &to) const;
	void add_overrides(const terminal &on, std::string &to) const;
	void add_findings(const terminal &on, std::string &to) const;

	std::map<std::uint64_t, process> processes_; // by pid; those that called
	connections by_call_;
	std::vector<connection> connections_;
	std::map<std::pair<std::string, std::string>, std::uint64_t> failed_; // state, errno
	std::map<std::pair<unsigned, std::string>, count_of_rule> rules_; // rule, attribute
};

} // namespace qpattr::tool
