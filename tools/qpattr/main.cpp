// SPDX-License-Identifier: MIT
// qpattr: the attributes of queue pairs for a person at a terminal.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <linux/capability.h>
#include <new>
#include <string>
#include <string_view>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/qpattr/commands.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/nearest.hpp"
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

// A descriptor that is opened later must not be taken for a standard stream.
void fill_streams()
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
		if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)::open("/dev/null", O_RDWR | O_CLOEXEC); // the lowest: fd
}

// Also of a command that lacks an argument, which CLI11 reports alike.
std::string missing(const CLI::App &app, int argc, char **argv, const char *what)
{
	std::vector<std::string> names;
	for (const CLI::App *each : app.get_subcommands([](const CLI::App *) { return true; }))
		if (!each->get_group().empty()) // not hidden
			names.push_back(each->get_name());
	if (argc < 2 || *argv[1] == '-')
		return fmt::format("a command is wanted: {} (see --help)", fmt::join(names, ", "));
	const std::string written = argv[1];
	if (std::find(names.begin(), names.end(), written) != names.end())
		return fmt::format("{}: {} (see qpattr {} --help)", written, what, written);
	if (written == "help" || written == "version")
		return fmt::format("'{}' is no command: qpattr --{}", written, written);
	const std::string like = nearest(written, names);
	return fmt::format("'{}' is no command: {}", written,
			   like.empty() ? "qpattr --help lists them" : "did you mean " + like + "?");
}

// Whether the file of this program gives it rights that its caller has not: it starts
// programs, and writes files, that its caller names.
bool has_rights_of_its_file()
{
	if (::getuid() != ::geteuid() || ::getgid() != ::getegid())
		return true;
	__user_cap_header_struct version{_LINUX_CAPABILITY_VERSION_3, 0};
	__user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = {};
	return ::getuid() != 0 && ::getauxval(AT_SECURE) &&
	       ::syscall(SYS_capget, &version, rights) == 0 && (rights[0].permitted | rights[1].permitted);
}

// Where nothing can be allocated, nor an exception be told of in another way.
[[noreturn]] void give_up()
{
	constexpr std::string_view text{"qpattr: out of memory: free some, or raise the limit (ulimit -v)\n"};
	constexpr std::string_view other{"qpattr: ended by an error of its own\n"};
	// Without memory the JSON library asserts in the middle of the unwinding, on what it
	// has made by half; anywhere else it is a mistake.
	std::string_view why = std::uncaught_exceptions() ? text : other;
	if (const std::exception_ptr thrown = std::current_exception()) {
		try {
			std::rethrow_exception(thrown);
		} catch (const std::bad_alloc &) {
			why = text;
		} catch (...) {
			why = other;
		}
	}
	[[maybe_unused]] const auto said = ::write(STDERR_FILENO, why.data(), why.size());
	::_exit(failed_status);
}

// Before the constructors of any object of ours or of CLI11's, which allocate.
[[gnu::constructor(101)]] void know_give_up()
{
	std::set_terminate(give_up);
}

int run(int argc, char **argv)
{
	fill_streams();
	if (has_rights_of_its_file()) {
		std::fputs("qpattr: its file gives it rights that its caller has not: take them away "
			   "(chmod ug-s, setcap -r), and run it as a user who has them\n",
			   stderr);
		return failed_status;
	}
	CLI::App app{"Shows, changes and explains the attributes that RDMA programs give\n"
		     "their queue pairs.",
		     "qpattr"};
	int status = 0;
	app.footer(footer);
	app.set_version_flag("--version", QPATTR_VERSION);
	app.require_subcommand(1);
	add_commands(app, status);
	try {
		part_program(app, argc, argv);
		app.parse(argc, argv);
	} catch (const CLI::Success &asked) { // --help, --version
		app.exit(asked);
		if (std::fflush(stdout) == 0 && std::cout.flush())
			return 0;
		std::fprintf(stderr, "qpattr: cannot write to standard output: %s\n",
			     std::strerror(errno));
		return failed_status;
	} catch (const CLI::RequiredError &wrong) {
		const std::string why = missing(app, argc, argv, wrong.what());
		std::fprintf(stderr, "qpattr: %s\n", harmless(why).c_str());
		return usage_status;
	} catch (const CLI::ParseError &wrong) {
		std::fprintf(stderr, "qpattr: %s (see --help)\n", harmless(wrong.what()).c_str());
		return usage_status;
	} catch (const failure &why) {
		std::fprintf(stderr, "qpattr: %s\n", harmless(why.what()).c_str());
		return why.status;
	} catch (const std::bad_alloc &) {
		give_up();
	} catch (const std::exception &why) {
		std::fprintf(stderr, "qpattr: %s\n", harmless(why.what()).c_str());
		return failed_status;
	}
	return status;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return run(argc, argv);
	} catch (...) {
		give_up();
	}
}
