// SPDX-License-Identifier: MIT
// qpattr-conformance: asks stock librdmacm and qpattr the same about the same ids,
// on the devices that are here, and tells what differs and what the kernel says.
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "tools/companion.hpp"
#include "tools/conformance/prerequisites.hpp"
#include "tools/conformance/run.hpp"
#include "tools/resolved.hpp"

using namespace conformance;

namespace {

constexpr const char *footer =
	"A cell is a kind of id at an address: rc/ipv4. `--list` has the kinds.\n"
	"\n"
	"Examples:\n"
	"  qpattr-conformance                               all cells, at all addresses\n"
	"  qpattr-conformance --cell ud/ --address 10.0.0.1 the UD cells of one address\n"
	"  qpattr-conformance --json run.json --tap         for machines\n"
	"\n"
	"Status: 0 all equal, 1 something is different or broken off, 2 wrong usage,\n"
	"77 it cannot be run here (one line says why)\n";

constexpr int usage_status = 2;

// "vlan=10.0.0.1", or an address by itself, which is its own label.
labelled_address labelled(const std::string &text)
{
	const auto at = text.find('=');
	if (at == std::string::npos)
		return {text, text};
	return {text.substr(0, at), text.substr(at + 1)};
}

std::string beside(const char *built, const std::string &installed)
{
	std::string path = qpattr::companion("/tools/conformance", built, installed);
	if (path.empty())
		throw std::runtime_error(qpattr::own_dir() + "/" + installed +
					 " is not there: install qpattr-conformance again, whole");
	return path;
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app{"Compares rdma_init_qp_attr of qpattr with that of the librdmacm installed,\n"
		     "at each stage of connections that it makes from a device to itself."};
	app.footer(footer);
	wishes given;
	std::vector<std::string> addresses, notes;
	std::string json;
	bool list = false, version = false;
	app.add_flag("--list", list, "print the kinds of cells");
	app.add_flag("--version", version, "print the version");
	app.add_option("--address", addresses,
		       "[LABEL=]ADDRESS of an RDMA device, IPv4, IPv6, or gid:GID; may be given "
		       "again (default: those of this machine)");
	app.add_option("--cell", given.cells, "only cells whose name begins so, or at the address of this label; may be "
		       "given again");
	app.add_option("--preload", given.preload, "the object to compare (default: the installed one)");
	app.add_option("--json", json, "write the answers to this file");
	app.add_option("--note", notes, "NAME=VALUE for the file; may be given again");
	app.add_option("--again", given.again,
		       "how the commands begin that repeat a question (default: this program's own)");
	app.add_flag("--slow", given.slow, "cells that wait for a minute, too");
	app.add_flag("--tap", given.tap, "one line a stage, 'ok - ' or 'not ok - '");
	app.add_option("--may-remove", given.removable,
		       "an RDMA device that the cells 'removed' may remove");
	app.add_option("--timeout", given.seconds, "seconds for one cell")->check(CLI::Range(1, 3600));
	app.add_flag("--any-object", given.any_object,
		     "do not insist that qpattr itself serves the questions");
	auto *again = app.add_option_group("To repeat some questions only");
	again->add_option("--only", given.stop, "at stages whose name has this in it");
	again->add_option("--state", given.state, "about this QP state")->check(CLI::Range(0, 99));
	again->add_option("--fill", given.fill, "into outputs filled so")
		->check(CLI::IsMember({"00", "ff", "a5", "run"}));
	again->add_option("--first", given.first, "asking that one first")
		->check(CLI::IsMember({"stock", "ours"}));
	try {
		app.parse(argc, argv);
	} catch (const CLI::Success &asked) {
		return app.exit(asked); // --help
	} catch (const CLI::ParseError &wrong) {
		std::fprintf(stderr, "qpattr-conformance: %s (see --help)\n", wrong.what());
		return usage_status;
	}
	if (app.count("--json") != 0 && json.empty()) {
		std::fprintf(stderr, "qpattr-conformance: --json wants the name of a file (see --help)\n");
		return usage_status;
	}
	if (version) {
		std::printf("qpattr-conformance %s\n", QPATTR_VERSION);
		return 0;
	}
	given.called = std::strchr(argv[0], '/') ? qpattr::resolved_or(argv[0], argv[0]) : argv[0];
	for (const std::string &each : addresses)
		given.addresses.push_back(labelled(each));
	for (const std::string &each : notes) {
		const auto [name, value] = labelled(each);
		given.notes.emplace_back(name, value);
	}
	try {
		given.program = beside("conformance-cell", "../" QPATTR_LIBEXEC "/qpattr/conformance-cell");
		if (list)
			return print_kinds(given);
		if (given.preload.empty())
			given.preload = beside("../../lib/preload/libqpattr-preload.so",
					       "../" QPATTR_LIBDIR "/libqpattr-preload.so");
		// Printed to be repeated, from wherever.
		given.preload = qpattr::resolved_or(given.preload, given.preload);
		return run(given, json);
	} catch (const cannot_run &why) {
		std::fprintf(stderr, "qpattr-conformance: cannot run here: %s\n", why.what());
		return cannot_run_status;
	} catch (const std::exception &why) {
		std::fprintf(stderr, "qpattr-conformance: %s\n", why.what());
		return usage_status;
	}
}
