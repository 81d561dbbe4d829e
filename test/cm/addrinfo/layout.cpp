// SPDX-License-Identifier: MIT
#include "layout.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <infiniband/ib.h>
#include <initializer_list>
#include <sys/socket.h>

namespace {

void print_address(const char *name, const ib_addr &a)
{
	ib_addr other{};
	other.sib_raw[15] = 1;
	const int order = ib_addr_cmp(&a, &other);
	std::printf("  %s: any %d, loopback %d, against ::1 %s\n", name, ib_addr_any(&a) != 0,
		    ib_addr_loopback(&a) != 0, order < 0 ? "less" : order > 0 ? "more" : "equal");
}

} // namespace

#define OFFSET(type, field) \
	std::printf("  " #type "." #field " at %zu, %zu bytes\n", offsetof(type, field), \
		    sizeof(static_cast<type *>(nullptr)->field))

void print_layout()
{
	std::puts("case <infiniband/ib.h> | constants and layout");
	std::printf("  AF_IB %d, PF_IB %d\n", AF_IB, PF_IB);
	std::printf("  ib_addr %zu bytes, aligned to %zu\n", sizeof(ib_addr), alignof(ib_addr));
	OFFSET(ib_addr, sib_addr8);
	OFFSET(ib_addr, sib_addr16);
	OFFSET(ib_addr, sib_addr32);
	OFFSET(ib_addr, sib_addr64);
	OFFSET(ib_addr, sib_raw);
	OFFSET(ib_addr, sib_subnet_prefix);
	OFFSET(ib_addr, sib_interface_id);
	std::printf("  sockaddr_ib %zu bytes, aligned to %zu\n", sizeof(sockaddr_ib),
		    alignof(sockaddr_ib));
	OFFSET(sockaddr_ib, sib_family);
	OFFSET(sockaddr_ib, sib_pkey);
	OFFSET(sockaddr_ib, sib_flowinfo);
	OFFSET(sockaddr_ib, sib_addr);
	OFFSET(sockaddr_ib, sib_sid);
	OFFSET(sockaddr_ib, sib_sid_mask);
	OFFSET(sockaddr_ib, sib_scope_id);

	std::puts("case <infiniband/ib.h> | functions");
	ib_addr a{};
	print_address("::", a);
	for (std::size_t byte = 0; byte < sizeof a; ++byte)
		for (unsigned bit : {1U, 2U, 0x80U}) {
			std::memset(&a, 0, sizeof a);
			a.sib_raw[byte] = static_cast<unsigned char>(bit);
			char name[32];
			std::snprintf(name, sizeof name, "byte %zu is 0x%x", byte, bit);
			print_address(name, a);
		}
	ib_addr_set(&a, 0x01020304, 0x05060708, 0x090a0b0c, 0x0d0e0f10);
	std::printf("  set:");
	for (unsigned char byte : a.sib_raw)
		std::printf(" %02x", byte);
	std::puts("");
}
