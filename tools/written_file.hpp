// SPDX-License-Identifier: MIT
// A file that a program in tools writes, under a name that a person gave. Where others may
// make files, as in /tmp, what is there already may be their doing, to have it written to:
// then it is refused.
#pragma once

#include <string>
#include <sys/types.h>

namespace qpattr {

// Where the links of a path lead; that of a descriptor without a name, as of a pipe, is kept
// (/dev/stdout). Throws std::runtime_error, which says why, if that is
// nowhere, or if another user may have made the link or what it leads to.
[[nodiscard]] std::string written_path(const std::string &path);

// A descriptor to write to it with; made with this mode if it is not there, else as it is.
// Close-on-exec. No link is followed but those that written_path() keeps. Throws as that.
[[nodiscard]] int open_to_write(const std::string &path, mode_t mode);

// The same to a new file in place of that one, `fd`: who has that open, from before, sees
// nothing of what is written. Throws also if `path` has become another file.
[[nodiscard]] int open_in_place_of(const std::string &path, int fd, mode_t mode);

// Whether that is what `path` names, now.
[[nodiscard]] bool is_still_at(const std::string &path, int fd);

} // namespace qpattr
