// SPDX-License-Identifier: MIT
#include "lib/attr/text.hpp"

#include <cstdio>
#include <cstring>

namespace qpattr::attr {
namespace {

// A byte that continues a character of several bytes.
bool continues(char c) noexcept
{
	return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// How many bytes the character has that begins with this byte.
std::size_t character_len(char first) noexcept
{
	const auto byte = static_cast<unsigned char>(first);
	if (byte >= 0xf0)
		return 4;
	if (byte >= 0xe0)
		return 3;
	return byte >= 0xc0 ? 2 : 1;
}

} // namespace

text::text(char *buf, std::size_t len) noexcept : buf_{buf}, capacity_{buf ? len : 0}
{
	if (capacity_)
		buf_[0] = '\0';
}

void text::clear() noexcept
{
	size_ = 0;
	truncated_ = false;
	if (capacity_)
		buf_[0] = '\0';
}

text &text::add(const char *piece) noexcept
{
	return piece ? add(piece, std::strlen(piece)) : *this;
}

text &text::add(char c) noexcept
{
	return add(&c, 1);
}

text &text::add(const char *piece, std::size_t len) noexcept
{
	if (truncated_ || !piece || len == 0)
		return *this;
	const std::size_t room = capacity_ ? capacity_ - 1 - size_ : 0;
	const std::size_t taken = len < room ? len : room;
	if (taken)
		std::memcpy(buf_ + size_, piece, taken);
	size_ += taken;
	if (taken < len) {
		truncated_ = true;
		cut_at_character();
	}
	if (capacity_)
		buf_[size_] = '\0';
	return *this;
}

text &text::addf(const char *format, ...) noexcept
{
	if (truncated_)
		return *this;
	const std::size_t room = capacity_ ? capacity_ - size_ : 0; // with the zero
	va_list values;
	va_start(values, format);
	const int wanted = std::vsnprintf(capacity_ ? buf_ + size_ : nullptr, room, format, values);
	va_end(values);
	if (wanted < 0) {
		truncated_ = true; // the conversion failed: nothing was added
	} else if (static_cast<std::size_t>(wanted) < room) {
		size_ += static_cast<std::size_t>(wanted);
	} else if (wanted > 0) {
		truncated_ = true;
		size_ += room ? room - 1 : 0;
		cut_at_character();
	}
	if (capacity_)
		buf_[size_] = '\0';
	return *this;
}

text &text::pad_to(std::size_t column) noexcept
{
	while (size_ < column && !truncated_)
		add(' ');
	return *this;
}

// Takes back the bytes of a last character that is not whole.
void text::cut_at_character() noexcept
{
	std::size_t first = size_;
	while (first > 0 && continues(buf_[first - 1]))
		--first;
	if (first > 0 && first - 1 + character_len(buf_[first - 1]) > size_)
		size_ = first - 1;
}

} // namespace qpattr::attr
