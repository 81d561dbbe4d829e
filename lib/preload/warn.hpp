// SPDX-License-Identifier: MIT
// One line on standard error, whether QPATTR_DEBUG asks for it or not: where a person
// asked for a trace or an override and does not get it.
#pragma once

#include "lib/attr/text.hpp"

namespace qpattr::preload {

// What one line holds.
using warning = attr::text_of<512>;

// Which file standard error is, for warn_at_end().
void know_stderr() noexcept;

// "qpattr: ...", in one write, which does not wait for a reader.
void warn(const attr::text &line) noexcept;

// The same if standard error is still the file that it was: a daemon closes it, and the
// number may be a connection of the program's.
void warn_at_end(const attr::text &line) noexcept;

} // namespace qpattr::preload
