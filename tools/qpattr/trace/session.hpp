// SPDX-License-Identifier: MIT
// A program run with the preload object and a spool: what trace and run have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/qpattr/common/trace_file.hpp"
#include "tools/qpattr/trace/child.hpp"

namespace CLI {
class App;
}

namespace qpattr::tool {

// CLI11 takes `--` away from a command and then does not know what follows, and takes the
// program's options for the command's; here the program, from `--` or from the first word
// that is no option on, is taken away before it, and kept for program_of().
void part_program(const CLI::App &app, int &argc, char **argv);

// Makes it a command `qpattr COMMAND [OPTION]... -- PROGRAM [ARGUMENT]...`.
void take_program(CLI::App &command);

// Of such a command, after parsing: the program with its arguments. Throws `failure`
// where there is none, or where what stands there is an option that the command has not.
[[nodiscard]] std::vector<std::string> program_of(const CLI::App &command);

// One line on standard error, "qpattr: ...".
void say_line(const std::string &text);

class session {
public:
	using taker = std::function<void(const record &, std::string_view line)>;

	// Looks for program and preload object: what can be known to go wrong is said
	// before anything is started or written. `command` is "trace" or "run".
	session(const char *command, std::vector<std::string> program);

	// Where the program and the preload object were found.
	[[nodiscard]] const std::string &path() const { return plan_.path; }
	[[nodiscard]] const std::string &object() const { return plan_.preload; }

	// A variable of the program's environment.
	void set(const std::string &name, const std::string &value);

	// The program's status. Records are handed out as they come. From then until this
	// object ends, a signal does not end the process before what is to be said is said.
	[[nodiscard]] int run(const taker &take);

	// Lines that are no records, and a last one without its end.
	[[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }
	// Where a signal ended the program, it ends this process too: a shell's loop that
	// Ctrl-C ends ends so with qpattr in it. Last of all.
	void end_alike() const;
	// Where no call was seen: why that may be.
	[[nodiscard]] std::string no_calls() const;

private:
	void take_line(std::string_view line, const taker &take);

	std::string command_;
	start_plan plan_;
	signals arriving_;
	std::uint64_t unreadable_ = 0;
	run_status status_;
};

} // namespace qpattr::tool
