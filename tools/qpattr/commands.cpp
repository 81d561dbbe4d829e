// SPDX-License-Identifier: MIT
#include "tools/qpattr/commands.hpp"

namespace qpattr::tool {

// In the order of --help.
void add_commands(CLI::App &app, int &status)
{
	add_trace(app, status);
	add_run(app, status);
	add_explain(app, status);
	add_compare(app, status);
	add_probe(app, status);
	add_doctor(app, status);
	add_complete(app, status);
}

} // namespace qpattr::tool
