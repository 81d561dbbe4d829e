// SPDX-License-Identifier: MIT
#include "test/demo/verdict.hpp"

namespace qpattr::demo {

std::vector<std::string> objections(const history &seen, const std::vector<expectation> &expected)
{
	std::vector<std::string> out;
	std::size_t different = 0;
	std::size_t foreign = 0;
	for (const transition &each : seen.all) {
		different += !each.equal();
		foreign += !each.served();
	}
	const std::string of_all = " of " + std::to_string(seen.all.size()) + " answers ";
	if (!seen.trouble.empty())
		out.push_back(seen.trouble);
	if (seen.all.empty())
		out.push_back("there is not a single transition");
	if (different)
		out.push_back(std::to_string(different) + of_all + "differ from stock's");
	if (foreign)
		out.push_back(std::to_string(foreign) + of_all + "were not served by qpattr");
	for (const expectation &each : expected) {
		std::size_t found = 0;
		for (const transition &one : seen.all)
			found += one.run == each.run;
		if (found < each.transitions)
			out.push_back("run '" + each.run + "' has " + std::to_string(found) +
				      " transitions, not " + std::to_string(each.transitions));
	}
	return out;
}

} // namespace qpattr::demo
