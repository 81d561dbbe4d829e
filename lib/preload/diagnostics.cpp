// SPDX-License-Identifier: MIT
#include "lib/preload/diagnostics.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace qpattr::preload {
namespace {

// Whether a line was asked for and none was printed yet: who serves can change
// once, from stock in a shortage to qpattr, and one line is promised.
bool asked() noexcept
{
	static std::atomic<bool> said{false};
	const char *value = ::secure_getenv("QPATTR_DEBUG");
	if (!value || !*value || std::strcmp(value, "0") == 0)
		return false;
	return !said.exchange(true, std::memory_order_relaxed);
}

// One line, one write: lines of threads do not mix, and the host's stdio is not
// touched.
void say(const char *line, int len) noexcept
{
	if (len > 0 && ::write(STDERR_FILENO, line, static_cast<std::size_t>(len)) < 0)
		return; // nobody to tell
}

} // namespace

void report_found(std::size_t offset) noexcept
{
	if (!asked())
		return;
	char line[160];
	say(line, std::snprintf(line, sizeof line,
				"qpattr: rdma_init_qp_attr is served by qpattr (pid %d; handle at "
				"byte %zu of librdmacm's ids)\n",
				static_cast<int>(::getpid()), offset));
}

void report_stock(const discovery &why) noexcept
{
	if (!asked())
		return;
	char line[320];
	say(line, std::snprintf(line, sizeof line,
				"qpattr: rdma_init_qp_attr is served by stock librdmacm (pid %d): "
				"%s%s%s\n",
				static_cast<int>(::getpid()), obstacle_text(why.what),
				why.code ? ": " : "", why.code ? std::strerror(why.code) : ""));
}

} // namespace qpattr::preload
