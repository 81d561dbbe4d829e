// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/layout.hpp"

#include <algorithm>
#include <cstdlib>

namespace qpattr::tool {
namespace {

bool continues(char c)
{
	return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

unsigned char byte_at(std::string_view text, std::size_t at)
{
	return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// How long the character is that begins there; 0 where none does.
std::size_t sequence_at(std::string_view text, std::size_t at)
{
	const unsigned char first = byte_at(text, at);
	if (first < 0x80)
		return 1;
	const std::size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	for (std::size_t i = 1; i < len; ++i)
		if ((byte_at(text, at + i) & 0xc0) != 0x80)
			return 0;
	// Too long a form, half of a pair, above U+10FFFF.
	const unsigned char second = byte_at(text, at + 1);
	const bool none = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
			  (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
	return none ? 0 : len;
}

// Whether a terminal would do something at it, or show what follows in another order.
bool commands(std::string_view text, std::size_t at, std::size_t len)
{
	const unsigned char first = byte_at(text, at), second = byte_at(text, at + 1),
			    third = byte_at(text, at + 2);
	if (len == 1)
		return first < 0x20 || first == 0x7f;
	// Of Latin 1, in UTF-8; and where the terminal may not know UTF-8, in any character.
	if (first == 0xc2 && second < 0xa0)
		return true;
	for (std::size_t i = 1; !utf8() && i < len; ++i)
		if (byte_at(text, at + i) < 0xa0)
			return true;
	// U+061C, U+200E and F, U+2028 to E, U+2066 to 9.
	return (first == 0xd8 && second == 0x9c) ||
	       (first == 0xe2 && second == 0x80 &&
		(third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae))) ||
	       (first == 0xe2 && second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

} // namespace

std::size_t columns(std::string_view text)
{
	return static_cast<std::size_t>(
		std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string padded(std::string_view text, std::size_t to)
{
	const std::size_t has = columns(text);
	return std::string{text} + std::string(has < to ? to - has : 0, ' ');
}

std::string padded_left(std::string_view text, std::size_t to)
{
	const std::size_t has = columns(text);
	return std::string(has < to ? to - has : 0, ' ') + std::string{text};
}

std::string cut(std::string_view text, std::size_t to)
{
	if (columns(text) <= to)
		return std::string{text};
	if (to == 0)
		return "";
	std::size_t end = 0;
	for (std::size_t taken = 0; end < text.size(); ++end)
		if (!continues(text[end]) && ++taken == to)
			break;
	return std::string{text.substr(0, end)} + (utf8() ? "\u2026" : "~");
}

bool utf8()
{
	static const bool is = [] {
		for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
			const char *const value = std::getenv(name);
			if (!value || !*value)
				continue;
			const std::string_view locale{value};
			for (const char *charset : {"UTF-8", "utf8", "UTF8", "utf-8"})
				if (locale.find(charset) != std::string_view::npos)
					return true;
			return false;
		}
		return false;
	}();
	return is;
}

const char *arrow()
{
	return utf8() ? "\u2192" : "->";
}

std::string harmless(std::string_view text)
{
	std::string out{text};
	for (std::size_t i = 0; i < out.size();) {
		const std::size_t len = sequence_at(out, i);
		if (len == 0 || commands(out, i, len)) {
			const std::size_t all = len ? len : 1;
			out.replace(i, all, all, '?');
			i += all;
		} else {
			i += len;
		}
	}
	return out;
}

std::string flow(const terminal &on, std::string_view lead, const std::vector<part> &parts,
		 std::size_t indent, std::string_view between)
{
	std::string out{lead};
	std::size_t column = columns(lead);
	bool first = true;
	for (const part &each : parts) {
		const std::size_t wide = columns(each.text);
		if (!first && on.width() && column + between.size() + wide > on.width()) {
			out += '\n' + std::string(indent, ' ');
			column = indent;
		} else if (!first) {
			out += between;
			column += between.size();
		}
		out += on.paint(each.how, each.text);
		column += wide;
		first = false;
	}
	return out + '\n';
}

std::string flow_words(const terminal &on, std::string_view lead, std::string_view text, colour how,
		       std::size_t indent)
{
	std::string out{lead};
	std::size_t column = columns(lead);
	std::string piece; // of one line: it is painted as a whole
	const auto put = [&] {
		out += on.paint(how, piece);
		piece.clear();
	};
	while (!text.empty()) {
		const std::size_t end = std::min(text.find(' '), text.size());
		const std::string_view word = text.substr(0, end);
		text.remove_prefix(std::min(end + 1, text.size()));
		const std::size_t wide = columns(word);
		if (on.width() && !piece.empty() && column + 1 + wide > on.width()) {
			put();
			out += '\n' + std::string(indent, ' ');
			column = indent;
		} else if (!piece.empty()) {
			piece += ' ';
			++column;
		}
		piece += word;
		column += wide;
	}
	put();
	return out + '\n';
}

} // namespace qpattr::tool
