// SPDX-License-Identifier: MIT
#include "tools/qpattr/explain/reply_dump.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"

namespace qpattr::tool {
namespace {

using bytes = std::vector<unsigned char>;

bool is_hex(std::string_view text)
{
	return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
		return std::isxdigit(static_cast<unsigned char>(c));
	});
}

unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return static_cast<unsigned>(c - '0');
	return static_cast<unsigned>(std::tolower(static_cast<unsigned char>(c)) - 'a') + 10;
}

void add_pairs(bytes &to, std::string_view digits)
{
	for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
		to.push_back(
			static_cast<unsigned char>(digit(digits[i]) * 16 + digit(digits[i + 1])));
}

// A string as C and strace write it, without its quotes.
std::optional<bytes> of_escapes(std::string_view text)
{
	bytes out;
	for (std::size_t i = 0; i < text.size(); ++i) {
		if (text[i] != '\\') {
			out.push_back(static_cast<unsigned char>(text[i]));
			continue;
		}
		if (++i == text.size())
			return std::nullopt;
		static constexpr std::string_view letters = "abtnvfr";
		if (text[i] == 'x') {
			unsigned value = 0, count = 0;
			while (count < 2 && i + 1 < text.size() && is_hex(text.substr(i + 1, 1))) {
				value = value * 16 + digit(text[++i]);
				++count;
			}
			if (!count)
				return std::nullopt;
			out.push_back(static_cast<unsigned char>(value));
		} else if (text[i] >= '0' && text[i] <= '7') {
			unsigned value = digit(text[i]);
			for (int more = 0; more < 2 && i + 1 < text.size() && text[i + 1] >= '0' &&
					   text[i + 1] <= '7';
			     ++more)
				value = value * 8 + digit(text[++i]);
			out.push_back(static_cast<unsigned char>(value));
		} else if (const std::size_t at = letters.find(text[i]); at != letters.npos) {
			out.push_back(static_cast<unsigned char>('\a' + at));
		} else {
			out.push_back(static_cast<unsigned char>(text[i]));
		}
	}
	return out;
}

// The next quotation mark that is not escaped.
std::size_t quote(std::string_view text, std::size_t from)
{
	for (std::size_t i = from; i < text.size(); ++i) {
		if (text[i] == '"')
			return i;
		if (text[i] == '\\')
			++i;
	}
	return text.npos;
}

struct word {
	std::string_view text;
	std::size_t gap; // spaces before it
};

std::vector<word> words_of(std::string_view line)
{
	std::vector<word> out;
	std::size_t at = 0;
	while (at < line.size()) {
		std::size_t begin = at;
		while (begin < line.size() && (line[begin] == ' ' || line[begin] == '\t' ||
					       line[begin] == ',' || line[begin] == '\r'))
			++begin;
		std::size_t end = begin;
		while (end < line.size() && line[end] != ' ' && line[end] != '\t' &&
		       line[end] != ',' && line[end] != '\r')
			++end;
		if (end > begin)
			out.push_back({line.substr(begin, end - begin), begin - at});
		at = end;
	}
	return out;
}

// An offset that is right: hexadecimal, or octal as od has it. Where bytes stand for as
// many that are the same ("*") it is the one that counts.
std::optional<std::size_t> offset_of(std::string_view text, std::size_t so_far, bool repeated)
{
	if (text.size() < 6 || text.size() > 16 || !is_hex(text))
		return std::nullopt;
	for (const unsigned base : {16U, 8U}) {
		std::size_t value = 0;
		bool fits = true;
		for (const char c : text) {
			fits = fits && digit(c) < base;
			value = value * base + digit(c);
		}
		if (fits && (value == so_far || (repeated && value > so_far && value <= 4096)))
			return value;
	}
	return std::nullopt;
}

// One row. `repeat`: a line "*" came before it.
bool add_row(bytes &to, std::string_view line, bytes &last, bool &repeat)
{
	if (const std::size_t bar = line.find('|'); bar != line.npos)
		line = line.substr(0, bar);
	const bool labelled = line.find(':') != line.npos;
	if (labelled) {
		// "00000000: 3900", or gdb's "0x7ffe <reply>:  0x39"; what is before it is no byte,
		// and two spaces begin xxd's column of letters.
		line = line.substr(line.find(':') + 1);
		const std::size_t begin = line.find_first_not_of(" \t");
		if (begin == line.npos)
			return true;
		const std::size_t end = line.find("  ", begin);
		if (line.substr(begin, 2) != "0x")
			line = line.substr(begin, end == line.npos ? end : end - begin);
	}
	std::vector<word> words = words_of(line);
	if (words.empty())
		return true;
	bytes row;
	if (!labelled) {
		const bool alone = words.size() == 1;
		const auto offset = offset_of(words.front().text, to.size(), repeat);
		if (offset && (!alone || *offset > 0)) {
			// The bytes that "*" left out.
			while (repeat && to.size() < *offset && !last.empty())
				to.insert(to.end(), last.begin(), last.end());
			words.erase(words.begin());
		}
	}
	repeat = false;
	for (const word &each : words) {
		std::string_view digits = each.text;
		if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
			digits.remove_prefix(2);
		if (!is_hex(digits) || digits.size() % 2)
			return false;
		add_pairs(row, digits);
	}
	to.insert(to.end(), row.begin(), row.end());
	if (!row.empty())
		last = row;
	return true;
}

std::string_view trimmed(std::string_view text)
{
	while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
		text.remove_prefix(1);
	while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
		text.remove_suffix(1);
	return text;
}

bool is_binary(std::string_view text)
{
	return std::any_of(text.begin(), text.end(), [](char c) {
		return static_cast<unsigned char>(c) < 0x20 &&
		       !std::isspace(static_cast<unsigned char>(c));
	});
}

// What went wrong in which line, from 1; 0: nothing.
std::size_t read_rows(std::string_view text, bytes &out)
{
	bytes last;
	bool repeat = false;
	std::size_t number = 0;
	while (!text.empty()) {
		const std::size_t end = std::min(text.find('\n'), text.size());
		const std::string_view line = trimmed(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
		++number;
		if (line == "*")
			repeat = true;
		else if (!add_row(out, line, last, repeat))
			return number;
	}
	return 0;
}

std::size_t read_dump(std::string_view text, bytes &out)
{
	if (is_binary(text)) {
		out.assign(text.begin(), text.end());
		return 0;
	}
	const std::size_t wrong = read_rows(text, out);
	std::string_view whole = trimmed(text);
	// A backslash may also be a byte in the column of letters.
	if (wrong != 0 && whole.find('\\') != whole.npos) {
		// Of a line of strace the string in it is meant.
		if (const std::size_t open = quote(whole, 0); open != whole.npos)
			whole = whole.substr(open + 1, quote(whole, open + 1) - open - 1);
		const auto found = of_escapes(whole);
		if (found)
			out = *found;
		return found ? 0 : 1;
	}
	return wrong;
}

} // namespace

bool looks_like_dump(std::string_view text)
{
	bytes out;
	return read_dump(text, out) == 0 && out.size() >= 16;
}

bytes bytes_of_dump(std::string_view text)
{
	bytes out;
	if (const std::size_t line = read_dump(text, out))
		throw failure{fmt::format("line {} is neither a record of a trace nor bytes in "
					  "hexadecimal",
					  line),
			      usage_status};
	return out;
}

} // namespace qpattr::tool
