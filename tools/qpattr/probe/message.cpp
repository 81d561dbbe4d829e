// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/message.hpp"

#include <algorithm>
#include <cstring>

namespace qpattr::tool::probe {
namespace {

constexpr std::string_view magic = "QPATTR";
constexpr std::uint32_t message_magic = 0x51504150; // QPAP
constexpr std::uint16_t answer_bit = 0x8000;

template <class Number> void put(std::byte *&to, Number value)
{
	for (std::size_t i = sizeof value; i-- > 0;)
		*to++ = static_cast<std::byte>((value >> (8 * i)) & 0xff);
}

template <class Number> Number take(const std::byte *&from)
{
	Number out = 0;
	for (std::size_t i = 0; i < sizeof out; ++i)
		out = static_cast<Number>((out << 8) | std::to_integer<Number>(*from++));
	return out;
}

} // namespace

std::array<std::byte, greeting_bytes> packed(const greeting &what)
{
	std::array<std::byte, greeting_bytes> out{};
	std::byte *to = out.data();
	for (const char c : magic)
		*to++ = static_cast<std::byte>(c);
	put(to, what.version);
	put(to, static_cast<std::uint8_t>(what.kind));
	return out;
}

std::optional<greeting> greeting_in(std::span<const std::byte> data)
{
	if (data.size() < greeting_bytes || std::memcmp(data.data(), magic.data(), magic.size()) != 0)
		return std::nullopt;
	const std::byte *from = data.data() + magic.size();
	greeting out;
	out.version = take<std::uint16_t>(from);
	out.kind = static_cast<greeting_kind>(take<std::uint8_t>(from));
	return out;
}

std::size_t pack(const message &what, std::span<std::byte> out)
{
	std::byte *to = out.data();
	put(to, message_magic);
	put(to, static_cast<std::uint16_t>(static_cast<std::uint16_t>(what.type) |
					   (what.is_answer ? answer_bit : 0)));
	put(to, what.index);
	put(to, what.sequence);
	put(to, what.count);
	put(to, std::uint16_t{0});
	put(to, static_cast<std::uint32_t>(what.piece.size()));
	std::memcpy(to, what.piece.data(), what.piece.size());
	return message_header_bytes + what.piece.size();
}

std::optional<message> message_in(std::span<const std::byte> data)
{
	if (data.size() < message_header_bytes)
		return std::nullopt;
	const std::byte *from = data.data();
	if (take<std::uint32_t>(from) != message_magic)
		return std::nullopt;
	message out;
	const auto type = take<std::uint16_t>(from);
	out.type = static_cast<message_type>(type & ~answer_bit);
	out.is_answer = (type & answer_bit) != 0;
	out.index = take<std::uint16_t>(from);
	out.sequence = take<std::uint32_t>(from);
	out.count = take<std::uint16_t>(from);
	take<std::uint16_t>(from);
	const auto len = take<std::uint32_t>(from);
	if (len != data.size() - message_header_bytes || out.count > pieces_max)
		return std::nullopt;
	out.piece = {reinterpret_cast<const char *>(from), len};
	switch (out.type) {
	case message_type::exchange:
	case message_type::ping:
	case message_type::bye:
		return out;
	}
	return std::nullopt;
}

pieces::pieces(std::string text, std::size_t piece_bytes)
	: text_{std::move(text)}, piece_bytes_{piece_bytes}
{
}

std::uint16_t pieces::count() const
{
	return static_cast<std::uint16_t>((text_.size() + piece_bytes_ - 1) / piece_bytes_);
}

std::string_view pieces::operator[](std::size_t index) const
{
	const std::size_t begin = std::min(index * piece_bytes_, text_.size());
	return std::string_view{text_}.substr(begin, piece_bytes_);
}

void gathered_text::take(const message &from)
{
	if (count_ == 0) {
		count_ = from.count;
		all_.resize(count_);
	}
	// One that has lost its place, or changed its mind, is not believed.
	if (from.count != count_ || from.index >= count_ || all_[from.index])
		return;
	all_[from.index] = std::string{from.piece};
	++have_;
}

std::string gathered_text::text() const
{
	std::string out;
	for (const auto &each : all_)
		out += each.value_or("");
	return out;
}

} // namespace qpattr::tool::probe
