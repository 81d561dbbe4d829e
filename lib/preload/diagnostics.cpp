// SPDX-License-Identifier: MIT
#include "lib/preload/diagnostics.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/say.hpp"

namespace qpattr::preload {
namespace {

std::atomic<bool> said{false};

// Whether a line was asked for and none was printed yet: who serves can change
// once, from stock in a shortage to qpattr, and one line is promised.
bool first_asked() noexcept
{
	return debug_asked() && !said.exchange(true, std::memory_order_relaxed);
}

// Whether a text stands in a file of /proc. Searched through in pieces that
// overlap; stdio would allocate, which is not ours to do at the end of a process.
bool file_has(const char *path, const char *text) noexcept
{
	const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const std::size_t len = std::strlen(text);
	char piece[8192];
	std::size_t kept = 0;
	bool found = false;
	for (;;) {
		const ssize_t got = ::read(fd, piece + kept, sizeof piece - kept);
		if (got <= 0)
			break;
		const std::size_t all = kept + static_cast<std::size_t>(got);
		found = ::memmem(piece, all, text, len) != nullptr;
		if (found)
			break;
		kept = all < len - 1 ? all : len - 1;
		std::memmove(piece, piece + all - kept, kept);
	}
	::close(fd);
	return found;
}

// Whose rdma_init_qp_attr the program and its libraries are bound to, if not ours.
const char *comes_first() noexcept
{
	Dl_info ours, theirs;
	void *const first = ::dlsym(RTLD_DEFAULT, "rdma_init_qp_attr");
	if (!first || !::dladdr(first, &theirs) || !::dladdr(&said, &ours) ||
	    ours.dli_fbase == theirs.dli_fbase)
		return nullptr;
	return theirs.dli_fname;
}

// A process that could have called and whose calls, if any, went past: those of
// other namespaces and of a librdmacm linked statically cannot be seen from here,
// but the files that they need can.
[[gnu::destructor]] void report_none() noexcept
{
	constexpr const char *maps = "/proc/self/maps";
	if (said.load(std::memory_order_relaxed) || !debug_asked() ||
	    (!file_has(maps, "/librdmacm") && !file_has(maps, "/libibverbs") &&
	     !file_has("/proc/self/exe", "/dev/infiniband/")))
		return;
	// Then all librdmacm is in other namespaces, of which the auditor told.
	if (file_has(maps, "/libqpattr-audit") && file_has(maps, "/librdmacm") &&
	    !stock{}.init_qp_attr)
		return;
	if (const char *other = comes_first())
		say("rdma_init_qp_attr was not called through qpattr (pid %d): %s has one of its "
		    "own, which comes first",
		    static_cast<int>(::getpid()), other);
	else
		say("rdma_init_qp_attr was not called through qpattr (pid %d): not at all, or "
		    "past it",
		    static_cast<int>(::getpid()));
}

} // namespace

void report_found(std::size_t offset) noexcept
{
	if (first_asked())
		say("rdma_init_qp_attr is served by qpattr (pid %d; handle at byte %zu of "
		    "librdmacm's ids)",
		    static_cast<int>(::getpid()), offset);
}

void report_stock(const discovery &why) noexcept
{
	if (first_asked())
		say("rdma_init_qp_attr is served by stock librdmacm (pid %d): %s%s%s",
		    static_cast<int>(::getpid()), obstacle_text(why.what), why.code ? ": " : "",
		    why.code ? std::strerror(why.code) : "");
}

} // namespace qpattr::preload
