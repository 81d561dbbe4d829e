// SPDX-License-Identifier: MIT
#include "tools/written_file.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/planted.hpp"

namespace qpattr {
namespace {

constexpr const char *changed = "it has become another file";

bool is_same(const struct stat &one, const struct stat &other)
{
	return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

[[noreturn]] void refuse(const std::string &path, const char *why)
{
	throw std::runtime_error{"cannot write " + path + ": " + why};
}

// The last part of a path in its directory, which stays the same whatever is renamed.
class place {
public:
	explicit place(const std::string &path) : path_{path}
	{
		const std::size_t slash = path.rfind('/');
		dir_ = slash == std::string::npos ? "." : path.substr(0, slash + 1);
		name_ = path.substr(slash + 1);
		fd_ = ::open(dir_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd_ < 0 || ::fstat(fd_, &is_) != 0)
			refuse(path, std::strerror(errno));
	}
	~place() { ::close(fd_); }
	place(const place &) = delete;
	place &operator=(const place &) = delete;

	// False if there is no such file.
	[[nodiscard]] bool look_at(struct stat &file) const
	{
		if (::fstatat(fd_, name_.c_str(), &file, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
		if (errno != ENOENT || name_.empty())
			refuse(path_, std::strerror(name_.empty() ? EISDIR : errno));
		return false;
	}
	void insist_on_own(const struct stat &file) const
	{
		if (const planted what = judge(is_, file, ::geteuid()); what != planted::no)
			refuse(path_, text_of(what));
	}
	// Those of /proc are no names: /dev/stderr.
	[[nodiscard]] bool is_proc() const
	{
		struct statfs on;
		return ::fstatfs(fd_, &on) == 0 && on.f_type == PROC_SUPER_MAGIC;
	}
	[[nodiscard]] bool has_planted(const struct stat &link) const
	{
		return !is_dev() && is_planted_link(is_, link, ::geteuid());
	}
	[[nodiscard]] std::string link_target() const
	{
		std::string out(PATH_MAX, '\0');
		const ssize_t len = ::readlinkat(fd_, name_.c_str(), out.data(), out.size());
		if (len < 0)
			refuse(path_, std::strerror(errno));
		out.resize(static_cast<std::size_t>(len));
		return out.rfind('/', 0) == 0 || dir_ == "." ? out : dir_ + out;
	}
	void remove() const
	{
		if (::unlinkat(fd_, name_.c_str(), 0) != 0)
			throw std::runtime_error{"cannot remove " + path_ + ", which was left there: " +
						 std::strerror(errno)};
	}
	[[nodiscard]] int open(int flags, mode_t mode) const
	{
		return ::openat(fd_, name_.c_str(), flags | O_WRONLY | O_CLOEXEC | O_NOCTTY, mode);
	}

private:
	// Root's by its name, of which every part is: in a user namespace all that belongs to
	// users who are not in it, root's as any other's, is shown as nobody's.
	[[nodiscard]] bool is_dev() const
	{
		return dir_ == "/dev/" && !(is_.st_mode & (S_IWGRP | S_IWOTH));
	}

	std::string path_, dir_, name_;
	int fd_;
	struct stat is_;
};

// Of a descriptor that /proc shows as a link: a pipe has no name, and a file that was
// removed has none any more.
bool is_name_of(const std::string &name, const std::string &descriptor)
{
	struct stat named, is;
	return ::stat(descriptor.c_str(), &is) == 0 && S_ISREG(is.st_mode) &&
	       ::lstat(name.c_str(), &named) == 0 && is_same(named, is);
}

} // namespace

std::string written_path(const std::string &path)
{
	constexpr int links_max = 40;
	std::string at = path;
	for (int i = 0; i < links_max; ++i) {
		const place here{at};
		struct stat is;
		if (!here.look_at(is))
			return at;
		if (!S_ISLNK(is.st_mode)) {
			here.insist_on_own(is);
			return at;
		}
		const std::string target = here.link_target();
		if (here.is_proc() && !is_name_of(target, at))
			return at;
		if (here.has_planted(is))
			refuse(at, "it is a symbolic link, in a directory that others may write, or that "
				   "is another user's; name the file itself");
		at = target;
	}
	refuse(path, std::strerror(ELOOP));
}

int open_to_write(const std::string &path, mode_t mode)
{
	const place here{path};
	struct stat before, now;
	// Looked at first: opening a FIFO waits for its reader.
	const bool there = here.look_at(before);
	const bool link = there && S_ISLNK(before.st_mode);
	if (link && !here.is_proc())
		refuse(path, "it is a symbolic link; remove it, or name another file");
	if (there && !link)
		here.insist_on_own(before);
	const int fd = here.open(!there ? O_CREAT | O_EXCL : link ? 0 : O_NOFOLLOW, mode);
	if (fd < 0)
		refuse(path, std::strerror(errno));
	if (there && !link && (::fstat(fd, &now) != 0 || !is_same(now, before))) {
		::close(fd);
		refuse(path, changed);
	}
	return fd;
}

int open_in_place_of(const std::string &path, int fd, mode_t mode)
{
	const place here{path};
	struct stat named, is;
	if (!here.look_at(named) || ::fstat(fd, &is) != 0 || !is_same(named, is))
		refuse(path, changed);
	here.insist_on_own(named);
	here.remove();
	const int made = here.open(O_CREAT | O_EXCL, mode);
	if (made < 0)
		refuse(path, std::strerror(errno));
	return made;
}

bool is_still_at(const std::string &path, int fd)
{
	struct stat named, is;
	return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &is) == 0 && is_same(named, is);
}

} // namespace qpattr
