// SPDX-License-Identifier: MIT
// What the library has to tell a person: nothing, unless QPATTR_DEBUG asks.
#pragma once

namespace qpattr {

// Whether QPATTR_DEBUG is set to something other than "" and "0" (never in a
// set-user-id program). Looks into the environment: not for a hot path.
[[nodiscard]] bool debug_asked() noexcept;

// One line "qpattr: ..." on standard error where debug_asked(). One write(2):
// lines of threads do not mix, and the program's stdio is not touched. errno is
// left as it was.
[[gnu::format(printf, 1, 2)]] void say(const char *format, ...) noexcept;

} // namespace qpattr
