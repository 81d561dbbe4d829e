// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/child.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"

extern char **environ;

namespace qpattr::tool {
namespace {

constexpr timespec tick{0, 50'000'000};
// Most of what a program leaves behind ends at once.
constexpr auto grace = std::chrono::milliseconds{500};

std::vector<std::string> environment_of(const start_plan &plan)
{
	std::vector<std::string> out;
	const auto is_of = [](const std::string &entry, const std::string &name) {
		return entry.rfind(name + "=", 0) == 0;
	};
	std::string preload = plan.preload;
	for (char **each = environ; *each; ++each) {
		const std::string entry = *each;
		bool replaced = false;
		for (const auto &[name, value] : plan.environment)
			replaced = replaced || is_of(entry, name);
		if (is_of(entry, "LD_PRELOAD"))
			preload += (entry.size() > 11 ? ":" : "") + entry.substr(11);
		else if (!replaced)
			out.push_back(entry);
	}
	for (const auto &[name, value] : plan.environment)
		out.push_back(name + "=" + value);
	out.push_back("LD_PRELOAD=" + preload);
	return out;
}

std::vector<char *> pointers(const std::vector<std::string> &texts)
{
	std::vector<char *> out;
	for (const std::string &each : texts)
		out.push_back(const_cast<char *>(each.c_str()));
	out.push_back(nullptr);
	return out;
}

[[noreturn]] void cannot_start(const start_plan &plan, int code)
{
	// The file is there, it was found: then it is what the kernel needs to run it.
	if (code == ENOENT)
		throw failure{fmt::format("cannot start {}: the interpreter or dynamic linker that "
					  "it names is not there: install it",
					  plan.path)};
	if (code == ENOEXEC)
		throw failure{fmt::format("cannot start {}: it is neither a program nor a script "
					  "that begins with #!: start it by sh",
					  plan.path)};
	throw failure{fmt::format("cannot start {}: {}", plan.path, std::strerror(code))};
}

// Between fork and exec: only what is safe there.
[[noreturn]] void become(const start_plan &plan, char **arguments, char **environment,
			 const signals &arriving, int tell)
{
	arriving.restore();
	::execve(plan.path.c_str(), arguments, environment);
	const int code = errno;
	[[maybe_unused]] const auto told = ::write(tell, &code, sizeof code);
	::_exit(127);
}

pid_t start(const start_plan &plan, const signals &arriving)
{
	const std::vector<std::string> variables = environment_of(plan);
	const std::vector<char *> arguments = pointers(plan.arguments);
	const std::vector<char *> environment = pointers(variables);
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		cannot_start(plan, errno);
	const pid_t child = ::fork();
	if (child == 0)
		become(plan, const_cast<char **>(arguments.data()),
		       const_cast<char **>(environment.data()), arriving, ends[1]);
	const int fork_error = errno;
	::close(ends[1]);
	int code = 0;
	ssize_t got;
	while ((got = ::read(ends[0], &code, sizeof code)) < 0 && errno == EINTR)
		;
	::close(ends[0]);
	if (child < 0)
		cannot_start(plan, fork_error);
	if (got == sizeof code) {
		::waitpid(child, nullptr, 0);
		cannot_start(plan, code);
	}
	return child;
}

run_status status_of(int waited)
{
	if (WIFSIGNALED(waited))
		return {128 + WTERMSIG(waited), WTERMSIG(waited)};
	return {WEXITSTATUS(waited), 0};
}

// The children of this process. Some may be there from the start: a shell that starts
// something and then becomes this program leaves it. Those are not waited for; what is
// written may even be what they wait for.
class children {
public:
	children() : first_{now()} {}

	// Nobody else is there.
	[[nodiscard]] bool are_all() const
	{
		if (first_.empty())
			return false;
		const std::vector<pid_t> all = now();
		return std::all_of(all.begin(), all.end(), [this](pid_t each) {
			return std::find(first_.begin(), first_.end(), each) != first_.end();
		});
	}

private:
	// Of each thread; empty where the kernel does not tell.
	static std::vector<pid_t> now()
	{
		std::vector<pid_t> out;
		std::error_code ignored;
		for (const auto &each : std::filesystem::directory_iterator{"/proc/self/task", ignored}) {
			std::ifstream in{each.path() / "children"};
			for (pid_t child; in >> child;)
				out.push_back(child);
		}
		return out;
	}

	std::vector<pid_t> first_;
};

} // namespace

run_status run_program(const start_plan &plan, signals &arriving, const child_watch &watch)
{
	// What outlives its parent becomes ours, so that its end can be waited for.
	::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	arriving.hold(watch.on_give_up);
	const children strangers;
	const pid_t child = start(plan, arriving);
	arriving.hand_to(child);
	using clock = std::chrono::steady_clock;
	clock::time_point ended_at;
	bool running = true, others = true, told = false;
	run_status status;
	while (running || (others && !arriving.leave())) {
		signals::wait(tick);
		int waited;
		pid_t ended;
		while ((ended = arriving.reap(waited)) > 0)
			if (ended == child) {
				running = false;
				status = status_of(waited);
				ended_at = clock::now();
			}
		others = ended == 0 && !strangers.are_all();
		watch.on_tick();
		if (!running && others && !arriving.leave() && !told &&
		    clock::now() - ended_at > grace) {
			told = true;
			watch.on_left_behind(status.code);
		}
	}
	return status;
}

} // namespace qpattr::tool
