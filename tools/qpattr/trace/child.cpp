// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/child.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"

extern char **environ;

namespace qpattr::tool {
namespace {

constexpr int tick_ms = 50;
// Most of what a program leaves behind ends at once.
constexpr auto grace = std::chrono::milliseconds{500};
constexpr std::array handed_on{SIGINT,	SIGQUIT, SIGTERM, SIGHUP,
			       SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

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
			 const sigset_t &mask, int tell)
{
	::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
	::execve(plan.path.c_str(), arguments, environment);
	const int code = errno;
	[[maybe_unused]] const auto told = ::write(tell, &code, sizeof code);
	::_exit(127);
}

pid_t start(const start_plan &plan, const sigset_t &mask)
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
		       const_cast<char **>(environment.data()), mask, ends[1]);
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

// Which signals come as something to read, while this lives.
class signals {
public:
	signals()
	{
		sigset_t watched;
		::sigemptyset(&watched);
		for (const int each : handed_on)
			if (!ignored(each))
				::sigaddset(&watched, each);
		::sigaddset(&watched, SIGCHLD);
		::pthread_sigmask(SIG_BLOCK, &watched, &before_);
		fd_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	}
	~signals()
	{
		::close(fd_);
		::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
	}
	signals(const signals &) = delete;
	signals &operator=(const signals &) = delete;

	[[nodiscard]] const sigset_t &before() const { return before_; }
	// Up to a tick.
	void wait() const
	{
		pollfd readable{fd_, POLLIN, 0};
		::poll(&readable, 1, tick_ms);
	}
	[[nodiscard]] bool next(signalfd_siginfo &to) const
	{
		return ::read(fd_, &to, sizeof to) == static_cast<ssize_t>(sizeof to);
	}

private:
	// As nohup leaves SIGHUP: then it is ignored by the program too.
	static bool ignored(int signal)
	{
		struct sigaction is;
		return ::sigaction(signal, nullptr, &is) == 0 && !(is.sa_flags & SA_SIGINFO) &&
		       is.sa_handler == SIG_IGN;
	}

	sigset_t before_;
	int fd_ = -1;
};

// The terminal sends to all of its foreground, hence to the program too.
bool of_terminal(const signalfd_siginfo &what)
{
	return what.ssi_code == SI_KERNEL;
}

int status_of(int waited)
{
	return WIFSIGNALED(waited) ? 128 + WTERMSIG(waited) : WEXITSTATUS(waited);
}

} // namespace

int run_program(const start_plan &plan, const child_watch &watch)
{
	// What outlives its parent becomes ours, so that its end can be waited for.
	::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	const signals arriving;
	const pid_t child = start(plan, arriving.before());
	// Where nobody reads what is said here, the program goes on.
	::signal(SIGPIPE, SIG_IGN);
	using clock = std::chrono::steady_clock;
	clock::time_point ended_at;
	bool running = true, others = true, told = false, leave = false;
	int status = 0;
	while ((running || others) && !leave) {
		arriving.wait();
		signalfd_siginfo what;
		while (arriving.next(what)) {
			const auto number = static_cast<int>(what.ssi_signo);
			if (number == SIGCHLD)
				continue;
			if (running && !of_terminal(what))
				::kill(child, number);
			else if (!running && number != SIGWINCH)
				leave = true;
		}
		int waited;
		pid_t ended;
		while ((ended = ::waitpid(-1, &waited, WNOHANG)) > 0)
			if (ended == child) {
				running = false;
				status = status_of(waited);
				ended_at = clock::now();
			}
		others = ended == 0;
		watch.on_tick();
		if (!running && others && !leave && !told && clock::now() - ended_at > grace) {
			told = true;
			watch.on_left_behind(status);
		}
	}
	return status;
}

} // namespace qpattr::tool
