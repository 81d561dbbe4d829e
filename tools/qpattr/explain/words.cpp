// SPDX-License-Identifier: MIT
// Which kind of thing the words are.
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "lib/attr/names.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/nearest.hpp"
#include "tools/qpattr/explain/explain.hpp"

namespace qpattr::tool {
namespace {

// "timeout=14", "timeout: 14," as they are copied from somewhere.
words separated(const words &said)
{
	words out;
	for (const std::string &word : said) {
		std::string piece;
		const auto end = [&] {
			if (!piece.empty())
				out.push_back(piece);
			piece.clear();
		};
		for (const char c : word)
			if (c == '=' || c == ',' || c == ' ' || c == '\t' || c == '\n')
				end();
			else
				piece += c;
		end();
		// A colon at the end of a name; within a value it is the value's.
		if (!out.empty() && out.back().size() > 1 && out.back().back() == ':' &&
		    out.back().find("::") == std::string::npos)
			out.back().pop_back();
	}
	return out;
}

std::vector<std::string> all_names()
{
	std::vector<std::string> out;
	add_attribute_names(out);
	add_errno_names(out);
	add_event_names(out);
	add_completion_names(out);
	for (std::uint32_t state = 0; const char *name = attr::qp_state_name(state); ++state)
		out.emplace_back(name);
	for (unsigned bit = 0; bit < 32; ++bit)
		if (const char *name = attr::mask_bit_name(1U << bit))
			out.emplace_back(name);
	return out;
}

} // namespace

std::string upper(std::string_view text)
{
	std::string out{text};
	for (char &c : out)
		c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
	return out;
}

std::string lower(std::string_view text)
{
	std::string out{text};
	for (char &c : out)
		c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
	return out;
}

std::optional<std::uint64_t> number_of(std::string_view text)
{
	const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	if (hex)
		text.remove_prefix(2);
	std::uint64_t out = 0;
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), out, hex ? 16 : 10);
	if (error != std::errc{} || end != text.data() + text.size())
		return std::nullopt;
	return out;
}

std::optional<std::uint32_t> state_named(std::string_view name)
{
	std::string wanted = upper(name);
	if (wanted.rfind("IBV_QPS_", 0) == 0)
		wanted.erase(0, 8);
	for (std::uint32_t state = 0; const char *known = attr::qp_state_name(state); ++state)
		if (wanted == known)
			return state;
	return std::nullopt;
}

page explain_words(const words &said)
{
	const words parts = separated(said);
	if (parts.empty())
		throw failure{"nothing to explain: give an attribute, a mask, an errno, a trace or "
			      "a reply",
			      usage_status};
	// A name of more than one kind is an attribute's first: qp_state, timeout.
	for (const auto explain : {explain_attribute, explain_state, explain_event,
				   explain_completion, explain_errno, explain_mask})
		if (std::optional<page> out = explain(parts))
			return *out;
	std::string shown;
	for (const std::string &each : parts)
		shown += (shown.empty() ? "" : " ") + each;
	shown = cut(harmless(shown), 60);
	const std::string like = nearest(parts.front(), all_names());
	if (!like.empty() && lower(like) != lower(parts.front()))
		throw failure{fmt::format("'{}' is nothing that qpattr knows: did you mean {}?",
					  shown, like),
			      usage_status};
	throw failure{
		fmt::format("'{}' is nothing that qpattr knows, and no file: give an attribute "
			    "(timeout 14), a mask (0x129181), an errno and a state (EINVAL RTR), "
			    "a trace or a reply",
			    shown),
		usage_status};
}

} // namespace qpattr::tool
