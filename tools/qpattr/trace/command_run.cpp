// SPDX-License-Identifier: MIT
// qpattr run: a program whose QPs are given other attributes.
#include <cstdlib>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "tools/qpattr/commands.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"
#include "tools/qpattr/trace/config.hpp"
#include "tools/qpattr/trace/ending.hpp"
#include "tools/qpattr/trace/output.hpp"
#include "tools/qpattr/trace/override_report.hpp"
#include "tools/qpattr/trace/session.hpp"
#include "tools/qpattr/trace/summary.hpp"

namespace qpattr::tool {
namespace {

constexpr const char *footer =
	"Values are codes or have units: timeout=500ms, min_rnr_timer=0.64ms, path_mtu=1024B,\n"
	"traffic_class=dscp:46. A time becomes the shortest code that is at least as long.\n"
	"Conditions: dst=CIDR, src=CIDR, port=N, ps=tcp|udp|ib|ipoib, dev=NAME,\n"
	"qp_type=rc|uc|ud|xrc_ini|xrc_tgt; all of a --match must hold.\n"
	"\n"
	"Examples:\n"
	"  qpattr run --set timeout=500ms,retry_cnt=3 -- PROGRAM\n"
	"  qpattr run --set min_rnr_timer=12 --match port=4420,ps=tcp \\\n"
	"             --set traffic_class=dscp:46 --match dst=10.0.0.0/8 -- PROGRAM\n"
	"  qpattr run --config overrides.toml --trace t.json -- PROGRAM\n"
	"\n"
	"The status is the program's; 1 if that is 0 and a trace that was asked for is not\n"
	"whole; 2 wrong usage.\n";

struct wishes {
	std::string config, trace, format = "json";
	CLI::Option *set = nullptr, *match = nullptr;
};

// A --match is for every --set between it and the --match before it.
std::vector<override_rule> rules_of_options(const wishes &given, const CLI::App &command)
{
	std::vector<override_rule> out;
	std::size_t sets = 0, matches = 0, matched = 0; // `matched` rules have their --match
	for (const CLI::Option *const each : command.parse_order()) {
		if (each == given.set) {
			const std::string text = each->results().at(sets++);
			out.push_back({"--set " + text, "*", parse_settings(text, "--set")});
		} else if (each == given.match) {
			const std::string text = each->results().at(matches++);
			if (out.empty())
				throw failure{fmt::format("--match {} stands before any --set: "
							  "write it after the --set that it is for",
							  text),
					      usage_status};
			if (matched == out.size())
				throw failure{fmt::format("--match {} is a second one for the same "
							  "--set: join conditions by a comma, or "
							  "write the --set again",
							  text),
					      usage_status};
			const std::string match = parse_match(text, "--match");
			for (; matched < out.size(); matched++) {
				out[matched].match = match;
				out[matched].origin += " --match " + text;
			}
		}
	}
	return out;
}

std::vector<override_rule> rules_of(const wishes &given, const CLI::App &command)
{
	std::vector<override_rule> out;
	if (!given.config.empty())
		out = read_config(given.config);
	// Later rules win: the command line's over the file's.
	for (override_rule &each : rules_of_options(given, command))
		out.push_back(std::move(each));
	if (out.empty())
		throw failure{"run: nothing is to be overridden: add --set ATTRIBUTE=VALUE or "
			      "--config FILE",
			      usage_status};
	return out;
}

void say_replaced(const char *variable, const char *instead)
{
	const char *const value = std::getenv(variable);
	if (value && *value)
		say_line(fmt::format("{} of the environment does not count here: use {}", variable,
				     instead));
}

void print_report(const override_report &report)
{
	const std::string text = report.text(terminal{STDERR_FILENO});
	[[maybe_unused]] const bool written = write_all(STDERR_FILENO, text);
}

int run(const wishes &given, const CLI::App &command)
{
	const std::vector<override_rule> rules = rules_of(given, command);
	session overridden{"run", program_of(command)};
	overridden.set("QPATTR_OVERRIDE", override_value(rules));
	std::unique_ptr<trace_output> output;
	if (!given.trace.empty())
		output = make_output(given.format, given.trace, {overridden.path(), overridden.object(), given.config});
	say_replaced("QPATTR_OVERRIDE", "--set");
	say_replaced("QPATTR_TRACE", "--trace");
	for (const std::string &each : roundings(rules))
		say_line(each);
	override_report report{rules};
	trace_summary sums;
	const int status = overridden.run([&](const record &each, std::string_view line) {
		report.take(each);
		sums.take(each);
		if (const auto *const notice = std::get_if<notice_record>(&each))
			say_line(fmt::format("{} {}: {}", notice->program, notice->pid,
					     notice->text));
		if (output)
			output->take(each, line);
	});
	const bool whole = end_trace(output.get(), sums, overridden);
	if (sums.calls() > 0)
		print_report(report);
	overridden.end_alike();
	return status == 0 && output && !whole ? failed_status : status;
}

} // namespace

void add_run(CLI::App &app, int &status)
{
	auto given = std::make_shared<wishes>();
	CLI::App *const command =
		app.add_subcommand("run", "Run a program with other attributes for its queue pairs");
	command->footer(footer);
	take_program(*command);
	given->set = command->add_option("--set", "ATTRIBUTE=VALUE,...; may be given again, a "
						  "later one wins")
			     ->type_name("SETTINGS")
			     ->expected(1)
			     ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
	given->match = command->add_option("--match", "for which connections those --set are that "
						      "stand before it (default: all)")
			       ->type_name("CONDITIONS")
			       ->expected(1)
			       ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
	command->add_option("--config", given->config, "rules from this TOML file; --set wins")
		->type_name("FILE");
	command->add_option("--trace", given->trace,
			    "write what qpattr trace does to FILE; - is standard output")
		->type_name("FILE");
	command->add_option("--format", given->format, "of --trace: text, json or perfetto")
		->check(CLI::IsMember({"text", "json", "perfetto"}))
		->capture_default_str();
	command->callback([given, command, &status] { status = run(*given, *command); });
}

} // namespace qpattr::tool
