// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace qpattr::preload {

// Whether memory can be read at an address, without touching it: the kernel
// reads the set of signals before it refuses the unknown operation.
[[nodiscard]] inline bool is_readable(const void *at) noexcept
{
	constexpr int no_operation = -1;
	constexpr std::size_t kernel_sigset_len = 8;
	::syscall(SYS_rt_sigprocmask, no_operation, at, nullptr, kernel_sigset_len);
	return errno != EFAULT;
}

// Reads our own memory, which may not be there: the kernel does, which cannot
// crash, and of which memcheck does not complain; where that is forbidden, the
// pages are probed first.
class memory {
public:
	// Returns how much of it was there.
	std::size_t read(std::uintptr_t start, void *to, std::size_t len) const noexcept
	{
		const std::uintptr_t next_page = (start / page_len_ + 1) * page_len_;
		const std::size_t here = next_page - start < len ? next_page - start : len;

		// Two pieces, for two pages: a piece is read whole or not at all.
		const iovec local{to, len};
		const iovec remote[] = {{reinterpret_cast<void *>(start), here},
					{reinterpret_cast<void *>(next_page), len - here}};
		const ssize_t got = ::process_vm_readv(process_, &local, 1, remote, 2, 0);
		if (got >= 0)
			return static_cast<std::size_t>(got);
		if (errno == EFAULT || !is_readable(remote[0].iov_base))
			return 0;
		const std::size_t all = here == len || is_readable(remote[1].iov_base) ? len : here;
		std::memcpy(to, remote[0].iov_base, all);
		return all;
	}

private:
	pid_t process_ = ::getpid();
	std::uintptr_t page_len_ = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
};

} // namespace qpattr::preload
