// SPDX-License-Identifier: MIT
// What two probes say to each other: a greeting in the private data of the connection,
// by which each knows that the other is one and of which version; then messages, a
// question of the client's and an answer of the server's at a time. All in network byte
// order. What comes from the network is checked here, once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qpattr::tool::probe {

inline constexpr std::uint16_t protocol_version = 1;

enum class greeting_kind : std::uint8_t {
	hello = 1,
	busy = 2, // of a server that has its hands full
	other_version = 3,
};

struct greeting {
	greeting_kind kind = greeting_kind::hello;
	std::uint16_t version = protocol_version;
};

inline constexpr std::size_t greeting_bytes = 10;
[[nodiscard]] std::array<std::byte, greeting_bytes> packed(const greeting &what);
// Nothing where it is no greeting of a probe. What follows it is not looked at.
[[nodiscard]] std::optional<greeting> greeting_in(std::span<const std::byte> data);

enum class message_type : std::uint16_t {
	exchange = 1, // a piece of my report; the answer has one of yours
	ping = 2,
	bye = 3,
};

struct message {
	message_type type = message_type::ping;
	bool is_answer = false;
	std::uint32_t sequence = 0; // an answer has its question's
	std::uint16_t index = 0;    // of the piece, in `count`
	std::uint16_t count = 0;
	std::string_view piece;
};

inline constexpr std::size_t message_header_bytes = 20;
inline constexpr std::size_t pieces_max = 64;

// Into `out`, which has room for the header and the piece; what of it is used.
std::size_t pack(const message &what, std::span<std::byte> out);
[[nodiscard]] std::optional<message> message_in(std::span<const std::byte> data);

// A text that goes piece by piece.
class pieces {
public:
	pieces(std::string text, std::size_t piece_bytes);
	[[nodiscard]] std::uint16_t count() const;
	// Empty behind the last.
	[[nodiscard]] std::string_view operator[](std::size_t index) const;

private:
	std::string text_;
	std::size_t piece_bytes_;
};

// A text that comes so. A piece may come twice.
class gathered_text {
public:
	void take(const message &from);
	[[nodiscard]] bool whole() const { return count_ != 0 && have_ == count_; }
	[[nodiscard]] std::uint16_t count() const { return count_; }
	[[nodiscard]] std::string text() const;

private:
	std::vector<std::optional<std::string>> all_;
	std::uint16_t count_ = 0, have_ = 0;
};

} // namespace qpattr::tool::probe
