// SPDX-License-Identifier: MIT
#include "lib/preload/trace.hpp"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/planted.hpp"

namespace qpattr::preload {
namespace {

using bytes = unsigned long long;

// What a memfd is for is read while it is written; one that nobody reads takes the
// machine's memory.
constexpr bytes memfd_limit = 64ULL << 20;
constexpr bytes no_limit = ~bytes{0};
constexpr bytes block_len = 512; // of st_blocks

constexpr int open_flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// Of these only the descriptor changes after open_trace().
char path[PATH_MAX];
std::atomic<int> descriptor{-1};
struct stat identity;
bytes limit = no_limit;
int follow_flag = O_NOFOLLOW;

// A descriptor of some process as /proc shows it: a link on purpose.
bool is_descriptor_link(const char *of) noexcept
{
	constexpr const char *prefix = "/proc/";
	if (std::strncmp(of, prefix, std::strlen(prefix)) != 0)
		return false;
	const char *const after = std::strchr(of + std::strlen(prefix), '/');
	return after && std::strncmp(after, "/fd/", 4) == 0 && !std::strchr(after + 4, '/');
}

// With the directory in front: a program may change to another one.
bool keep_path(const char *given) noexcept
{
	std::size_t len = 0;
	if (*given != '/') {
		if (!::getcwd(path, sizeof path))
			return false;
		len = std::strlen(path);
		if (len + 1 < sizeof path)
			path[len++] = '/';
	}
	if (len + std::strlen(given) >= sizeof path) {
		errno = ENAMETOOLONG;
		return false;
	}
	std::memcpy(path + len, given, std::strlen(given) + 1);
	return true;
}

bool same_file(const struct stat &a, const struct stat &b) noexcept
{
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Out of the way of a program that expects its descriptors to be numbered from 3, or
// that closes those; but not where the table of descriptors would become large.
int moved_up(int fd) noexcept
{
	constexpr rlim_t highest = 1024, room = 32;
	rlimit files;
	if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
		return fd;
	const rlim_t top = files.rlim_cur < highest ? files.rlim_cur : highest;
	const int high =
		top > 2 * room ? ::fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(top - room)) : -1;
	if (high < 0)
		return fd;
	::close(fd);
	return high;
}

// The one that is open, or opened again if the program closed it: only the same file.
int current(struct stat &file) noexcept
{
	const int before = descriptor.load(std::memory_order_relaxed);
	if (before >= 0) {
		if (::fstat(before, &file) == 0) {
			if (same_file(file, identity))
				return before;
		} else if (errno != EBADF) {
			return -1; // it is ours still
		}
	}
	int fd = ::open(path, open_flags | follow_flag);
	if (fd < 0)
		return -1;
	if (::fstat(fd, &file) != 0 || !same_file(file, identity)) {
		::close(fd);
		errno = ESTALE;
		return -1;
	}
	fd = moved_up(fd);
	int expected = before;
	if (!descriptor.compare_exchange_strong(expected, fd)) {
		// Another thread was faster. The old number is the program's now, or
		// nobody's: it is not closed.
		::close(fd);
		fd = expected;
	}
	return fd;
}

// The directory of `path`, looked at as it is now; what is opened then is opened there.
class parent {
public:
	parent() noexcept
	{
		char *const slash = std::strrchr(path, '/');
		name_ = slash + 1;
		const char first = *name_;
		*name_ = '\0';
		fd_ = ::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		*name_ = first;
		if (fd_ >= 0 && ::fstat(fd_, &is_) != 0)
			is_.st_mode = S_IFDIR | 0777; // not known: not trusted
	}
	~parent()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	parent(const parent &) = delete;
	parent &operator=(const parent &) = delete;

