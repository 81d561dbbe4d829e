// SPDX-License-Identifier: MIT
// qpattr doctor: whether this machine is in order, check by check, and what to do.
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "tools/qpattr/commands.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"
#include "tools/qpattr/common/terminal.hpp"
#include "tools/qpattr/doctor/checks.hpp"

namespace qpattr::tool {
namespace {

constexpr const char *footer =
	"Examples:\n"
	"  qpattr doctor\n"
	"  qpattr doctor --json | jq '.checks[] | select(.verdict == \"problem\")'\n"
	"\n"
	"Nothing is changed, and no root is needed; what needs it says so. Status: 0 no\n"
	"problem (warnings there may be), 1 a problem, 2 wrong usage.\n";

} // namespace

void add_doctor(CLI::App &app, int &status)
{
	CLI::App *const command = app.add_subcommand(
		"doctor", "Tell whether this machine is in order for RDMA, and what to do");
	const auto as_objects = std::make_shared<bool>(false);
	command->add_flag("--json", *as_objects, "one JSON object, for programs");
	command->footer(footer);
	command->callback([as_objects, &status] {
		const doctor::findings found = doctor::examine(doctor::look());
		print(*as_objects ? doctor::as_json(found)
				  : doctor::as_text(found, terminal{STDOUT_FILENO}));
		if (found.count(doctor::verdict::problem))
			status = failed_status;
	});
}

} // namespace qpattr::tool
