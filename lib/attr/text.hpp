// SPDX-License-Identifier: MIT
// Text in a buffer of fixed size: what names, units and attributes are written
// into. Nothing is allocated, nothing can overflow, and there is always a
// terminated string to read, so that it serves inside a host process and in a
// signal handler alike.
#pragma once

#include <cstdarg>
#include <cstddef>

namespace qpattr::attr {

// Writes into somebody's buffer. Text that does not fit is cut at a character
// (UTF-8) and everything after it is dropped, so that what is there is always a
// beginning of the whole, never a whole with a hole.
class text {
public:
	// `len` counts the terminating zero. A buffer of length 0, or none at all,
	// takes nothing and reads as an empty string.
	text(char *buf, std::size_t len) noexcept;
	text(const text &) = delete;
	text &operator=(const text &) = delete;

	// nullptr adds nothing.
	text &add(const char *piece) noexcept;
	text &add(const char *piece, std::size_t len) noexcept;
	text &add(char c) noexcept;

	// As printf. For the conversions %d %u %x %s %c and their lengths only: %f
	// writes the host program's decimal point, which may be a comma.
	[[gnu::format(printf, 2, 3)]] text &addf(const char *format, ...) noexcept;

	// Spaces up to this length of the text; none if it is already longer.
	text &pad_to(std::size_t column) noexcept;

	void clear() noexcept;

	[[nodiscard]] const char *c_str() const noexcept { return capacity_ ? buf_ : ""; }
	[[nodiscard]] std::size_t size() const noexcept { return size_; }
	[[nodiscard]] bool empty() const noexcept { return size_ == 0; }

	// Something did not fit since the beginning or the last clear().
	[[nodiscard]] bool truncated() const noexcept { return truncated_; }

private:
	void cut_at_character() noexcept;

	char *buf_;
	std::size_t capacity_; // with the terminating zero
	std::size_t size_ = 0;
	bool truncated_ = false;
};

// A text that brings its own buffer.
template <std::size_t Capacity> class text_of : public text {
	static_assert(Capacity > 0);

public:
	text_of() noexcept : text{storage_, Capacity} {}

private:
	char storage_[Capacity];
};

} // namespace qpattr::attr
