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
	for (char &c : out)
		if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
			c = '?';
	// The control characters of Latin 1, in UTF-8.
	for (std::size_t i = 0; i + 1 < out.size(); ++i)
		if (out[i] == '\xc2' && static_cast<unsigned char>(out[i + 1]) < 0xa0)
			out[i] = out[i + 1] = '?';
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
