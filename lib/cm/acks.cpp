// SPDX-License-Identifier: MIT
#include "lib/cm/acks.hpp"

#include <cerrno>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/say.hpp"

namespace qpattr::cm {
namespace {

constexpr std::uint32_t waited_for = 0x80000000U;

// How this system call has a time, a relative one. libc's timespec is another where
// longs have 32 bits and libc's times 64.
struct kernel_time {
	long seconds;
	long nanoseconds;
};

long futex(std::atomic<std::uint32_t> &word, int op, std::uint32_t value,
	   const kernel_time *time) noexcept
{
	return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t *>(&word), op, value, time,
			 nullptr, 0);
}

// Counts are compared within 31 bits, going round.
bool reached(std::uint32_t acked, std::uint32_t delivered) noexcept
{
	return (((acked - delivered) & ~waited_for) < waited_for / 2);
}

} // namespace

void acknowledge(std::atomic<std::uint32_t> &acked) noexcept
{
	std::uint32_t seen = acked.load(std::memory_order_relaxed);
	// Who is woken and is still not content says again that somebody waits.
	while (!acked.compare_exchange_weak(seen, (seen + 1) & ~waited_for,
					    std::memory_order_acq_rel))
		;
	if (seen & waited_for)
		futex(acked, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr);
}

void await_acks(std::atomic<std::uint32_t> &acked, std::uint32_t delivered, const char *what,
		std::uint32_t handle) noexcept
{
	std::uint32_t seen = acked.load(std::memory_order_acquire);
	bool told = false;
	while (!reached(seen, delivered)) {
		constexpr kernel_time patience{2, 0};
		const std::uint32_t asleep = seen | waited_for;
		if (seen != asleep &&
		    !acked.compare_exchange_weak(seen, asleep, std::memory_order_acq_rel))
			continue;
		if (futex(acked, FUTEX_WAIT_PRIVATE, asleep, told ? nullptr : &patience) != 0 &&
		    errno == ETIMEDOUT) {
			say("%s of id %u waits for %u event(s) that were read and not "
			    "acknowledged (rdma_ack_cm_event)",
			    what, handle, (delivered - seen) & ~waited_for);
			told = true;
		}
		seen = acked.load(std::memory_order_acquire);
	}
}

kept::kept(std::atomic<std::uint32_t> &acked) noexcept : acked_{acked}
{
	std::uint32_t seen = acked.load(std::memory_order_relaxed);
	while (!acked.compare_exchange_weak(seen, ((seen - 1) & ~waited_for) | (seen & waited_for),
					    std::memory_order_acq_rel))
		;
}

} // namespace qpattr::cm
