// SPDX-License-Identifier: MIT
// lib/cm/addrinfo.cpp with the resolver, the allocator and the presence of a
// device scripted: what the resolver is asked, what becomes of its answer, and
// that nothing is lost where memory is short. That the answers are stock's is for
// test/cm/addrinfo, in a machine.
#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <netdb.h>
#include <optional>
#include <set>
#include <vector>

#include "lib/cm/any_device.hpp"

#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

#include "test/support/catch.hpp"

namespace {

struct script {
	bool device = true;

	// The resolver's answer, and what it was asked.
	int refused = 0;
	int resolver_errno = 0;
	addrinfo *answer = nullptr;
	int asked = 0, given_back = 0;
	std::optional<addrinfo> question;

	// The allocation that fails, from 0; and what lives.
	int fail_at = -1, allocations = 0;
	std::set<void *> alive;
};

script now;

// An answer of the resolver with one address.
struct found {
	sockaddr_in in{};
	unsigned char behind[sizeof(sockaddr_in6)]; // whoever reads on gets this
	sockaddr_in6 in6{};
	addrinfo info{};

	explicit found(const char *ipv4, int socktype = SOCK_STREAM)
	{
		std::memset(behind, 0xee, sizeof behind);
		in.sin_family = AF_INET;
		in.sin_port = htons(7471);
		REQUIRE(inet_pton(AF_INET, ipv4, &in.sin_addr) == 1);
		use(AF_INET, &in, sizeof in, socktype);
	}
	found(const char *ipv6, std::uint32_t scope, std::uint16_t port)
	{
		in6.sin6_family = AF_INET6;
		in6.sin6_port = htons(port);
		in6.sin6_flowinfo = htonl(0x12345);
		in6.sin6_scope_id = scope;
		REQUIRE(inet_pton(AF_INET6, ipv6, &in6.sin6_addr) == 1);
		use(AF_INET6, &in6, sizeof in6, SOCK_STREAM);
	}
	found(const found &) = delete;
	found &operator=(const found &) = delete;

private:
	void use(int family, void *address, socklen_t len, int socktype)
	{
		info.ai_family = family;
		info.ai_socktype = socktype;
		info.ai_addr = static_cast<sockaddr *>(address);
		info.ai_addrlen = len;
		now.answer = &info;
	}
};

rdma_addrinfo hints(int flags, int family = 0, int qp_type = 0, int port_space = 0)
{
	rdma_addrinfo h{};
	h.ai_flags = flags;
	h.ai_family = family;
	h.ai_qp_type = qp_type;
	h.ai_port_space = port_space;
	return h;
}

rdma_addrinfo untouched;

int ask(const char *node, const rdma_addrinfo *h, rdma_addrinfo *&out)
{
	out = &untouched;
	return rdma_getaddrinfo(node, node ? "7471" : nullptr, h, &out);
}

} // namespace

bool qpattr::cm::any_device() noexcept
{
	return now.device;
}

