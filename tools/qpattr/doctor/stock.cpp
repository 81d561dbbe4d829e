// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/stock.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/companion.hpp"
#include "tools/qpattr/common/program.hpp"
#include "tools/resolved.hpp"
#include "tools/stock_version.hpp"

extern char **environ;

namespace qpattr::tool::doctor {
namespace {

constexpr const char *library = "librdmacm.so.1";
constexpr std::chrono::seconds limit{20};

// The version nodes that a loaded object defines. glibc relocates some addresses of the
// dynamic section and not others.
std::vector<std::string> nodes_of(const link_map &of)
{
	const auto address = [&](ElfW(Addr) value) { return value < of.l_addr ? value + of.l_addr : value; };
	ElfW(Addr) defined = 0, strings = 0;
	ElfW(Xword) count = 0;
	for (const ElfW(Dyn) *each = of.l_ld; each->d_tag != DT_NULL; ++each)
		switch (each->d_tag) {
		case DT_VERDEF:
			defined = address(each->d_un.d_ptr);
			break;
		case DT_VERDEFNUM:
			count = each->d_un.d_val;
			break;
		case DT_STRTAB:
			strings = address(each->d_un.d_ptr);
			break;
		}
	std::vector<std::string> out;
	for (; defined && strings && count; --count) {
		const auto *const is = reinterpret_cast<const ElfW(Verdef) *>(defined);
		const auto *const name =
			reinterpret_cast<const ElfW(Verdaux) *>(defined + is->vd_aux);
		// The first is the object's own name.
		if (!(is->vd_flags & VER_FLG_BASE))
			out.emplace_back(reinterpret_cast<const char *>(strings) + name->vda_name);
		if (!is->vd_next)
			break;
		defined += is->vd_next;
	}
	return out;
}

class pipe_of {
public:
	pipe_of() { open_ = ::pipe2(ends_, O_CLOEXEC) == 0; }
	~pipe_of()
	{
		close_write();
		if (open_)
			::close(ends_[0]);
	}
	pipe_of(const pipe_of &) = delete;
	pipe_of &operator=(const pipe_of &) = delete;

	void close_write()
	{
		if (open_ && ends_[1] >= 0)
			::close(ends_[1]);
		ends_[1] = -1;
	}
	[[nodiscard]] int read_end() const { return open_ ? ends_[0] : -1; }
	[[nodiscard]] int write_end() const { return ends_[1]; }

private:
	int ends_[2] = {-1, -1};
	bool open_ = false;
};

// The environment with these before what is there.
std::vector<char *> environment_with(std::vector<std::string> &first)
{
	std::vector<char *> out;
	for (std::string &each : first)
		out.push_back(each.data());
	for (char **each = environ; *each; ++each)
		// What traces or overrides, or preloads something else, is not what is tried.
		if (std::strncmp(*each, "QPATTR_", 7) != 0 && std::strncmp(*each, "LD_", 3) != 0)
			out.push_back(*each);
	out.push_back(nullptr);
	return out;
}

// Reads both until they end or the time does.
bool read_both(int out, std::string &output, int err, std::string &said)
{
	using clock = std::chrono::steady_clock;
	const auto deadline = clock::now() + limit;
	pollfd waiting[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
	std::string *const texts[] = {&output, &said};
	while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
		const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
			deadline - clock::now());
		if (left.count() <= 0)
			return false;
		if (::poll(waiting, 2, static_cast<int>(left.count())) < 0 && errno != EINTR)
			return false;
		for (int i = 0; i < 2; ++i) {
			if (!waiting[i].revents)
				continue;
			std::array<char, 4096> piece;
			const ssize_t got = ::read(waiting[i].fd, piece.data(), piece.size());
			if (got <= 0)
				waiting[i].fd = -1;
			else
				texts[i]->append(piece.data(), static_cast<std::size_t>(got));
		}
	}
	return true;
}

interception run(std::string program, const std::string &preload)
{
	interception is;
	pipe_of out, err;
	posix_spawn_file_actions_t actions;
	::posix_spawn_file_actions_init(&actions);
	::posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
	::posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
	std::vector<std::string> first{"LD_PRELOAD=" + preload, "QPATTR_DEBUG=1"};
	std::vector<char *> environment = environment_with(first);
	char *arguments[] = {program.data(), nullptr};
	pid_t child = -1;
	const int refused = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments,
					  environment.data());
	::posix_spawn_file_actions_destroy(&actions);
	if (refused) {
		is.why_not = program + ": " + std::strerror(refused);
		return is;
	}
	is.tried = true;
	out.close_write();
	err.close_write();
	is.timed_out = !read_both(out.read_end(), is.output, err.read_end(), is.said);
	if (is.timed_out)
		::kill(child, SIGKILL);
	int status = 0;
	// One that sleeps in the kernel may not end at all: it is left to init.
	while (::waitpid(child, &status, is.timed_out ? WNOHANG : 0) < 0 && errno == EINTR)
		;
	is.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return is;
}

} // namespace

stock_library look_at_stock()
{
	stock_library out;
	void *const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		out.error = ::dlerror();
		return out;
	}
	link_map *map = nullptr;
	if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map) {
		out.path = resolved_or(map->l_name, map->l_name);
		out.version = stock_version_in(out.path);
		out.nodes = nodes_of(*map);
	}
	out.has_function = ::dlvsym(handle, "rdma_init_qp_attr", "RDMACM_1.2") != nullptr;
	::dlclose(handle);
	return out;
}

interception try_interception(const machine &of)
{
	interception out;
	if (of.cm.error)
		out.why_not = "without the connection manager's device nothing can be tried out";
	else if (!of.stock.error.empty())
		out.why_not = "without librdmacm there is nothing to intercept";
	if (!out.why_not.empty())
		return out;
	try {
		const std::string program = companion("/tools/qpattr", "doctor/qpattr-witness",
						      "../" QPATTR_LIBEXEC "/qpattr/qpattr-witness");
		if (!program.empty())
			return run(program, find_preload_object());
		out.why_not = "qpattr-witness, which tries it out, is not installed: this qpattr was "
			      "built without librdmacm's headers";
		return out;
	} catch (const unusable &what) {
		out.why_not = what.wrong;
		out.fix = what.fix;
		return out;
	}
}

} // namespace qpattr::tool::doctor
