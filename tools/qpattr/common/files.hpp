// SPDX-License-Identifier: MIT
// What a command reads whole and what it prints.
#pragma once

#include <string>
#include <string_view>

namespace qpattr::tool {

// A file, or standard input where the path is "-". Throws `failure`, which says "cannot
// read CALLED: ..."; with `missing_status` where there is no such file.
[[nodiscard]] std::string read_whole(const std::string &path, std::string_view called,
				     int missing_status);

// Whether all of it was taken; if not, errno says why. Waits where the descriptor is not to
// be waited for (O_NONBLOCK): programs make it so for all who share it.
[[nodiscard]] bool write_all(int fd, std::string_view text);

// Of an eventfd that a thread watches, for whose end the caller then waits: without it that
// would be without end.
void raise_event(int fd);

// Whether standard output took all of it; if not, errno says why.
[[nodiscard]] bool put_out(std::string_view text);

// The same for a command that ends where it is not so. Throws `failure`.
void print(std::string_view text);

} // namespace qpattr::tool
