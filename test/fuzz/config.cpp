// SPDX-License-Identifier: MIT
// A configuration of `qpattr run`, and what it becomes for the preload object, which must
// take what the command has taken.
#include <memory>

#include "lib/preload/rules.hpp"
#include "test/fuzz/fuzz.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/trace/config.hpp"

using namespace qpattr;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	std::string value;
	try {
		value = tool::override_value(tool::parse_config(fuzz::text_of(data, size), "t"));
	} catch (const tool::failure &why) {
		const std::string line = tool::harmless(why.what());
		fuzz::must_be_printable(line);
		fuzz::must(!line.empty() && line.find('\n') == std::string::npos,
			   "a refusal is one line");
		return 0;
	}
	static preload::rules all;
	attr::text_of<400> why;
	const bool whole = all.parse(value, why);
	if (!whole)
		std::fprintf(stderr, "%s: %s\n", value.c_str(), why.c_str());
	fuzz::must(whole, "what the command takes, the preload object takes");
	return 0;
}
