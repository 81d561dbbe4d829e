// SPDX-License-Identifier: MIT
// rdma_getaddrinfo(): getaddrinfo(3), asked for a socket that would carry the
// same, and its first answer as an RDMA program wants it. No daemon is asked for
// InfiniBand paths (stock asks ibacm where one runs): ai_route stays empty and
// rdma_resolve_route() finds the path.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <endian.h>
#include <netdb.h>
#include <netinet/in.h>

#include "lib/cm/any_device.hpp"
#include "lib/cm/edge.hpp"

#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

using namespace qpattr::cm;

namespace {

// An answer in the making: freed unless it is handed out.
class answer {
public:
	answer() noexcept
		: made_{static_cast<rdma_addrinfo *>(std::calloc(1, sizeof(rdma_addrinfo)))}
	{
	}
	~answer() { rdma_freeaddrinfo(made_); }
	answer(const answer &) = delete;
	answer &operator=(const answer &) = delete;

	explicit operator bool() const noexcept { return made_; }
	rdma_addrinfo *operator->() const noexcept { return made_; }

	[[nodiscard]] rdma_addrinfo *hand_out() noexcept
	{
		rdma_addrinfo *out = made_;
		made_ = nullptr;
		return out;
	}

private:
	rdma_addrinfo *made_;
};

// The resolver's list.
struct resolved {
	addrinfo *first = nullptr;
	resolved() = default;
	~resolved()
	{
		if (first)
			::freeaddrinfo(first);
	}
	resolved(const resolved &) = delete;
	resolved &operator=(const resolved &) = delete;
};

// A copy of an address into a field of an answer: 0, or the errno of the trouble.
int copy(sockaddr *&field, socklen_t &field_len, const void *from, socklen_t len) noexcept
{
	if (!len)
		return 0;
	if (!from)
		return EINVAL;
	auto *to = static_cast<sockaddr *>(std::calloc(1, len));
	if (!to)
		return ENOMEM;
	std::memcpy(to, from, len);
	field = to;
	field_len = len;
	return 0;
}

int copy_source(answer &to, const rdma_addrinfo &hints) noexcept
{
	return copy(to->ai_src_addr, to->ai_src_len, hints.ai_src_addr, hints.ai_src_len);
}

int copy_destination(answer &to, const rdma_addrinfo &hints) noexcept
{
	return copy(to->ai_dst_addr, to->ai_dst_len, hints.ai_dst_addr, hints.ai_dst_len);
}

int socktype_of(int qp_type) noexcept
{
	switch (qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return SOCK_STREAM;
	case IBV_QPT_UD:
		return SOCK_DGRAM;
	default:
		return 0;
	}
}

// The port space RDMA_PS_IB serves both kinds: there the type decides.
int protocol_of(int port_space, int socktype) noexcept
{
	const auto of_type = [socktype] {
		return socktype == SOCK_STREAM ? IPPROTO_TCP
		       : socktype == SOCK_DGRAM ? IPPROTO_UDP
						: 0;
	};
	switch (port_space) {
	case RDMA_PS_TCP:
		return IPPROTO_TCP;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return IPPROTO_UDP;
	case RDMA_PS_IB:
		return of_type();
	default:
		return 0;
	}
}

addrinfo question(const rdma_addrinfo &hints) noexcept
{
	addrinfo asked{};
	if (hints.ai_flags & RAI_PASSIVE)
		asked.ai_flags |= AI_PASSIVE;
	if (hints.ai_flags & RAI_NUMERICHOST)
		asked.ai_flags |= AI_NUMERICHOST;
	// The resolver knows nothing of AF_IB: any address will do.
	asked.ai_family = hints.ai_family == AF_IB ? AF_UNSPEC : hints.ai_family;
	asked.ai_socktype = socktype_of(hints.ai_qp_type);
	asked.ai_protocol = protocol_of(hints.ai_port_space, asked.ai_socktype);
	return asked;
}

// AF_IB is a reading of a numeric IPv6 address as a GID.
bool wants_gid(const rdma_addrinfo *hints) noexcept
{
	constexpr int needed = RAI_NUMERICHOST | RAI_FAMILY;
	return hints && hints->ai_family == AF_IB && (hints->ai_flags & needed) == needed;
}

// Stock takes any address for a sockaddr_in6. Of an IPv4 one that makes a GID
// which is none, but the same bytes here as there; where stock goes on into
// foreign memory, ours has zeros.
sockaddr_ib gid_of(const addrinfo &found, int port_space) noexcept
{
	sockaddr_in6 numeric{};
	const std::size_t len = found.ai_addrlen;
	std::memcpy(&numeric, found.ai_addr, len < sizeof numeric ? len : sizeof numeric);

	sockaddr_ib gid{};
	gid.sib_family = AF_IB;
	gid.sib_pkey = 0xffff;
	gid.sib_flowinfo = numeric.sin6_flowinfo;
	std::memcpy(&gid.sib_addr, &numeric.sin6_addr, sizeof gid.sib_addr);
	const std::uint64_t space = static_cast<std::uint32_t>(port_space);
	gid.sib_sid = htobe64(space << 16 | be16toh(numeric.sin6_port));
	// Port 0: any port of the port space.
	gid.sib_sid_mask = numeric.sin6_port ? ~__be64{0} : htobe64(RDMA_IB_IP_PS_MASK);
	gid.sib_scope_id = numeric.sin6_scope_id;
	return gid;
}

int take(answer &to, const addrinfo &found, const rdma_addrinfo *hints) noexcept
{
	const bool datagram = found.ai_socktype == SOCK_DGRAM;
	const bool passive = hints && hints->ai_flags & RAI_PASSIVE;
	to->ai_flags = passive ? RAI_PASSIVE : 0;
	to->ai_qp_type = hints && hints->ai_qp_type ? hints->ai_qp_type
			 : datagram		    ? IBV_QPT_UD
						    : IBV_QPT_RC;
	to->ai_port_space = hints && hints->ai_port_space ? hints->ai_port_space
			    : datagram			  ? RDMA_PS_UDP
							  : RDMA_PS_TCP;

	sockaddr *&field = passive ? to->ai_src_addr : to->ai_dst_addr;
	socklen_t &field_len = passive ? to->ai_src_len : to->ai_dst_len;
	if (wants_gid(hints)) {
		const sockaddr_ib gid = gid_of(found, to->ai_port_space);
		to->ai_family = AF_IB;
		return copy(field, field_len, &gid, sizeof gid);
	}
	to->ai_family = found.ai_family;
	return copy(field, field_len, found.ai_addr, found.ai_addrlen);
}

// 0, an EAI_ code, or -1 with errno set.
int look_up(answer &to, const char *node, const char *service, const rdma_addrinfo *hints) noexcept
{
	// No hints are not the same as empty ones: they stand for AI_ADDRCONFIG.
	const addrinfo asked = hints ? question(*hints) : addrinfo{};
	resolved list;
	if (const int refused = ::getaddrinfo(node, service, hints ? &asked : nullptr, &list.first))
		return refused;
	int trouble = list.first ? take(to, *list.first, hints) : ENODATA;
	if (!trouble && hints && !(hints->ai_flags & RAI_PASSIVE))
		trouble = copy_source(to, *hints);
	return trouble ? refuse(trouble) : 0;
}

// Nothing to look up: the answer is what the caller knows already.
int repeat(answer &to, const rdma_addrinfo &hints) noexcept
{
	to->ai_flags = hints.ai_flags;
	to->ai_family = hints.ai_family;
	to->ai_qp_type = hints.ai_qp_type;
	to->ai_port_space = hints.ai_port_space;
	int trouble = copy_source(to, hints);
	if (!trouble)
		trouble = copy_destination(to, hints);
	return trouble ? refuse(trouble) : 0;
}

} // namespace

extern "C" int rdma_getaddrinfo(const char *node, const char *service, const rdma_addrinfo *hints,
				rdma_addrinfo **res)
{
	if (!node && !service && !hints)
		return refuse(EINVAL);
	const int before = errno;
	if (!any_device())
		return refuse(ENODEV);

	answer made;
	if (!made)
		return refuse(ENOMEM);
	const int refused = node || service ? look_up(made, node, service, hints)
					    : repeat(made, *hints);
	if (refused) {
		// The other codes tell all themselves.
		if (refused != -1 && refused != EAI_SYSTEM)
			errno = before;
		return refused;
	}
	// Last, as stock: where there is no answer, it is that which is told.
	if (!res)
		return refuse(EINVAL);
	*res = made.hand_out();
	errno = before;
	return 0;
}

extern "C" void rdma_freeaddrinfo(rdma_addrinfo *res)
{
	while (res) {
		rdma_addrinfo *next = res->ai_next;
		std::free(res->ai_src_addr);
		std::free(res->ai_dst_addr);
		std::free(res->ai_src_canonname);
		std::free(res->ai_dst_canonname);
		std::free(res->ai_route);
		std::free(res->ai_connect);
		std::free(res);
		res = next;
	}
}
