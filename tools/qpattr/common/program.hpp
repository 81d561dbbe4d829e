// SPDX-License-Identifier: MIT
// The program to start: found as a shell finds it, and judged from its file whether a
// preload object reaches it.
#pragma once

#include <string>

namespace qpattr::tool {

// The path of a program's file, by PATH where the name has no slash. Throws `failure`
// where there is none, or where the kernel or the dynamic linker would not preload
// anything into it: static, of another architecture, set-user-ID. `command`, "trace", is
// for the advice.
[[nodiscard]] std::string find_program(const std::string &name, const char *command);

// The preload object, beside this program as it was built or installed, or as
// QPATTR_PRELOAD_OBJECT says. Throws `unusable`.
[[nodiscard]] std::string find_preload_object();

} // namespace qpattr::tool
