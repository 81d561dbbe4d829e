// SPDX-License-Identifier: MIT
#include "cases.hpp"

#include <arpa/inet.h>
#include <cstdio>
#include <cstring>
#include <infiniband/ib.h>
#include <initializer_list>
#include <netinet/in.h>
#include <vector>

namespace {

// In the guest an address of the device, elsewhere of nobody: which it is makes
// no difference.
constexpr const char *ipv4 = "10.77.0.1";
constexpr const char *ipv6 = "fd77::1";

std::string shown(const char *text)
{
	return text ? "'" + std::string{text} + "'" : "NULL";
}

std::string number(int value)
{
	char text[16];
	std::snprintf(text, sizeof text, value < 256 && value >= 0 ? "%d" : "0x%x",
		      static_cast<unsigned>(value));
	return text;
}

// An address as hints have it; the length need not be that of the bytes.
struct address {
	const char *name;
	std::vector<unsigned char> bytes;
	socklen_t len;

	[[nodiscard]] bool is_null() const { return bytes.empty(); }
	[[nodiscard]] bool is_deadly() const { return is_null() && len; }
	[[nodiscard]] sockaddr *get() const
	{
		// Hints are only read.
		auto *first = const_cast<unsigned char *>(bytes.data());
		return is_null() ? nullptr : static_cast<sockaddr *>(static_cast<void *>(first));
	}
};

template <class T> std::vector<unsigned char> bytes_of(const T &value, std::size_t room = sizeof(T))
{
	std::vector<unsigned char> bytes(room);
	std::memcpy(bytes.data(), &value, sizeof value);
	return bytes;
}

std::vector<address> addresses()
{
	sockaddr_in in{};
	in.sin_family = AF_INET;
	in.sin_port = htons(77);
	inet_pton(AF_INET, ipv4, &in.sin_addr);
	sockaddr_in6 in6{};
	in6.sin6_family = AF_INET6;
	in6.sin6_port = htons(78);
	in6.sin6_scope_id = 5;
	inet_pton(AF_INET6, ipv6, &in6.sin6_addr);
	sockaddr_ib ib{};
	ib.sib_family = AF_IB;
	ib.sib_pkey = 0xffff;
	ib.sib_addr.sib_raw[0] = 0xfe;
	ib.sib_addr.sib_raw[15] = 9;
	ib.sib_sid = htobe64(0x01061234);
	return {
		{"none", {}, 0},
		{"IPv4", bytes_of(in), sizeof in},
		{"IPv6", bytes_of(in6), sizeof in6},
		{"GID", bytes_of(ib), sizeof ib},
		{"four bytes", bytes_of(in), 4},
		{"100 bytes", bytes_of(in, 100), 100},
		{"no length", bytes_of(in), 0},
		{"NULL with a length", {}, 16},
	};
}

class asker {
public:
	asker(std::string group, const std::function<void(const question &)> &ask)
		: ask_{ask}
	{
		q_.group = std::move(group);
	}

