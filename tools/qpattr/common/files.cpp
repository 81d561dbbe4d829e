// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"

namespace qpattr::tool {

std::string read_whole(const std::string &path, std::string_view called, int missing_status)
{
	const bool standard = path == "-";
	const std::unique_ptr<std::FILE, int (*)(std::FILE *)> opened{
		standard ? nullptr : std::fopen(path.c_str(), "re"), std::fclose};
	std::FILE *const file = standard ? stdin : opened.get();
	if (!file)
		throw failure{fmt::format("cannot read {}: {}", called, std::strerror(errno)),
			      errno == ENOENT ? missing_status : failed_status};
	std::string out;
	char piece[65536];
	while (const std::size_t got = std::fread(piece, 1, sizeof piece, file))
		out.append(piece, got);
	if (std::ferror(file))
		throw failure{fmt::format("cannot read {}: {}", called, std::strerror(errno))};
	return out;
}

bool write_all(int fd, std::string_view text)
{
	while (!text.empty()) {
		const ssize_t written = ::write(fd, text.data(), text.size());
		if (written < 0 && errno == EAGAIN) {
			pollfd writable{fd, POLLOUT, 0};
			::poll(&writable, 1, -1);
			continue;
		}
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		text.remove_prefix(static_cast<std::size_t>(written));
	}
	return true;
}

void raise_event(int fd)
{
	// Of a descriptor of our own it fails by a fault that passes, or by one of ours.
	for (int tries = 0; tries < 1000; ++tries)
		if (::eventfd_write(fd, 1) == 0)
			return;
	std::fprintf(stderr, "qpattr: cannot wake a thread, and will not wait for it: %s\n",
		     std::strerror(errno));
	std::abort();
}

bool put_out(std::string_view text)
{
	return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
	       std::fflush(stdout) == 0;
}

void print(std::string_view text)
{
	if (!put_out(text))
		throw failure{"cannot write to the standard output: is the disk full, or the reader "
			      "gone?"};
}

} // namespace qpattr::tool
