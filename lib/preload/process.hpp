// SPDX-License-Identifier: MIT
// What belongs to one process and starts anew in a fork child: counters, and the
// buffers in which records are built. The kernel clears it in the child
// (MADV_WIPEONFORK), so that no thread of the parent's, of which the child has none,
// can leave anything taken there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lib/attr/text.hpp"
#include "lib/preload/rules.hpp"

namespace qpattr::preload {

// Whether the process record was written, which comes before all others.
enum announcement : std::uint32_t { unannounced, announcing, announced };

// For what is said at the end, by rule.
struct rule_counts {
	std::atomic<std::uint32_t> matched;
	std::atomic<std::uint32_t> states; // that were asked for, a bit each
};
struct setting_counts {
	std::atomic<std::uint32_t> applied;
	std::atomic<std::uint32_t> refused;
};

struct process {
	std::atomic<std::uint64_t> calls;
	std::atomic<std::uint64_t> lost;
	std::atomic<std::uint32_t> announced;
	std::atomic<std::uint32_t> torn; // the file ends in the middle of a record
	std::atomic<std::uint32_t> is_first; // the object was loaded into it: no fork child
	rule_counts of_rule[rules::rules_max];
	setting_counts of_setting[rules::settings_max];
};

// Null until start_process().
[[gnu::visibility("hidden")]] extern process *own;

// Called once, when the object is loaded. `with_buffers`: for records.
[[nodiscard]] bool start_process(bool with_buffers) noexcept;

// A buffer of this thread's while it lives: a stack of a program's thread may be too
// small for a record. Signals must be held off. There are as many as threads that can
// be in a record at once; a thread that finds none does not wait.
class buffer {
public:
	static constexpr std::size_t len = 16 * 1024;

	buffer() noexcept;
	~buffer();
	buffer(const buffer &) = delete;
	buffer &operator=(const buffer &) = delete;

	[[nodiscard]] explicit operator bool() const noexcept { return taken_ != nullptr; }
	[[nodiscard]] char *bytes() const noexcept { return bytes_; }

private:
	std::atomic<std::uint32_t> *taken_ = nullptr;
	char *bytes_ = nullptr;
};

} // namespace qpattr::preload
