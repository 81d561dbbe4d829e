// SPDX-License-Identifier: MIT
// The file that records are appended to. It must never make the program wait, fail or
// end: what cannot be written at once is lost.
#pragma once

#include <cstddef>

#include "lib/attr/text.hpp"

namespace qpattr::preload {

// Opens QPATTR_TRACE when the object is loaded: before the program changes its root
// or its user. `limit` is QPATTR_TRACE_LIMIT or null. A FIFO without a reader is
// opened when it has one. On failure `why` has a line without an end.
[[nodiscard]] bool open_trace(const char *path, const char *limit, attr::text &why) noexcept;

[[nodiscard]] bool tracing() noexcept;
[[nodiscard]] const char *trace_path() noexcept;

// A limit as a number of bytes; false if it is none.
[[nodiscard]] bool parse_limit(const char *text, unsigned long long &bytes) noexcept;

// The file holds as many bytes as the limit allows.
inline constexpr int at_limit = -1;

// Writes whole records or nothing. 0, an errno, or at_limit. After a partial one
// `torn` is true, and `line` must have a line end in front when next it is false.
// Signals and cancellation must be held off.
[[nodiscard]] int write_trace(const char *line, std::size_t len, bool &torn) noexcept;

} // namespace qpattr::preload
