// SPDX-License-Identifier: MIT
// The commands of qpattr: each adds itself to the command line, and says with which
// status it ended.
#pragma once

namespace CLI {
class App;
}

namespace qpattr::tool {

// All that this build has.
void add_commands(CLI::App &app, int &status);

void add_trace(CLI::App &app, int &status);
void add_run(CLI::App &app, int &status);
void add_explain(CLI::App &app, int &status);
void add_compare(CLI::App &app, int &status);
void add_probe(CLI::App &app, int &status);
void add_doctor(CLI::App &app, int &status);
void add_complete(CLI::App &app, int &status); // for the shells, not in --help

} // namespace qpattr::tool
