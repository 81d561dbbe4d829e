// SPDX-License-Identifier: MIT
// The traces of two ends, parted by an empty line; without one, both are the same.
#include "test/fuzz/shown.hpp"
#include "tools/qpattr/common/trace_file.hpp"
#include "tools/qpattr/explain/compare_page.hpp"
#include "tools/qpattr/explain/compare_pairs.hpp"
#include "tools/qpattr/explain/connection_end.hpp"

using namespace qpattr;

namespace {

void compare(std::string_view client, std::string_view server)
{
	const tool::trace first = tool::parse_trace(client, "c");
	const tool::trace second = tool::parse_trace(server, "s");
	const std::vector<tool::connection_end> firsts = tool::ends_of(first);
	const std::vector<tool::connection_end> seconds = tool::ends_of(second);
	const tool::pairing found = tool::pair_ends(firsts, seconds);
	fuzz::must(2 * found.pairs.size() + found.alone.size() == firsts.size() + seconds.size(),
		   "each end is in a pair or alone");
	for (const tool::end_pair &each : found.pairs)
		fuzz::must(each.client != each.server, "a pair has two ends");
	fuzz::must_be_shown(tool::compare_page(found, "c", "s"));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text = fuzz::text_of(data, size);
	const std::size_t parted = text.find("\n\n");
	try {
		if (parted == std::string_view::npos)
			compare(text, "");
		else
			compare(text.substr(0, parted + 1), text.substr(parted + 2));
	} catch (const tool::failure &why) {
		fuzz::must_be_a_line(why);
	}
	return 0;
}
