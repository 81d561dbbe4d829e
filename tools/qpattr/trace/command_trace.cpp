// SPDX-License-Identifier: MIT
// qpattr trace: what the QPs of a program are given.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/qpattr/commands.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/trace/ending.hpp"
#include "tools/qpattr/trace/output.hpp"
#include "tools/qpattr/trace/session.hpp"
#include "tools/qpattr/trace/summary.hpp"

namespace qpattr::tool {
namespace {

constexpr const char *footer =
	"Examples:\n"
	"  qpattr trace -- rping -c -a 10.0.0.1             as text, on standard error\n"
	"  qpattr trace --summary -o /dev/null -- PROGRAM   only the tables\n"
	"  qpattr trace --format json -o t.json -- PROGRAM  for qpattr explain, compare\n"
	"  qpattr trace --format perfetto -o p.json -- sh -c 'SERVER & CLIENT; wait'\n"
	"\n"
	"Children of the program are traced too, and waited for. The status is the\n"
	"program's; 1 if that is 0 and the trace is not whole; 2 wrong usage.\n";

struct wishes {
	std::string file, format = "text", pid;
	bool summary = false;
};

int trace_program(const wishes &given, const CLI::App &command)
{
	if (!given.pid.empty())
		throw failure{fmt::format("cannot attach to process {}: the object is loaded when "
					  "a program starts; end it and start it again: qpattr "
					  "trace -- PROGRAM",
					  given.pid),
			      usage_status};
	session traced{"trace", program_of(command)};
	const std::unique_ptr<trace_output> output = make_output(given.format, given.file, {traced.path(), traced.object()});
	trace_summary sums;
	const int status = traced.run([&](const record &each, std::string_view line) {
		sums.take(each);
		output->take(each, line);
	});
	const bool whole = end_trace(output.get(), sums, traced);
	if (given.summary && sums.calls() > 0)
		print_summary(sums);
	traced.end_alike();
	return status == 0 && !whole ? failed_status : status;
}

} // namespace

void add_trace(CLI::App &app, int &status)
{
	auto given = std::make_shared<wishes>();
	CLI::App *const command =
		app.add_subcommand("trace", "Show what the queue pairs of a program are given");
	command->footer(footer);
	take_program(*command);
	command->add_option("-o,--output", given->file,
			    "write to FILE; - is standard output (default: standard error)")
		->type_name("FILE");
	command->add_option("--format", given->format, "text, json (JSON Lines) or perfetto")
		->check(CLI::IsMember({"text", "json", "perfetto"}))
		->capture_default_str();
	command->add_flag("--summary", given->summary,
			  "at the end, tables by process and connection, on standard error");
	command->add_option("-p,--pid", given->pid, "not possible, and says what is")
		->type_name("PID");
	command->callback([given, command, &status] { status = trace_program(*given, *command); });
}

} // namespace qpattr::tool
