// SPDX-License-Identifier: MIT
#include "lib/preload/connection.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <endian.h>

#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

#include "lib/preload/memory.hpp"

namespace qpattr::preload {
namespace {

static_assert(sizeof(rdma_cm_id) == public_id_len);

// Reads a thing by its address; false where it is not there.
class reader {
public:
	explicit reader(bool believe) noexcept : believe_{believe} {}

	template <class T> bool read(const T *from, T &to) const noexcept
	{
		return read(from, &to, sizeof to);
	}
	template <class T> bool read_carefully(const T *from, T &to) const noexcept
	{
		return memory{}.read(reinterpret_cast<std::uintptr_t>(from), &to, sizeof to) ==
		       sizeof to;
	}

private:
	bool read(const void *from, void *to, std::size_t len) const noexcept
	{
		if (!believe_)
			return memory{}.read(reinterpret_cast<std::uintptr_t>(from), to, len) ==
			       len;
		std::memcpy(to, from, len);
		return true;
	}

	bool believe_;
};

void copy_name(char (&to)[IBV_SYSFS_NAME_MAX], const char (&from)[IBV_SYSFS_NAME_MAX]) noexcept
{
	std::memcpy(to, from, sizeof to);
	to[sizeof to - 1] = '\0';
}

endpoint endpoint_of(const sockaddr_storage &from) noexcept
{
	endpoint end;
	const void *const at = &from;
	switch (from.ss_family) {
	case AF_INET: {
		sockaddr_in in;
		std::memcpy(&in, at, sizeof in);
		end.kind = endpoint::family::ipv4;
		end.port = ntohs(in.sin_port);
		std::memcpy(end.address, &in.sin_addr, sizeof in.sin_addr);
		break;
	}
	case AF_INET6: {
		sockaddr_in6 in;
		std::memcpy(&in, at, sizeof in);
		end.kind = endpoint::family::ipv6;
		end.port = ntohs(in.sin6_port);
		end.scope = in.sin6_scope_id;
		std::memcpy(end.address, &in.sin6_addr, sizeof in.sin6_addr);
		break;
	}
	case AF_IB: {
		sockaddr_ib in;
		std::memcpy(&in, at, sizeof in);
		end.kind = endpoint::family::ib;
		end.port = static_cast<std::uint16_t>(be64toh(in.sib_sid));
		std::memcpy(end.address, &in.sib_addr, sizeof in.sib_addr);
		break;
	}
	default:
		break;
	}
	return end;
}

} // namespace

void add_endpoint(attr::text &to, const endpoint &end) noexcept
{
	char line[INET6_ADDRSTRLEN];
	const bool ipv4 = end.kind == endpoint::family::ipv4;
	if (end.kind == endpoint::family::none ||
	    !::inet_ntop(ipv4 ? AF_INET : AF_INET6, end.address, line, sizeof line))
		return;
	if (ipv4)
		to.addf("%s:%u", line, end.port);
	else if (end.scope)
		to.addf("[%s%%%u]:%u", line, end.scope, end.port);
	else
		to.addf("[%s]:%u", line, end.port);
}

connection connection_of(const cm_id *from, bool answered) noexcept
{
	connection all;
	const reader own{answered};
	// The bytes of an id: the header's members are what they are for stock, too.
	rdma_cm_id id;
	if (!own.read(reinterpret_cast<const rdma_cm_id *>(from), id))
		return all;
	all.port_space = static_cast<std::uint32_t>(id.ps);
	all.qp_type = static_cast<std::uint32_t>(id.qp_type);
	all.port = id.port_num;
	all.src = endpoint_of(id.route.addr.src_storage);
	all.dst = endpoint_of(id.route.addr.dst_storage);
	if (id.verbs) {
		ibv_device *device = nullptr;
		char name[IBV_SYSFS_NAME_MAX];
		if (own.read(&id.verbs->device, device) && device &&
		    own.read(&device->name, name)) {
			all.verbs = id.verbs;
			copy_name(all.device, name);
		}
	}
	all.has_qp = id.qp && own.read_carefully(&id.qp->qp_num, all.qp_num);
	return all;
}

} // namespace qpattr::preload
