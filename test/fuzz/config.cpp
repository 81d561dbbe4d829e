// SPDX-License-Identifier: MIT
// A configuration of `qpattr run`, and what it becomes for the preload object, which must
// take what the command has taken.
#include "lib/preload/rules.hpp"
#include "test/fuzz/shown.hpp"
#include "tools/qpattr/trace/config.hpp"

using namespace qpattr;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	std::string value;
	try {
		value = tool::override_value(tool::parse_config(fuzz::text_of(data, size), "t"));
	} catch (const tool::failure &why) {
		fuzz::must_be_a_line(why);
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
