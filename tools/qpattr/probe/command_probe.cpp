// SPDX-License-Identifier: MIT
// qpattr probe: a connection without any program, to see what both ends' QPs are given.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>

#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/qpattr/commands.hpp"
#include "tools/qpattr/common/descriptor.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/terminal.hpp"
#include "tools/qpattr/probe/client.hpp"
#include "tools/qpattr/probe/loopback.hpp"
#include "tools/qpattr/probe/record.hpp"
#include "tools/qpattr/probe/server.hpp"

namespace qpattr::tool {
namespace {

using namespace probe;

constexpr const char *footer =
	"Examples:\n"
	"  qpattr probe --listen             on the one machine, until ^C\n"
	"  qpattr probe 10.0.0.1             on the other: both ends' attributes\n"
	"  qpattr probe --udp 10.0.0.1       datagrams (--listen --udp there)\n"
	"  qpattr probe --loopback           both ends on this machine\n"
	"  qpattr probe --json 10.0.0.1 > probe.json   for qpattr compare, jq\n"
	"\n"
	"ADDRESS is ADDR, ADDR:PORT or [IPv6]:PORT; the port is 7728 where none is given.\n"
	"Status: 0 well, 1 it failed (one line says why), 2 wrong usage.\n";

struct options {
	std::string address;
	bool listen = false, loopback = false;
	double seconds = 10;
	plan how;
};

// What is told as the probes go on.
class teller {
public:
	explicit teller(bool as_json) : as_json_{as_json} {}

	void served(const report &of)
	{
		if (as_json_)
			print(as_json_lines(of));
		else
			print(first_ ? whole_text(of, terminal{STDOUT_FILENO}) : short_text(of));
		first_ = false;
	}
	void line(const std::string &text) const
	{
		print(as_json_ ? notice_of(text) : text + '\n');
	}

private:
	bool as_json_;
	bool first_ = true;
};

// SIGINT and SIGTERM as a descriptor: the server ends in order. Blocked before threads are
// made, which inherit it.
class ending_signals {
public:
	ending_signals() : taken_{blocked()} {}
	[[nodiscard]] int fd() const { return taken_.fd(); }

private:
	static int blocked()
	{
		sigset_t set;
		::sigemptyset(&set);
		::sigaddset(&set, SIGINT);
		::sigaddset(&set, SIGTERM);
		::pthread_sigmask(SIG_BLOCK, &set, nullptr);
		return ::signalfd(-1, &set, SFD_CLOEXEC);
	}

	descriptor taken_;
};

int listen(const options &given)
{
	const place where = parse_place(given.address, true);
	const ending_signals signals;
	server it{where, given.how};
	teller to{given.how.as_json};
	const bool any = given.address.empty() || given.address.front() == ':' ||
			 given.address.front() == '*';
	to.line(fmt::format("listening on {}{}, ends with ^C",
			    any ? fmt::format("all addresses, port {}", it.port()) : where.text,
			    given.how.udp ? " for datagrams" : ""));
	unsigned failures = 0;
	it.serve({[&](const report &of) { to.served(of); },
		  [&](const std::string &why) {
			  ++failures;
			  std::fprintf(stderr, "qpattr: %s\n", harmless(why).c_str());
		  }},
		 signals.fd());
	return failures ? failed_status : 0;
}

int call_all(const options &given)
{
	const place where = parse_place(given.address, false);
	teller to{given.how.as_json};
	for (unsigned i = 0; i < std::max(given.how.count, 1U); ++i)
		to.served(call(where, given.how));
	return 0;
}

int both(const options &given)
{
	teller to{given.how.as_json};
	loop_back(given.address, given.how, [&](const report &of) { to.served(of); });
	return 0;
}

int run(options &given)
{
	given.how.timeout = std::chrono::milliseconds{static_cast<long>(given.seconds * 1000)};
	if (given.listen)
		return listen(given);
	if (given.loopback)
		return both(given);
	if (given.address.empty())
		throw failure{"probe wants an ADDRESS, --listen or --loopback (see qpattr probe "
			      "--help)",
			      usage_status};
	return call_all(given);
}

} // namespace

void add_probe(CLI::App &app, int &status)
{
	CLI::App *const command = app.add_subcommand(
		"probe", "Make a connection by itself and show both ends' attributes");
	const auto given = std::make_shared<options>();
	command->add_option("address", given->address, "the listening probe's, or where to listen")
		->type_name("ADDRESS[:PORT]");
	auto *const listens = command->add_flag("--listen", given->listen,
						"wait for probes, and answer one after the other");
	command->add_flag("--loopback", given->loopback,
			  "both ends here, on ADDRESS or the first that serves")
		->excludes(listens);
	command->add_flag("--udp", given->how.udp, "datagrams (UD) instead of a connection (RC)");
	command->add_option("--count", given->how.count,
			    "so many connections; with --listen end after so many")
		->check(CLI::Range(1U, 1000000U))
		->type_name("N");
	command->add_option("--timeout", given->seconds, "of each wait, in seconds (default 10)")
		->check(CLI::Range(0.1, 3600.0))
		->type_name("SECONDS");
	command->add_flag("--json", given->how.as_json,
			  "JSON Lines as qpattr trace writes them, of both ends");
	command->footer(footer);
	command->callback([given, &status] { status = run(*given); });
}

} // namespace qpattr::tool
