// SPDX-License-Identifier: MIT
// qpattr compare: the two ends of each connection, by their traces.
#include <map>
#include <memory>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/qpattr/commands.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/explain/compare_checks.hpp"
#include "tools/qpattr/explain/compare_page.hpp"
#include "tools/qpattr/explain/compare_pairs.hpp"

namespace qpattr::tool {
namespace {

constexpr const char *footer =
	"Examples:\n"
	"  qpattr trace -o client.json --format json -- PROGRAM   at each end, then\n"
	"  qpattr compare client.json server.json\n"
	"  qpattr compare both.json               one trace that has both ends\n"
	"\n"
	"Status: 0 all fits, 1 something does not (or nothing could be paired), 2 wrong usage.\n";

struct wanted {
	std::string client, server;
	bool json = false;
};

bool same_file(const std::string &a, const std::string &b)
{
	struct stat first, second;
	return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

int run(const wanted &in)
{
	if (in.client == "-" && in.server == "-")
		throw failure{"only one of the two traces can be standard input", usage_status};
	const trace first = read_trace(in.client);
	const bool one = in.server.empty() || same_file(in.client, in.server);
	const trace second = one ? trace{} : read_trace(in.server);
	const std::vector<connection_end> firsts = ends_of(first);
	const std::vector<connection_end> seconds = ends_of(second);
	for (const auto &[which, path] :
	     {std::pair{&first, &in.client}, std::pair{&second, &in.server}})
		if (which->cut)
			std::fprintf(stderr, "qpattr: %s\n",
				     cut_notice(*which, harmless(*path)).c_str());
	if (firsts.empty() || (!one && seconds.empty()))
		throw failure{fmt::format("the trace {} has no calls: nothing to compare",
					  harmless(firsts.empty() ? in.client : in.server))};
	const pairing found = pair_ends(firsts, seconds);
	const page out = compare_page(found, in.client, one ? in.client : in.server);
	print(out, in.json);
	return out.data.at("fits") == true ? 0 : failed_status;
}

} // namespace

void add_compare(CLI::App &app, int &status)
{
	auto in = std::make_shared<wanted>();
	CLI::App *const command = app.add_subcommand(
		"compare", "The two ends of each connection: what does not fit together.");
	command->footer(footer);
	command->add_option("client", in->client,
			    "Trace of one end (JSON Lines; - is standard input)")
		->required();
	command->add_option("server", in->server, "Trace of the other end");
	command->add_flag("--json", in->json, "One JSON object, for programs");
	command->callback([in, &status] { status = run(*in); });
}

} // namespace qpattr::tool
