// SPDX-License-Identifier: MIT
#include "lib/preload/warn.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/preload/undisturbed.hpp"

namespace qpattr::preload {
namespace {

struct stat known;

} // namespace

void know_stderr() noexcept
{
	if (::fstat(STDERR_FILENO, &known) != 0)
		known.st_ino = 0;
}

void warn(const attr::text &line) noexcept
{
	const int saved = errno;
	{
		const undisturbed guard;
		attr::text_of<640> whole;
		whole.add("qpattr: ").add(line.c_str(), line.size()).add('\n');
		pollfd room{STDERR_FILENO, POLLOUT, 0};
		if (::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT)) [[maybe_unused]]
			const auto told = ::write(STDERR_FILENO, whole.c_str(), whole.size());
	}
	errno = saved;
}

void warn_at_end(const attr::text &line) noexcept
{
	struct stat now;
	if (known.st_ino && ::fstat(STDERR_FILENO, &now) == 0 && now.st_ino == known.st_ino &&
	    now.st_dev == known.st_dev)
		warn(line);
}

} // namespace qpattr::preload
