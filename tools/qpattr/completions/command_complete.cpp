// SPDX-License-Identifier: MIT
// qpattr complete, which --help does not list: the names that the shells' completions
// offer, so that they are written once, in lib/attr.
#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "lib/attr/fields.hpp"
#include "lib/attr/parse.hpp"
#include "tools/qpattr/commands.hpp"

namespace qpattr::tool {
namespace {

// The last part of the name where that is enough: traffic_class.
std::string short_name(const attr::attribute &of)
{
	const std::string whole = of.name;
	const std::string last = whole.substr(whole.rfind('.') + 1);
	for (const std::string &each : {last, "alt_" + last})
		if (attr::find_short_name(each) == &of)
			return each;
	return whole;
}

void list(bool settable_only)
{
	for (const attr::attribute &each : attr::attributes)
		if (!settable_only || !attr::why_not_settable(each))
			std::printf("%s\n", short_name(each).c_str());
}

} // namespace

void add_complete(CLI::App &app, int &)
{
	CLI::App *const command = app.add_subcommand("complete", "names for the shells' completions");
	command->group(""); // not in --help
	const auto what = std::make_shared<std::string>();
	command->add_option("what", *what, "settings or attributes")
		->required()
		->check(CLI::IsMember({"settings", "attributes"}));
	command->callback([what] { list(*what == "settings"); });
}

} // namespace qpattr::tool
