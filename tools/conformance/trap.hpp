// SPDX-License-Identifier: MIT
// A descriptor on which write() is answered by this process and not by the kernel,
// however the call is made: what no device here can give.
#pragma once

#include <span>

namespace conformance {

class trap {
public:
	// Holds for the process from here on, so there is one at most. Throws
	// `unavailable` where the kernel or the processor has not got it.
	trap();
	trap(const trap &) = delete;
	trap &operator=(const trap &) = delete;
	[[nodiscard]] int fd() const noexcept { return fd_; }

	// What the next writes get: these bytes where the command wants its response,
	// and the result; all that was written, unless another is given: a shorter
	// length or an errno, negated.
	static constexpr long whole = -1'000'000;
	void answer(std::span<const unsigned char> reply, long result = whole) noexcept;

private:
	int fd_;
};

} // namespace conformance
