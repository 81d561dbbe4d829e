// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/spool.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"

namespace qpattr::tool {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;
constexpr std::uint64_t page_bytes = 4096;

// Out of the way of programs that count on low numbers of their own is the traced
// side's business; here only the name matters.
std::string own_path(int fd)
{
	return fmt::format("/proc/{}/fd/{}", ::getpid(), fd);
}

// Never to be executed, which kernels before 6.3 do not know.
int make()
{
	constexpr unsigned never_executed = 8; // MFD_NOEXEC_SEAL, with which seals are allowed
	constexpr const char *name = "qpattr-trace";
	const int fd = ::memfd_create(name, MFD_CLOEXEC | never_executed);
	return fd < 0 && errno == EINVAL ? ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING) : fd;
}

} // namespace

spool::spool() : fd_{make()}
{
	if (fd_ < 0)
		throw failure{
			fmt::format("cannot make the file for the trace: {}", std::strerror(errno))};
	path_ = own_path(fd_);
	if (::access(path_.c_str(), W_OK) != 0) {
		::close(fd_);
		throw failure{fmt::format("cannot reach {}: {}; trace needs /proc", path_,
					  std::strerror(errno))};
	}
}

spool::~spool()
{
	::close(fd_);
}

void spool::drain(const std::function<void(std::string_view)> &on_line)
{
	const auto piece = std::make_unique<char[]>(piece_bytes);
	for (;;) {
		const ssize_t got = ::pread(fd_, piece.get(), piece_bytes, static_cast<off_t>(read_));
		if (got <= 0)
			break;
		read_ += static_cast<std::uint64_t>(got);
		rest_.append(piece.get(), static_cast<std::size_t>(got));
		std::size_t begin = 0;
		for (std::size_t end; (end = rest_.find('\n', begin)) != std::string::npos;
		     begin = end + 1)
			on_line(std::string_view{rest_}.substr(begin, end - begin));
		rest_.erase(0, begin);
		// Whole pages only: a hole in part of one is written with zeros instead.
		const std::uint64_t whole = read_ / page_bytes * page_bytes;
		if (whole > released_ &&
		    ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				static_cast<off_t>(released_),
				static_cast<off_t>(whole - released_)) == 0)
			released_ = whole;
	}
}

void spool::close(const std::function<void(std::string_view)> &on_line)
{
	::fcntl(fd_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW);
	drain(on_line); // what it gives back, a sealed file keeps; it ends with its last reader
}

} // namespace qpattr::tool
