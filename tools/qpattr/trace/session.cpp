// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/session.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/program.hpp"
#include "tools/qpattr/trace/spool.hpp"

namespace qpattr::tool {
namespace {

// The program with its arguments; empty where none was given.
std::vector<std::string> program_words;

// Where nobody takes the trace, nobody may take this either.
void say_given_up(int signal)
{
	pollfd writable{STDERR_FILENO, POLLOUT, 0};
	if (::poll(&writable, 1, 0) == 1)
		say_line(fmt::format("ended by signal {} ({}) before all of the trace was written: "
				     "its reader takes nothing",
				     signal, ::strsignal(signal)));
}

struct with_program : CLI::Formatter {
	std::string make_usage(const CLI::App *, std::string name) const override
	{
		return fmt::format("Usage: {} [OPTION]... -- PROGRAM [ARGUMENT]...\n", name);
	}
};

} // namespace

void part_program(const CLI::App &app, int &argc, char **argv)
{
	if (argc < 2 || (std::string_view{argv[1]} != "trace" && std::string_view{argv[1]} != "run"))
		return;
	const CLI::App *const command = app.get_subcommand(argv[1]);
	int at = 2;
	for (; at < argc; ++at) {
		const std::string_view word = argv[at];
		if (word == "--" || word.size() < 2 || word.front() != '-')
			break;
		const CLI::Option *const is = command->get_option_no_throw(std::string{word});
		// A value that was forgotten is missed by CLI11.
		if (is && is->get_expected_min() > 0 && at + 1 < argc &&
		    std::string_view{argv[at + 1]} != "--")
			++at;
	}
	if (at >= argc)
		return;
	program_words.assign(argv + at + (std::string_view{argv[at]} == "--" ? 1 : 0), argv + argc);
	argc = at;
}

void take_program(CLI::App &command)
{
	command.prefix_command();
	command.formatter(std::make_shared<with_program>());
}

std::vector<std::string> program_of(const CLI::App &command)
{
	// The program is not among them.
	const std::vector<std::string> unknown = command.remaining();
	if (!unknown.empty())
		throw failure{fmt::format("{} has no option {} (see qpattr {} --help)",
					  command.get_name(), unknown.front(), command.get_name()),
			      usage_status};
	if (program_words.empty())
		throw failure{fmt::format("{}: no program is given: qpattr {} [OPTION]... -- "
					  "PROGRAM [ARGUMENT]...",
					  command.get_name(), command.get_name()),
			      usage_status};
	return program_words;
}

void say_line(const std::string &text)
{
	// In one piece, between what the program says there.
	const std::string line = "qpattr: " + harmless(text) + "\n";
	[[maybe_unused]] const bool said = write_all(STDERR_FILENO, line);
}

session::session(const char *command, std::vector<std::string> program) : command_{command}
{
	plan_.path = find_program(program.front(), command);
	plan_.preload = find_preload_object();
	plan_.arguments = std::move(program);
	// The object would trace nothing, in each process.
	const char *const limit = std::getenv("QPATTR_TRACE_LIMIT");
	if (limit && (!*limit || std::strspn(limit, "0123456789") != std::strlen(limit)))
		throw failure{fmt::format("QPATTR_TRACE_LIMIT={} is not a number of bytes", limit),
			      usage_status};
}

void session::set(const std::string &name, const std::string &value)
{
	plan_.environment.emplace_back(name, value);
}

int session::run(const taker &take)
{
	spool records;
	set("QPATTR_TRACE", records.path());
	const auto on_line = [&](std::string_view line) { take_line(line, take); };
	child_watch watch;
	watch.on_tick = [&] { records.drain(on_line); };
	watch.on_left_behind = [&](int status) {
		say_line(fmt::format("{} has ended with status {}; {} waits for what it started "
				     "(Ctrl-C: no longer)",
				     plan_.arguments.front(), status, command_));
	};
	watch.on_give_up = say_given_up;
	status_ = run_program(plan_, arriving_, watch);
	records.close(on_line);
	if (!records.rest().empty())
		++unreadable_;
	return status_.code;
}

void session::take_line(std::string_view line, const taker &take)
{
	try {
		take(parse_record(line), line);
	} catch (const bad_record &why) {
		if (unreadable_++ == 0)
			say_line(fmt::format("a line of the trace is no record: {}", why.what()));
	}
}

void session::end_alike() const
{
	if (status_.signal)
		end_by(status_.signal);
}

std::string session::no_calls() const
{
	const std::string ended =
		status_.code ? fmt::format(" (it ended with status {}: qpattr doctor tells whether this "
				      "machine is in order)",
				      status_.code)
			: "";
	return fmt::format("no call of rdma_init_qp_attr was seen: {} made none{}, or it gets past "
			   "the preload object (librdmacm linked statically, dlsym, dlmopen): see "
			   "qpattr-coverage {}",
			   plan_.arguments.front(), ended, plan_.path);
}

} // namespace qpattr::tool
