// SPDX-License-Identifier: MIT
// Where traced processes leave their records: a file in memory, which has no name and
// needs no space on a disk, and which they open as /proc/PID/fd/N. They never wait for
// this side; what does not fit is lost and counted by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace qpattr::tool {

class spool {
public:
	spool();
	~spool();
	spool(const spool &) = delete;
	spool &operator=(const spool &) = delete;

	// For QPATTR_TRACE.
	[[nodiscard]] const std::string &path() const { return path_; }

	// Hands out what came since the last time, whole lines without their end, and
	// gives the memory of it back.
	void drain(const std::function<void(std::string_view)> &on_line);

	// Lets nobody write any more: what is left running would fill memory that
	// nobody reads. Hands out what came until then.
	void close(const std::function<void(std::string_view)> &on_line);

	// The beginning of a line whose end never came.
	[[nodiscard]] const std::string &rest() const { return rest_; }

private:
	int fd_ = -1;
	std::string path_;
	std::uint64_t read_ = 0;     // bytes taken so far
	std::uint64_t released_ = 0; // of those, the bytes whose memory was given back
	std::string rest_;
};

} // namespace qpattr::tool
