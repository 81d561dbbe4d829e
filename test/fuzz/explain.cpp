// SPDX-License-Identifier: MIT
// What a person gives to `qpattr explain`: words, or bytes as some program prints them.
#include <algorithm>

#include "test/fuzz/shown.hpp"
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

template <class Explain> void shown(Explain explain)
{
	try {
		fuzz::must_be_shown(explain());
	} catch (const tool::failure &why) {
		fuzz::must_be_a_line(why);
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
