// SPDX-License-Identifier: MIT
// The records of a trace as lines of JSON; docs/trace.md and docs/trace-schema.json
// describe them. What does not fit into the text is truncated and must not be written.
#pragma once

#include <cstdint>
#include <sys/types.h>

#include "lib/attr/text.hpp"
#include "lib/preload/connection.hpp"
#include "lib/preload/overrides.hpp"

namespace qpattr::preload {

// Names beyond are cut, so that every record fits into a buffer.
inline constexpr std::size_t program_max = 64;
inline constexpr std::size_t exe_max = 1000;

struct call {
	std::uint64_t seq, time_ns, duration_ns;
	pid_t pid, tid;
	const void *id;
	bool has_handle, by_stock;
	std::uint32_t handle;
	std::uint32_t asked; // the state
	int result, code;    // errno
	std::uint32_t mask;
	const ibv_qp_attr *attr; // null if it failed
	std::uint64_t lost;
};

struct origin_process {
	std::uint64_t time_ns;
	pid_t pid, ppid;
	const char *exe;       // null: unknown
	const char *overrides; // null: none
};

void add_call(attr::text &to, const char *program, const call &what, const connection &where,
	      const changes &made) noexcept;
void add_process(attr::text &to, const char *program, const origin_process &what) noexcept;
void add_notice(attr::text &to, const char *program, std::uint64_t time_ns, pid_t pid,
		const char *notice) noexcept;
void add_end(attr::text &to, const char *program, std::uint64_t time_ns, pid_t pid,
	     std::uint64_t calls, std::uint64_t lost) noexcept;

} // namespace qpattr::preload
