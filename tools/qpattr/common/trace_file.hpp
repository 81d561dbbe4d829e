// SPDX-License-Identifier: MIT
// A trace as the preload object writes it: JSON Lines, a record a line. Version 1 of
// the schema, docs/trace.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <qpattr/qpattr.hpp>

namespace qpattr::tool {

inline constexpr std::uint64_t trace_version = 1;

// An attribute whose bit is in the mask, as the program got it.
struct attribute_value {
	std::string name;
	std::string value;		     // "RTR", "0x4006f6"
	std::optional<std::uint64_t> number; // none of a GID
	std::string meaning;		     // empty where the value says it all
};

struct override_made {
	unsigned rule = 0; // from 1
	std::string attribute;
	std::uint64_t before = 0;
	std::uint64_t after = 0;
};

struct override_refused {
	unsigned rule = 0;
	std::string attribute;
	std::uint64_t wanted = 0;
	std::optional<std::uint64_t> limit;
	std::string why;
};

// What every record has.
struct record_head {
	std::uint64_t time_ns = 0; // CLOCK_REALTIME
	std::uint64_t pid = 0;
	std::string program;
};

struct process_record : record_head {
	std::uint64_t ppid = 0;
	std::string exe;
	std::optional<std::string> overrides; // the rules as they were given
};

struct call_record : record_head {
	std::uint64_t seq = 0; // of the process, from 1; lost ones count
	std::uint64_t duration_ns = 0;
	std::uint64_t tid = 0;
	std::string id; // the address of the program's rdma_cm_id
	std::optional<std::uint64_t> handle;
	std::optional<std::string> device;
	std::optional<std::uint64_t> port;
	std::string port_space;
	std::string qp_type;
	std::optional<std::uint64_t> qp_num;
	std::optional<std::string> src; // of this side
	std::optional<std::string> dst; // of the peer
	std::string asked;		// "RTR"
	std::int64_t result = 0;
	std::string error; // "EINVAL"; empty on success
	std::uint64_t error_number = 0;
	std::string served_by;
	std::uint64_t mask = 0;
	std::vector<std::string> mask_names;
	std::vector<attribute_value> attributes; // in the order of lib/attr
	// Those of them that this qpattr knows, as the program got them, and their bits.
	qpattr::attributes received{};
	std::vector<unsigned> matched;
	std::vector<override_made> overrides;
	std::vector<override_refused> refused;
	std::uint64_t lost = 0; // records of this process so far

	[[nodiscard]] bool failed() const { return result != 0; }
	// nullptr where it is not in the mask.
	[[nodiscard]] const attribute_value *find(std::string_view name) const;
};

struct notice_record : record_head {
	std::string text;
};

struct end_record : record_head {
	std::uint64_t calls = 0;
	std::uint64_t lost = 0;
};

// A type that a later minor change added: to be passed over.
struct other_record : record_head {
	std::string type;
};

using record =
	std::variant<call_record, process_record, notice_record, end_record, other_record>;

// A line that is no record; what() says why, without the place.
struct bad_record : std::runtime_error {
	using runtime_error::runtime_error;
};

// Without the end of the line.
[[nodiscard]] record parse_record(std::string_view line);

struct trace {
	std::vector<record> records;
	// The last line has no end and is no record: a process or a machine ended in
	// the middle of it. `cut_line` is its number.
	bool cut = false;
	std::size_t cut_line = 0;

	[[nodiscard]] std::vector<const call_record *> calls() const;
};

// What it is, where it was written with another --format than json: "a trace for people".
// Else nullptr.
[[nodiscard]] const char *other_format(std::string_view text);

// Of a file, "-" for standard input. Throws `failure` with one line, "FILE:3: ...".
[[nodiscard]] trace read_trace(const std::string &path);
[[nodiscard]] trace parse_trace(std::string_view text, const std::string &path);

// "the trace FILE ends in the middle of line 7: what is before it was read".
[[nodiscard]] std::string cut_notice(const trace &from, const std::string &path);

} // namespace qpattr::tool