	void operator()(const char *node, const char *service, const rdma_addrinfo *hints,
			const std::string &more = "", bool deadly = false, bool no_result = false)
	{
		q_.node = node;
		q_.service = service;
		q_.hints = hints;
		q_.deadly = deadly;
		q_.no_result = no_result;
		q_.name = "node " + shown(node) + ", service " + shown(service);
		if (!hints)
			q_.name += ", hints NULL";
		else
			q_.name += ", flags " + number(hints->ai_flags) + ", family " +
				   number(hints->ai_family) + ", type " +
				   number(hints->ai_qp_type) + ", space " +
				   number(hints->ai_port_space);
		q_.name += more;
		ask_(q_);
	}

private:
	const std::function<void(const question &)> &ask_;
	question q_;
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

using list = std::initializer_list<const char *>;
using numbers = std::initializer_list<int>;

// With RAI_NUMERICHOST and RAI_FAMILY an address of AF_IB is asked for.
constexpr int gid_flags = RAI_NUMERICHOST | RAI_FAMILY;
constexpr numbers spaces = {0, RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, 0x999, -1};
constexpr numbers types = {0,		      IBV_QPT_RC,	IBV_QPT_UC, IBV_QPT_UD,
			   IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, 99, -1};

void nodes_and_services(asker ask)
{
	for (const char *node :
	     list{nullptr, "", ipv4, "0.0.0.0", "127.0.0.1", "1", "256.1.1.1", ipv6, "::", "::1",
		  "::ffff:1.2.3.4", "fe80::1", "fe80::1%lo", "fe80::1%1", "fe80::1%no-such-link",
		  "no name"})
		for (const char *service : list{nullptr, "", "7471", "0", "65535", "65536", "-1", "0x10"}) {
			const rdma_addrinfo active = hints(0), passive = hints(RAI_PASSIVE);
			ask(node, service, nullptr);
			ask(node, service, &active);
			ask(node, service, &passive);
		}
	for (const char *node : list{nullptr, ipv4})
		for (const char *service : list{"ftp", "no-such-service", "7471 "})
			ask(node, service, nullptr);
}

void names(asker ask)
{
	for (const char *node : list{"localhost", "no.such.host.invalid"})
		for (int flags : {0, RAI_PASSIVE, RAI_NUMERICHOST})
			for (int family : {AF_UNSPEC, AF_INET}) {
				const rdma_addrinfo h = hints(flags, family);
				ask(node, "7471", &h);
			}
	ask("localhost", nullptr, nullptr);
}

void flags_and_families(asker ask)
{
	struct {
		const char *node, *service;
	} const asked[] = {{nullptr, nullptr}, {nullptr, "7471"}, {ipv4, "7471"}, {ipv6, "7471"}};
	for (const auto &[node, service] : asked)
		for (int flags :
		     {0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 14, 15, 0x10, 0x20, 0x30, 0x7fffffff, -1})
			for (int family :
			     {AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6, AF_IB, 99, -1}) {
				const rdma_addrinfo h = hints(flags, family);
				ask(node, service, &h);
			}
}

void types_and_spaces(asker ask)
{
	struct {
		const char *node, *service;
		int flags;
	} const asked[] = {
		{ipv4, "7471", 0}, {ipv4, "7471", RAI_PASSIVE}, {ipv4, nullptr, 0}, {nullptr, nullptr, 0}};
	for (const auto &[node, service, flags] : asked)
		for (int type : types)
			for (int space : spaces) {
				const rdma_addrinfo h = hints(flags, 0, type, space);
				ask(node, service, &h);
			}
	// Services of one kind only: of datagrams, of streams.
	for (const char *service : list{"tftp", "ftp"})
		for (int type : {0, static_cast<int>(IBV_QPT_RC), static_cast<int>(IBV_QPT_UD), 99})
			for (int space : spaces) {
				const rdma_addrinfo h = hints(0, 0, type, space);
				ask(ipv4, service, &h);
			}
	// Which of two mistakes is told.
	for (int family : {AF_UNSPEC, 99})
		for (const char *service : list{"7471", "no-such-service"}) {
			const rdma_addrinfo h = hints(0, family, IBV_QPT_UD, RDMA_PS_TCP);
			ask("no name", service, &h);
		}
}

void addresses_of_hints(asker ask)
{
	const std::vector<address> all = addresses();
	struct {
		const char *node, *service;
		int flags;
	} const asked[] = {{nullptr, nullptr, 0},      {nullptr, nullptr, RAI_PASSIVE},
			   {ipv4, "7471", 0},	       {ipv4, "7471", RAI_PASSIVE},
			   {nullptr, "7471", 0},       {ipv6, nullptr, RAI_NOROUTE | RAI_FAMILY},
			   {ipv4, "no-such-service", 0}};
	for (const auto &[node, service, flags] : asked)
		for (const address &src : all)
			for (const address &dst : all) {
				// One at a time is enough for those that crash stock.
				if (src.is_deadly() && !dst.is_null())
					continue;
				rdma_addrinfo h = hints(flags, AF_UNSPEC, IBV_QPT_UC, RDMA_PS_IB);
				h.ai_src_addr = src.get();
				h.ai_src_len = src.len;
				h.ai_dst_addr = dst.get();
				h.ai_dst_len = dst.len;
				ask(node, service, &h,
				    std::string{", source "} + src.name + ", destination " + dst.name,
				    src.is_deadly() || dst.is_deadly());
			}
}

void rest_of_hints(asker ask)
{
	char text[] = "a name or a route, as you like it";
	for (const char *node : list{nullptr, ipv4})
		for (int flags : {0, RAI_PASSIVE, RAI_NOROUTE}) {
			rdma_addrinfo h = hints(flags, AF_INET, IBV_QPT_UC, RDMA_PS_IB);
			h.ai_route = text;
			h.ai_route_len = sizeof text;
			ask(node, nullptr, &h, ", a route");
			h.ai_connect = text;
			h.ai_connect_len = 5;
			ask(node, nullptr, &h, ", a route, data");
			h.ai_src_canonname = h.ai_dst_canonname = text;
			ask(node, nullptr, &h, ", a route, data, names");
			h.ai_next = &h;
			ask(node, nullptr, &h, ", a route, data, names, a next");
			h.ai_route = h.ai_connect = nullptr;
			ask(node, nullptr, &h, ", lengths without a route and data");
		}
}

void gids(asker ask)
{
	for (int more : {0, RAI_PASSIVE})
		for (int type : types)
			for (int space : spaces) {
				const rdma_addrinfo h =
					hints(gid_flags | more, AF_IB, type, space);
				ask(ipv6, "7471", &h);
			}
	for (const char *service : list{nullptr, "0", "65536", "ftp"})
		for (int space : spaces) {
			const rdma_addrinfo h =
				hints(gid_flags | RAI_NOROUTE, AF_IB, 0, space);
			ask(ipv6, service, &h);
		}
	for (const char *node : list{nullptr, ipv4, "0.0.0.0", "::", "::1", "fe80::1", "fe80::1%lo",
				     "fe80::1%no-such-link", "localhost", "no name"})
		for (const char *service : list{"7472", "0", "no-such-service"})
			for (int more : {0, RAI_PASSIVE}) {
				const rdma_addrinfo h = hints(gid_flags | more, AF_IB);
				ask(node, service, &h);
			}
}

void nulls(asker ask)
{
	const rdma_addrinfo h = hints(0);
	ask(nullptr, nullptr, nullptr);
	ask(nullptr, nullptr, nullptr, ", result NULL", true, true);
	ask(nullptr, nullptr, &h, ", result NULL", true, true);
	ask(ipv4, "7471", &h, ", result NULL", true, true);
	ask("no name", "7471", &h, ", result NULL", true, true);
}

} // namespace

void for_each_question(const std::function<void(const question &)> &ask)
{
	nodes_and_services({"nodes and services", ask});
	names({"host names", ask});
	flags_and_families({"flags and families", ask});
	types_and_spaces({"types and port spaces", ask});
	addresses_of_hints({"addresses of the hints", ask});
	rest_of_hints({"rest of the hints", ask});
	gids({"GIDs", ask});
	nulls({"NULL", ask});
}
