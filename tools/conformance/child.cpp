// SPDX-License-Identifier: MIT
#include "tools/conformance/child.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char **environ;

namespace conformance {
namespace {

[[noreturn]] void fail(int code, const std::string &what)
{
	throw std::system_error(code, std::generic_category(), what);
}

struct pipe_ends {
	int read, write;
};

pipe_ends make_pipe()
{
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		fail(errno, "pipe");
	return {ends[0], ends[1]};
}

std::vector<char *> pointers(const std::vector<std::string> &texts)
{
	std::vector<char *> out;
	for (const std::string &each : texts)
		out.push_back(const_cast<char *>(each.c_str()));
	return out;
}

// A process group of its own, so that what it starts ends with it.
pid_t start(const std::vector<std::string> &command, const std::vector<std::string> &environment,
	    const pipe_ends &out, const pipe_ends &err)
{
	std::vector<char *> arguments = pointers(command);
	arguments.push_back(nullptr);
	std::vector<char *> variables = pointers(environment);
	for (char **each = environ; *each; ++each)
		variables.push_back(*each);
	variables.push_back(nullptr);

	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	::posix_spawn_file_actions_init(&actions);
	::posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
	::posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
	::posix_spawnattr_init(&attributes);
	::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	pid_t child = -1;
	const int code = ::posix_spawn(&child, arguments.front(), &actions, &attributes,
				       arguments.data(), variables.data());
	::posix_spawn_file_actions_destroy(&actions);
	::posix_spawnattr_destroy(&attributes);
	::close(out.write);
	::close(err.write);
	if (code != 0) {
		::close(out.read);
		::close(err.read);
		fail(code, command.front());
	}
	return child;
}

// False at the end of what is to be read.
bool take(int fd, std::string &to)
{
	char piece[4096];
	const ssize_t got = ::read(fd, piece, sizeof piece);
	if (got < 0 && errno == EINTR)
		return true;
	if (got <= 0)
		return false;
	to.append(piece, static_cast<std::size_t>(got));
	return true;
}

void hand_out_lines(std::string &text, const std::function<void(const std::string &)> &on_line)
{
	std::size_t begin = 0;
	for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
		on_line(text.substr(begin, end - begin));
	text.erase(0, begin);
}

} // namespace

child_end run_child(const std::vector<std::string> &command,
		    const std::vector<std::string> &environment, int seconds,
		    const std::function<void(const std::string &)> &on_line)
{
	using clock = std::chrono::steady_clock;
	const pipe_ends out = make_pipe(), err = make_pipe();
	const pid_t child = start(command, environment, out, err);
	const auto deadline = clock::now() + std::chrono::seconds{seconds};
	child_end ended;
	std::string text;
	pollfd waiting[] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
	// The standard error may stay open in what the child left running.
	while (waiting[0].fd >= 0) {
		const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
			deadline - clock::now());
		if (left.count() <= 0) {
			ended.timed_out = true;
			break;
		}
		if (::poll(waiting, 2, static_cast<int>(left.count())) < 0 && errno != EINTR)
			break;
		if (waiting[0].revents && !take(out.read, text))
			waiting[0].fd = -1;
		if (waiting[1].revents && !take(err.read, ended.said))
			waiting[1].fd = -1;
		hand_out_lines(text, on_line);
	}
	if (ended.timed_out)
		::kill(-child, SIGKILL);
	int status = 0;
	while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	while (waiting[1].fd >= 0 && ::poll(&waiting[1], 1, 0) > 0 && take(err.read, ended.said))
		;
	::close(out.read);
	::close(err.read);
	ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return ended;
}

} // namespace conformance
