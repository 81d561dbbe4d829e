// SPDX-License-Identifier: MIT
// The seam to the kernel: the one system call of the hot path.
//
// The archive and the shared library write through libc, so that a program's
// own wrapper of write(2) sees their commands. The preload object, built with
// QPATTR_DIRECT_SYSCALL, enters the kernel itself: libc's write is a
// cancellation point, which in a program with threads costs two function calls
// and two atomic operations each time.
#pragma once

#include <cerrno>
#include <cstddef>
#include <sys/syscall.h>
#include <unistd.h>

namespace qpattr::sys {

#if defined(QPATTR_DIRECT_SYSCALL) && defined(__x86_64__) && !defined(__ILP32__)
#define QPATTR_HAS_DIRECT_SYSCALL 1
#else
#define QPATTR_HAS_DIRECT_SYSCALL 0
#endif

// Returns what the kernel returns: the bytes written, or a negative errno.
// errno itself is untouched where the call is direct.
[[gnu::always_inline]] inline long write(int fd, const void *data, std::size_t len) noexcept
{
#if QPATTR_HAS_DIRECT_SYSCALL
	long written = 1; // __NR_write
	// "memory": the kernel reads the command and writes the reply.
	asm volatile("syscall"
		     : "+a"(written)
		     : "D"(fd), "S"(data), "d"(len)
		     : "rcx", "r11", "memory");
	return written;
#elif defined(QPATTR_DIRECT_SYSCALL)
	const long written = ::syscall(SYS_write, fd, data, len); // no cancellation point
	return written < 0 ? -errno : written;
#else
	const long written = ::write(fd, data, len);
	return written < 0 ? -errno : written;
#endif
}

} // namespace qpattr::sys
