// SPDX-License-Identifier: MIT
// What a person gives to `qpattr explain`: words, or bytes as some program prints them.
#include "test/fuzz/fuzz.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/explain/explain.hpp"
#include "tools/qpattr/explain/reply_dump.hpp"

using namespace qpattr;

namespace {

tool::words words_of(std::string_view text)
{
	tool::words out;
	while (!text.empty()) {
		const std::size_t end = std::min(text.find(' '), text.size());
		if (end > 0)
			out.emplace_back(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return out;
}

void show(const tool::page &said)
{
	const std::string text = tool::text_of(said, tool::terminal{-1});
	fuzz::must(!text.empty(), "there is something to say");
	fuzz::must_be_printable(text);
	(void)tool::json_of(said).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Explain> void shown(Explain explain)
{
	try {
		show(explain());
	} catch (const tool::failure &why) {
		const std::string line = tool::harmless(why.what());
		fuzz::must_be_printable(line);
		fuzz::must(!line.empty() && line.find('\n') == std::string::npos,
			   "a refusal is one line");
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text = fuzz::text_of(data, size);
	if (const tool::words said = words_of(text); !said.empty())
		shown([&] { return tool::explain_words(said); });
	if (tool::looks_like_dump(text))
		shown([&] { return tool::explain_reply(tool::bytes_of_dump(text)); });
	else
		shown([&] { return tool::explain_reply({data, data + size}); });
	return 0;
}
