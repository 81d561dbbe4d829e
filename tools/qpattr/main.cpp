// SPDX-License-Identifier: MIT
// qpattr: the attributes of queue pairs for a person at a terminal.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "tools/qpattr/commands.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/trace/session.hpp"

using namespace qpattr::tool;

namespace {

constexpr const char *footer =
	"Examples:\n"
	"  qpattr trace -- rping -c -a 10.0.0.1     what the program's QPs are given\n"
	"  qpattr run --set timeout=500ms -- PROGRAM  the same program, another timeout\n"
	"  qpattr explain rnr 0                     what a code means\n"
	"  qpattr doctor                            whether this machine is in order\n"
	"\n"
	"Each command has a manual page: man qpattr-trace. Status: 0 well, 1 something is\n"
	"wrong (one line says what), 2 wrong usage; trace and run end as their program does.\n";

} // namespace

int main(int argc, char **argv)
{
	CLI::App app{"Shows, changes and explains the attributes that RDMA programs give\n"
		     "their queue pairs.",
		     "qpattr"};
	int status = 0;
	app.footer(footer);
	app.set_version_flag("--version", QPATTR_VERSION);
	app.require_subcommand(1);
	add_commands(app, status);
	try {
		part_program(argc, argv);
		app.parse(argc, argv);
	} catch (const CLI::Success &asked) { // --help, --version
		app.exit(asked);
		if (std::fflush(stdout) == 0 && std::cout.flush())
			return 0;
		std::fprintf(stderr, "qpattr: cannot write to standard output: %s\n",
			     std::strerror(errno));
		return failed_status;
	} catch (const CLI::ParseError &wrong) {
		std::fprintf(stderr, "qpattr: %s (see --help)\n", harmless(wrong.what()).c_str());
		return usage_status;
	} catch (const failure &why) {
		std::fprintf(stderr, "qpattr: %s\n", harmless(why.what()).c_str());
		return why.status;
	} catch (const std::exception &why) {
		std::fprintf(stderr, "qpattr: %s\n", harmless(why.what()).c_str());
		return failed_status;
	}
	return status;
}