	[[nodiscard]] int open(int flags) const noexcept
	{
		if (fd_ >= 0 && !*name_)
			errno = EISDIR;
		return fd_ < 0 || !*name_ ? -1 : ::openat(fd_, name_, flags, 0600);
	}
	[[nodiscard]] bool look_at(struct stat &file) const noexcept
	{
		return ::fstatat(fd_, name_, &file, AT_SYMLINK_NOFOLLOW) == 0;
	}
	[[nodiscard]] planted judge(const struct stat &file) const noexcept
	{
		return qpattr::judge(is_, file, ::geteuid());
	}

private:
	char *name_;
	int fd_;
	struct stat is_ = {};
};

bool is_memfd(int fd, const struct stat &file) noexcept
{
	return S_ISREG(file.st_mode) && file.st_nlink == 0 && ::fcntl(fd, F_GET_SEALS) >= 0;
}

// write(2), and the signal that comes with some of its errors, taken away again: the
// default of both ends the program.
ssize_t write_quietly(int fd, const char *line, std::size_t len) noexcept
{
	sigset_t before, ours;
	::sigemptyset(&before);
	::sigpending(&before);
	const ssize_t written = ::write(fd, line, len);
	if (written >= 0 || (errno != EPIPE && errno != EFBIG))
		return written;
	const int code = errno;
	const int signal = code == EPIPE ? SIGPIPE : SIGXFSZ;
	if (!::sigismember(&before, signal)) {
		constexpr timespec at_once{};
		::sigemptyset(&ours);
		::sigaddset(&ours, signal);
		::sigtimedwait(&ours, nullptr, &at_once);
	}
	errno = code;
	return written;
}

} // namespace

bool parse_limit(const char *text, bytes &out) noexcept
{
	bytes value = 0;
	const char *at = text;
	for (; *at >= '0' && *at <= '9'; ++at) {
		if (value > (no_limit - 9) / 10)
			return false;
		value = value * 10 + static_cast<unsigned>(*at - '0');
	}
	if (at == text || *at)
		return false;
	out = value;
	return true;
}

bool open_trace(const char *given, const char *limit_text, attr::text &why) noexcept
{
	const auto refused = [&](const char *text) noexcept {
		why.add("QPATTR_TRACE: nothing is traced: cannot open ").add(given).add(": ").add(text);
		path[0] = '\0';
		return false;
	};
	const auto failed = [&](int code) noexcept {
		return refused(code == ELOOP ? "it is a symbolic link; name the file itself"
					     : std::strerror(code));
	};
	bytes asked = no_limit;
	if (limit_text && !parse_limit(limit_text, asked)) {
		why.add("QPATTR_TRACE: nothing is traced: QPATTR_TRACE_LIMIT=")
			.add(limit_text)
			.add(" is not a number of bytes");
		return false;
	}
	if (!keep_path(given))
		return failed(errno);
	const bool link = is_descriptor_link(path);
	follow_flag = link ? 0 : O_NOFOLLOW;
	const parent in;
	const int fd = in.open(open_flags | follow_flag | (link ? 0 : O_CREAT));
	const int code = errno;
	const bool known = fd < 0 && !link && in.look_at(identity);
	// Without a reader; it may come.
	const bool waiting = known && code == ENXIO && S_ISFIFO(identity.st_mode);
	if (fd < 0 && !waiting) // of a stranger's link in /tmp the kernel says EACCES
		return failed(known && S_ISLNK(identity.st_mode) ? ELOOP : code);
	if (fd >= 0 && ::fstat(fd, &identity) != 0) {
		const int unknown = errno;
		::close(fd);
		return failed(unknown);
	}
	if (const planted what = in.judge(identity); what != planted::no && !link) {
		if (fd >= 0)
			::close(fd);
		return refused(text_of(what));
	}
	if (waiting)
		return true;
	// In another PID namespace that process is another, and its descriptors are anything.
	if (link && !is_memfd(fd, identity)) {
		::close(fd);
		why.add("QPATTR_TRACE: nothing is traced: ").add(given)
			.add(" is no memfd: the process of that number is another here");
		path[0] = '\0';
		return false;
	}
	limit = limit_text ? asked : is_memfd(fd, identity) ? memfd_limit : no_limit;
	descriptor.store(moved_up(fd), std::memory_order_relaxed);
	return true;
}

bool tracing() noexcept
{
	return path[0] != '\0';
}

const char *trace_path() noexcept
{
	return path;
}

int write_trace(const char *line, std::size_t len, bool &torn) noexcept
{
	struct stat file;
	const int fd = current(file);
	if (fd < 0)
		return errno;
	if (S_ISREG(file.st_mode) && static_cast<bytes>(file.st_blocks) * block_len >= limit)
		return at_limit;
	const ssize_t written = write_quietly(fd, line, len);
	if (written < 0)
		return errno;
	torn = static_cast<std::size_t>(written) != len;
	return torn ? ENOSPC : 0;
}

} // namespace qpattr::preload
