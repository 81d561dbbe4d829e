// SPDX-License-Identifier: MIT
// Prints every answer of rdma_getaddrinfo() in full. The program is linked once
// with stock's library and once with ours; compare.py holds the outputs together.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.hpp"
#include "layout.hpp"

namespace {

void print_address(const char *name, const sockaddr *address, socklen_t len)
{
	std::printf(", %s (%u)", name, len);
	if (!address) {
		std::printf(" NULL");
		return;
	}
	std::printf(" ");
	const auto *bytes = static_cast<const unsigned char *>(static_cast<const void *>(address));
	for (socklen_t i = 0; i < len; ++i)
		std::printf("%02x", bytes[i]);
}

const char *text_or_null(const char *text)
{
	return text ? text : "NULL";
}

void print_answer(const rdma_addrinfo &a)
{
	std::printf("  flags 0x%x, family %d, type %d, space 0x%x",
		    static_cast<unsigned>(a.ai_flags), a.ai_family, a.ai_qp_type,
		    static_cast<unsigned>(a.ai_port_space));
	print_address("source", a.ai_src_addr, a.ai_src_len);
	print_address("destination", a.ai_dst_addr, a.ai_dst_len);
	std::printf(", names %s %s, route (%zu) %s, data (%zu) %s\n",
		    text_or_null(a.ai_src_canonname), text_or_null(a.ai_dst_canonname),
		    a.ai_route_len, a.ai_route ? "set" : "NULL", a.ai_connect_len,
		    a.ai_connect ? "set" : "NULL");
}

void ask(const question &q)
{
	rdma_addrinfo mark{};
	rdma_addrinfo *list = &mark;
	errno = 0;
	const int returned =
		rdma_getaddrinfo(q.node, q.service, q.hints, q.no_result ? nullptr : &list);
	const int code = errno;
	std::printf("  returned %d", returned);
	// Otherwise errno tells nothing, and the resolver leaves all kinds of it.
	if (returned == -1 || returned == EAI_SYSTEM)
		std::printf(" %s", strerrorname_np(code));
	std::printf("%s\n", list == &mark ? ", result untouched" : "");
	if (list == &mark)
		return;
	for (const rdma_addrinfo *a = list; a; a = a->ai_next)
		print_answer(*a);
	rdma_freeaddrinfo(list);
}

void ask_apart(const question &q)
{
	std::fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		ask(q);
		std::fflush(stdout);
		_exit(0);
	}
	int status = 0;
	if (child < 0 || waitpid(child, &status, 0) != child) {
		std::perror("addrinfo: fork");
		std::exit(125);
	}
	if (WIFSIGNALED(status))
		std::printf("  killed by signal %d\n", WTERMSIG(status));
}

} // namespace

int main()
{
	static char buffer[1 << 16];
	std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	// The crashes are foreseen, nobody wants their cores.
	const rlimit none{};
	setrlimit(RLIMIT_CORE, &none);

	print_layout();
	for_each_question([](const question &q) {
		std::printf("case %s | %s\n", q.group.c_str(), q.name.c_str());
		if (q.deadly)
			ask_apart(q);
		else
			ask(q);
	});
	std::puts("case NULL | rdma_freeaddrinfo(NULL)");
	rdma_freeaddrinfo(nullptr);
	std::puts("  returned");
	return std::fflush(stdout) == 0 ? 0 : 1;
}
