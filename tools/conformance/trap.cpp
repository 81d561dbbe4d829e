// SPDX-License-Identifier: MIT
#include "tools/conformance/trap.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tools/conformance/report.hpp"

namespace conformance {
namespace {

#ifdef __x86_64__

// Far above what the program has open, so that no other file gets the number.
constexpr int trapped_fd = 900;

std::span<const unsigned char> reply_bytes;
long reply_result;

// The command's frame: a header of 8 bytes, then the pointer for the response.
constexpr std::size_t response_at = 8;

void on_trap(int, siginfo_t *, void *context)
{
	greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
	registers[REG_RAX] = reply_result == trap::whole ? registers[REG_RDX] : reply_result;
	if (reply_result < 0 && reply_result != trap::whole)
		return;
	std::uint64_t response;
	std::memcpy(&response,
		    reinterpret_cast<const unsigned char *>(registers[REG_RSI]) + response_at,
		    sizeof response);
	std::memcpy(reinterpret_cast<void *>(response), reply_bytes.data(), reply_bytes.size());
}

void install()
{
	const auto low_half = static_cast<std::uint32_t>(offsetof(seccomp_data, args[0]));
	sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_half),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, trapped_fd, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const sock_fprog filter{sizeof program / sizeof *program, program};
	struct sigaction action {};
	action.sa_sigaction = on_trap;
	action.sa_flags = SA_SIGINFO;
	if (::sigaction(SIGSYS, &action, nullptr) != 0 ||
	    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		throw unavailable(std::string{"no seccomp filter: "} + std::strerror(errno));
}

#endif

} // namespace

#ifdef __x86_64__

trap::trap() : fd_{trapped_fd}
{
	const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || ::dup3(null, trapped_fd, O_CLOEXEC) < 0)
		throw unavailable(std::string{"no descriptor for scripted answers: "} +
				  std::strerror(errno));
	::close(null);
	install();
}

void trap::answer(std::span<const unsigned char> reply, long result) noexcept
{
	reply_bytes = reply;
	reply_result = result;
}

#else

trap::trap() : fd_{-1}
{
	throw unavailable("scripted answers are for x86-64");
}

void trap::answer(std::span<const unsigned char>, long) noexcept {}

#endif

} // namespace conformance
