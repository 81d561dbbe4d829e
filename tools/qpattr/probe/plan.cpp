// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/plan.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"

namespace qpattr::tool::probe {
namespace {

struct halves {
	std::string host, port;
};

// An IPv6 address has colons of its own: without brackets it has no port.
halves split(const std::string &text)
{
	if (!text.empty() && text.front() == '[') {
		const auto end = text.find(']');
		if (end == std::string::npos || (end + 1 < text.size() && text[end + 1] != ':'))
			throw failure{fmt::format("'{}' is no address: [IPv6]:PORT", text),
				      usage_status};
		return {text.substr(1, end - 1), end + 2 <= text.size() ? text.substr(end + 2) : ""};
	}
	const auto first = text.find(':');
	if (first == std::string::npos || text.find(':', first + 1) != std::string::npos)
		return {text, ""};
	return {text.substr(0, first), text.substr(first + 1)};
}

std::uint16_t port_of(const std::string &text, const std::string &whole)
{
	if (text.empty())
		return usual_port;
	unsigned port = 0;
	const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
	if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || port == 0 ||
	    port > 65535)
		throw failure{fmt::format("'{}' in '{}' is no port: 1 to 65535", text, whole),
			      usage_status};
	return static_cast<std::uint16_t>(port);
}

} // namespace

place parse_place(const std::string &text, bool may_be_any)
{
	const halves parts = split(text);
	const std::uint16_t port = port_of(parts.port, text);
	place out;
	if (parts.host.empty() || parts.host == "*") {
		if (!may_be_any)
			throw failure{fmt::format("'{}' has no address: ADDRESS[:PORT]", text),
				      usage_status};
		// Of IPv4 too, as of a socket.
		out.address.ss_family = AF_INET6;
	} else {
		addrinfo wanted{};
		wanted.ai_socktype = SOCK_STREAM;
		addrinfo *raw = nullptr;
		const int refused = ::getaddrinfo(parts.host.c_str(), nullptr, &wanted, &raw);
		const std::unique_ptr<addrinfo, void (*)(addrinfo *)> found{raw, ::freeaddrinfo};
		if (refused)
			throw failure{fmt::format("'{}' is no address and no name that is known: {}",
						  parts.host, ::gai_strerror(refused)),
				      usage_status};
		std::memcpy(&out.address, found->ai_addr, found->ai_addrlen);
	}
	set_port(out, port);
	return out;
}

void set_port(place &of, std::uint16_t port)
{
	if (of.address.ss_family == AF_INET)
		reinterpret_cast<sockaddr_in &>(of.address).sin_port = htons(port);
	else
		reinterpret_cast<sockaddr_in6 &>(of.address).sin6_port = htons(port);
	of.text = text_of(of.get());
}

std::string text_of(const sockaddr *address)
{
	char host[INET6_ADDRSTRLEN];
	if (address && address->sa_family == AF_INET) {
		const auto *const v4 = reinterpret_cast<const sockaddr_in *>(address);
		::inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
		return fmt::format("{}:{}", host, ntohs(v4->sin_port));
	}
	if (address && address->sa_family == AF_INET6) {
		const auto *const v6 = reinterpret_cast<const sockaddr_in6 *>(address);
		::inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
		// As records of a trace have it: by the interface's number.
		const std::string scope =
			v6->sin6_scope_id ? fmt::format("%{}", v6->sin6_scope_id) : "";
		return fmt::format("[{}{}]:{}", host, scope, ntohs(v6->sin6_port));
	}
	return "";
}

} // namespace qpattr::tool::probe
