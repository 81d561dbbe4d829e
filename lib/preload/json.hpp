// SPDX-License-Identifier: MIT
// Strings of a JSON text. Program names and paths may have any bytes.
#pragma once

#include <cstddef>

#include "lib/attr/text.hpp"

namespace qpattr::preload {

// With quotes around. What is not UTF-8 becomes U+FFFD, so that the text is. A byte
// takes six at most.
void add_json(attr::text &to, const char *bytes, std::size_t len) noexcept;
void add_json(attr::text &to, const char *string) noexcept;

} // namespace qpattr::preload
