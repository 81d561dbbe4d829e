// SPDX-License-Identifier: MIT
#include "lib/preload/diagnostics.hpp"

#include <atomic>
#include <cstring>
#include <unistd.h>

#include "lib/say.hpp"

namespace qpattr::preload {
namespace {

// Whether a line was asked for and none was printed yet: who serves can change
// once, from stock in a shortage to qpattr, and one line is promised.
bool first_asked() noexcept
{
	static std::atomic<bool> said{false};
	return debug_asked() && !said.exchange(true, std::memory_order_relaxed);
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
