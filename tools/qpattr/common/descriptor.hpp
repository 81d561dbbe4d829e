// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>
#include <utility>

namespace qpattr::tool {

// Closes a file descriptor at its end, unless it is kept; below 0 there is none.
class descriptor {
public:
	explicit descriptor(int fd) : fd_{fd} {}
	~descriptor()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	descriptor(const descriptor &) = delete;
	descriptor &operator=(const descriptor &) = delete;

	[[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
	[[nodiscard]] int fd() const { return fd_; }
	[[nodiscard]] int keep() { return std::exchange(fd_, -1); }

private:
	int fd_;
};

} // namespace qpattr::tool
