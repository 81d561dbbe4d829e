// SPDX-License-Identifier: MIT
#include "tools/companion.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/resolved.hpp"

namespace qpattr {
namespace {

struct stat looked_at(const std::string &path)
{
	struct stat is;
	if (::stat(path.c_str(), &is) != 0)
		throw unusable{"cannot look at " + path + ": " + std::strerror(errno), "install qpattr whole"};
	return is;
}

// Who may replace the program that runs is trusted by whoever runs it: somebody who
// installs for all, as on a cluster, or a group that builds together. With the sticky bit
// its members replace only what is their own.
void insist_on_own(const std::string &path, const struct stat &home)
{
	const struct stat is = looked_at(path);
	if (is.st_uid != 0 && is.st_uid != ::geteuid() && is.st_uid != home.st_uid)
		throw unusable{path + " belongs to another user, and would be run as you",
			       "install qpattr whole where only you or root may write"};
	const bool same_group = (home.st_mode & S_IWGRP) && !(home.st_mode & S_ISVTX) &&
				is.st_gid == home.st_gid;
	if ((is.st_mode & S_IWOTH) || ((is.st_mode & S_IWGRP) && !same_group))
		throw unusable{path + " can be written by others, and would be run as you",
			       "chmod go-w " + path};
}

} // namespace

std::string own_dir()
{
	char path[PATH_MAX];
	const ssize_t len = ::readlink("/proc/self/exe", path, sizeof path);
	const std::string self{path, len > 0 ? static_cast<std::size_t>(len) : 0};
	return self.substr(0, self.rfind('/'));
}

std::string companion(std::string_view room, const std::string &built, const std::string &installed)
{
	const std::string dir = own_dir();
	std::string path;
	// Of an installed program `built` is nobody's place: of /scratch/qpattr/bin it is
	// in /scratch/lib.
	if (dir.ends_with(room))
		path = resolved(dir + "/" + built);
	if (path.empty())
		path = resolved(dir + "/" + installed);
	if (path.empty())
		return path;
	const struct stat home = looked_at(dir);
	insist_on_own(path, home);
	insist_on_own(path.substr(0, path.rfind('/') + 1), home);
	return path;
}

} // namespace qpattr