extern "C" {

int __wrap_getaddrinfo(const char *, const char *, const addrinfo *asked, addrinfo **list);
void __wrap_freeaddrinfo(addrinfo *list);
void *__real_calloc(std::size_t count, std::size_t size);
void *__wrap_calloc(std::size_t count, std::size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

int __wrap_getaddrinfo(const char *, const char *, const addrinfo *asked, addrinfo **list)
{
	++now.asked;
	now.question.reset();
	if (asked)
		now.question = *asked;
	*list = now.refused ? nullptr : now.answer;
	errno = now.resolver_errno;
	return now.refused;
}

void __wrap_freeaddrinfo(addrinfo *list)
{
	now.given_back += list == now.answer;
}

void *__wrap_calloc(std::size_t count, std::size_t size)
{
	if (now.allocations++ == now.fail_at) {
		errno = ENOMEM;
		return nullptr;
	}
	void *memory = __real_calloc(count, size);
	now.alive.insert(memory);
	return memory;
}

void __wrap_free(void *memory)
{
	now.alive.erase(memory);
	__real_free(memory);
}

} // extern "C"

TEST_CASE("nothing asked, or nobody to ask")
{
	now = {};
	rdma_addrinfo *out = nullptr;
	const rdma_addrinfo empty{};
	CHECK(rdma_getaddrinfo(nullptr, nullptr, nullptr, &out) == -1);
	CHECK(errno == EINVAL);

	now.device = false;
	errno = 0;
	CHECK(rdma_getaddrinfo(nullptr, nullptr, nullptr, &out) == -1);
	CHECK(errno == EINVAL);
	CHECK(ask("10.77.0.1", nullptr, out) == -1);
	CHECK(errno == ENODEV);
	CHECK(out == &untouched);
	CHECK(ask(nullptr, &empty, out) == -1);
	CHECK(errno == ENODEV);
	CHECK(now.asked == 0);
	CHECK(now.allocations == 0);
}

TEST_CASE("what the resolver is asked")
{
	now = {};
	const found one{"10.77.0.1"};
	rdma_addrinfo *out = nullptr;

	REQUIRE(ask("10.77.0.1", nullptr, out) == 0);
	CHECK_FALSE(now.question);
	rdma_freeaddrinfo(out);

	struct {
		int flags, family, type, space;
		int asked_flags, asked_family, asked_type, asked_protocol;
	} const rows[] = {
		{0, 0, 0, 0, 0, 0, 0, 0},
		{RAI_PASSIVE, AF_INET, 0, 0, AI_PASSIVE, AF_INET, 0, 0},
		{RAI_NUMERICHOST, AF_INET6, 0, 0, AI_NUMERICHOST, AF_INET6, 0, 0},
		{RAI_NOROUTE | RAI_FAMILY, AF_IB, 0, 0, 0, AF_UNSPEC, 0, 0},
		{-1, 99, 0, 0, AI_PASSIVE | AI_NUMERICHOST, 99, 0, 0},
		{0, 0, IBV_QPT_RC, 0, 0, 0, SOCK_STREAM, 0},
		{0, 0, IBV_QPT_UC, RDMA_PS_TCP, 0, 0, SOCK_STREAM, IPPROTO_TCP},
		{0, 0, IBV_QPT_XRC_SEND, RDMA_PS_IB, 0, 0, SOCK_STREAM, IPPROTO_TCP},
		{0, 0, IBV_QPT_XRC_RECV, RDMA_PS_UDP, 0, 0, SOCK_STREAM, IPPROTO_UDP},
		{0, 0, IBV_QPT_UD, RDMA_PS_IB, 0, 0, SOCK_DGRAM, IPPROTO_UDP},
		{0, 0, IBV_QPT_UD, RDMA_PS_TCP, 0, 0, SOCK_DGRAM, IPPROTO_TCP},
		{0, 0, 0, RDMA_PS_IPOIB, 0, 0, 0, IPPROTO_UDP},
		{0, 0, IBV_QPT_RAW_PACKET, RDMA_PS_IB, 0, 0, 0, 0},
		{0, 0, 99, 0x999, 0, 0, 0, 0},
	};
	for (const auto &row : rows) {
		const rdma_addrinfo h = hints(row.flags, row.family, row.type, row.space);
		INFO("flags " << row.flags << ", family " << row.family << ", type " << row.type
			      << ", space " << row.space);
		REQUIRE(ask("10.77.0.1", &h, out) == 0);
		rdma_freeaddrinfo(out);
		REQUIRE(now.question);
		CHECK(now.question->ai_flags == row.asked_flags);
		CHECK(now.question->ai_family == row.asked_family);
		CHECK(now.question->ai_socktype == row.asked_type);
		CHECK(now.question->ai_protocol == row.asked_protocol);
	}
	CHECK(now.alive.empty());
}

TEST_CASE("what the resolver refuses is told as it says it")
{
	now = {};
	rdma_addrinfo *out = nullptr;
	for (int code : {EAI_NONAME, EAI_AGAIN, EAI_SERVICE, EAI_SOCKTYPE, EAI_FAMILY, EAI_MEMORY}) {
		now.refused = code;
		CHECK(ask("nobody", nullptr, out) == code);
		CHECK(out == &untouched);
	}
	now.refused = EAI_SYSTEM;
	now.resolver_errno = EMFILE;
	CHECK(ask("nobody", nullptr, out) == EAI_SYSTEM);
	CHECK(errno == EMFILE);
	// A refusal comes before a result that nobody takes is noticed.
	now.refused = EAI_NONAME;
	CHECK(rdma_getaddrinfo("nobody", nullptr, nullptr, nullptr) == EAI_NONAME);
	CHECK(now.alive.empty());
	CHECK(now.given_back == 0);

	// Never seen, and yet no crash: success without an address.
	now.refused = 0;
	CHECK(ask("nobody", nullptr, out) == -1);
	CHECK(errno == ENODATA);
	CHECK(out == &untouched);
	CHECK(now.alive.empty());
}

TEST_CASE("an answer: type and port space")
{
	struct {
		int socktype, type, space, got_type, got_space;
	} const rows[] = {
		{SOCK_STREAM, 0, 0, IBV_QPT_RC, RDMA_PS_TCP},
		{SOCK_DGRAM, 0, 0, IBV_QPT_UD, RDMA_PS_UDP},
		{SOCK_DGRAM, 0, RDMA_PS_IPOIB, IBV_QPT_UD, RDMA_PS_IPOIB},
		{SOCK_STREAM, IBV_QPT_XRC_SEND, 0, IBV_QPT_XRC_SEND, RDMA_PS_TCP},
		{SOCK_DGRAM, 99, 0, 99, RDMA_PS_UDP},
		{SOCK_STREAM, -1, 0x999, -1, 0x999},
	};
	for (const auto &row : rows) {
		now = {};
		const found one{"10.77.0.1", row.socktype};
		const rdma_addrinfo h = hints(RAI_NOROUTE, 0, row.type, row.space);
		rdma_addrinfo *out = nullptr;
		errno = 7;
		REQUIRE(ask("10.77.0.1", &h, out) == 0);
		CHECK(errno == 7);
		CHECK(out->ai_qp_type == row.got_type);
		CHECK(out->ai_port_space == row.got_space);
		CHECK(out->ai_flags == 0);
		CHECK(out->ai_family == AF_INET);
		CHECK(out->ai_next == nullptr);
		CHECK(now.given_back == 1);
		rdma_freeaddrinfo(out);
		CHECK(now.alive.empty());
	}
}

TEST_CASE("an answer: addresses")
{
	now = {};
	const found one{"10.77.0.1"};
	sockaddr_in own{};
	own.sin_family = AF_INET;
	own.sin_port = htons(5);
	rdma_addrinfo h = hints(0);
	h.ai_src_addr = h.ai_dst_addr = reinterpret_cast<sockaddr *>(&own);
	h.ai_src_len = sizeof own;
	h.ai_dst_len = 4;
	rdma_addrinfo *out = nullptr;

	// Active: the hints' source, the resolver's destination.
	REQUIRE(ask("10.77.0.1", &h, out) == 0);
	REQUIRE(out->ai_src_len == sizeof own);
	CHECK(std::memcmp(out->ai_src_addr, &own, sizeof own) == 0);
	REQUIRE(out->ai_dst_len == sizeof one.in);
	CHECK(std::memcmp(out->ai_dst_addr, &one.in, sizeof one.in) == 0);
	rdma_freeaddrinfo(out);

	// Passive: the resolver's address is the source, the hints' do not count.
	h.ai_flags = RAI_PASSIVE;
	REQUIRE(ask("10.77.0.1", &h, out) == 0);
	CHECK(out->ai_flags == RAI_PASSIVE);
	REQUIRE(out->ai_src_len == sizeof one.in);
	CHECK(std::memcmp(out->ai_src_addr, &one.in, sizeof one.in) == 0);
	CHECK(out->ai_dst_addr == nullptr);
	CHECK(out->ai_dst_len == 0);
	rdma_freeaddrinfo(out);

	// Nothing to look up: all as it was given, at lengths as given.
	h = hints(0x7fffffff, 99, 77, 0x999);
	h.ai_src_addr = h.ai_dst_addr = reinterpret_cast<sockaddr *>(&own);
	h.ai_src_len = sizeof own;
	h.ai_dst_len = 4;
	h.ai_route = h.ai_connect = &own;
	h.ai_route_len = h.ai_connect_len = sizeof own;
	now.asked = 0;
	REQUIRE(ask(nullptr, &h, out) == 0);
	CHECK(now.asked == 0);
	CHECK(out->ai_flags == 0x7fffffff);
	CHECK(out->ai_family == 99);
	CHECK(out->ai_qp_type == 77);
	CHECK(out->ai_port_space == 0x999);
	REQUIRE(out->ai_src_len == sizeof own);
	CHECK(std::memcmp(out->ai_src_addr, &own, sizeof own) == 0);
	REQUIRE(out->ai_dst_len == 4);
	CHECK(std::memcmp(out->ai_dst_addr, &own, 4) == 0);
	CHECK(out->ai_route == nullptr);
	CHECK(out->ai_connect == nullptr);
	rdma_freeaddrinfo(out);

	// A length without an address is refused where stock would read it.
	h = hints(0);
	h.ai_src_len = sizeof own;
	for (const char *node : {static_cast<const char *>(nullptr), "10.77.0.1"}) {
		CHECK(ask(node, &h, out) == -1);
		CHECK(errno == EINVAL);
		CHECK(out == &untouched);
	}
	CHECK(now.alive.empty());
}

TEST_CASE("an answer: a GID")
{
	constexpr int both = RAI_NUMERICHOST | RAI_FAMILY;
	rdma_addrinfo *out = nullptr;
	const auto gid = [&] {
		sockaddr_ib ib{};
		REQUIRE(out->ai_family == AF_IB);
		REQUIRE(out->ai_dst_len == sizeof ib);
		std::memcpy(&ib, out->ai_dst_addr, sizeof ib);
		rdma_freeaddrinfo(out);
		return ib;
	};

	now = {};
	{
		const found one{"fe80::1:2", 7, 7471};
		const rdma_addrinfo h = hints(both, AF_IB, 0, -1);
		REQUIRE(ask("fe80::1:2", &h, out) == 0);
		const sockaddr_ib ib = gid();
		CHECK(ib.sib_family == AF_IB);
		CHECK(ib.sib_pkey == 0xffff);
		CHECK(ib.sib_flowinfo == htonl(0x12345));
		CHECK(std::memcmp(&ib.sib_addr, &one.in6.sin6_addr, 16) == 0);
		CHECK(ib.sib_sid == htobe64(0xffffffff0000 | 7471));
		CHECK(ib.sib_sid_mask == ~__be64{0});
		CHECK(ib.sib_scope_id == 7);
	}
	{
		const found one{"fe80::1:2", 0, 0};
		const rdma_addrinfo h = hints(both, AF_IB);
		REQUIRE(ask("fe80::1:2", &h, out) == 0);
		const sockaddr_ib ib = gid();
		CHECK(ib.sib_sid == htobe64(RDMA_IB_IP_PS_TCP));
		CHECK(ib.sib_sid_mask == htobe64(RDMA_IB_IP_PS_MASK));
	}
	{
		// Nothing behind the 16 bytes is read.
		const found one{"10.77.0.1"};
		const rdma_addrinfo h = hints(both, AF_IB);
		REQUIRE(ask("10.77.0.1", &h, out) == 0);
		const sockaddr_ib ib = gid();
		CHECK(ib.sib_flowinfo == one.in.sin_addr.s_addr);
		CHECK(ib_addr_any(&ib.sib_addr));
		CHECK(ib.sib_scope_id == 0);
	}
	for (int flags : {0, RAI_NUMERICHOST, RAI_FAMILY}) {
		const found one{"fe80::1:2", 0, 0};
		const rdma_addrinfo h = hints(flags, AF_IB);
		REQUIRE(ask("fe80::1:2", &h, out) == 0);
		CHECK(out->ai_family == AF_INET6);
		CHECK(out->ai_dst_len == sizeof(sockaddr_in6));
		rdma_freeaddrinfo(out);
	}
	CHECK(now.alive.empty());
}

TEST_CASE("no memory: ENOMEM, and everything is given back")
{
	sockaddr_in own{};
	rdma_addrinfo h = hints(RAI_NUMERICHOST | RAI_FAMILY, AF_IB);
	h.ai_src_addr = h.ai_dst_addr = reinterpret_cast<sockaddr *>(&own);
	h.ai_src_len = h.ai_dst_len = sizeof own;
	for (const char *node : {static_cast<const char *>(nullptr), "fe80::1"}) {
		int step = 0;
		for (;; ++step) {
			now = {};
			const found one{"fe80::1", 0, 1};
			now.fail_at = step;
			rdma_addrinfo *out = nullptr;
			const int returned = ask(node, &h, out);
			if (returned == 0) {
				rdma_freeaddrinfo(out);
				break;
			}
			CHECK(returned == -1);
			CHECK(errno == ENOMEM);
			CHECK(out == &untouched);
			CHECK(now.alive.empty());
			CHECK(now.given_back == now.asked);
		}
		CHECK(step == 3); // the answer and its two addresses
		CHECK(now.alive.empty());
	}
}

TEST_CASE("a result that nobody takes, a list that is none")
{
	now = {};
	const found one{"10.77.0.1"};
	CHECK(rdma_getaddrinfo("10.77.0.1", nullptr, nullptr, nullptr) == -1);
	CHECK(errno == EINVAL);
	CHECK(now.given_back == 1);
	CHECK(now.alive.empty());
	rdma_freeaddrinfo(nullptr);
}

TEST_CASE("rdma_freeaddrinfo gives back the whole list, with what others put in")
{
	now = {};
	rdma_addrinfo *first = nullptr;
	for (int i = 0; i < 3; ++i) {
		auto *a = static_cast<rdma_addrinfo *>(std::calloc(1, sizeof(rdma_addrinfo)));
		a->ai_src_addr = static_cast<sockaddr *>(std::calloc(1, 16));
		a->ai_dst_addr = static_cast<sockaddr *>(std::calloc(1, 16));
		a->ai_src_canonname = static_cast<char *>(std::calloc(1, 16));
		a->ai_dst_canonname = static_cast<char *>(std::calloc(1, 16));
		a->ai_route = std::calloc(1, 16);
		a->ai_connect = std::calloc(1, 16);
		a->ai_next = first;
		first = a;
	}
	CHECK(now.alive.size() == 21);
	rdma_freeaddrinfo(first);
	CHECK(now.alive.empty());
}
