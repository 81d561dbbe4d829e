// SPDX-License-Identifier: MIT
/**
 * @file address.hpp
 * Socket addresses for the C++ layer: a view that takes any of the sockaddr
 * structs without a cast, and an owner that is made from text.
 */
#ifndef QPATTR_ADDRESS_HPP
#define QPATTR_ADDRESS_HPP

#include <cstdint>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <qpattr/result.hpp>

namespace qpattr::inline v0 {

/**
 * A socket address that belongs to somebody else. It is as long valid as what it
 * was made from. For AF_IB, and for any other struct, make it from the sockaddr.
 */
class address_view {
public:
	constexpr address_view() noexcept = default;
	address_view(const sockaddr &of) noexcept : of_{&of} {}
	address_view(const sockaddr_in &of) noexcept : of_{reinterpret_cast<const sockaddr *>(&of)} {}
	address_view(const sockaddr_in6 &of) noexcept : of_{reinterpret_cast<const sockaddr *>(&of)} {}
	address_view(const sockaddr_storage &of) noexcept
	    : of_{reinterpret_cast<const sockaddr *>(&of)}
	{
	}

	/** @return the address; NULL for an empty view */
	[[nodiscard]] const sockaddr *get() const noexcept { return of_; }

	/** @return AF_INET, AF_INET6, AF_IB; AF_UNSPEC where there is none */
	[[nodiscard]] int family() const noexcept { return of_ ? of_->sa_family : AF_UNSPEC; }

	/** @return the port in the host's byte order; 0 for other families than IP's */
	[[nodiscard]] std::uint16_t port() const noexcept
	{
		switch (family()) {
		case AF_INET:
			return ntohs(reinterpret_cast<const sockaddr_in *>(of_)->sin_port);
		case AF_INET6:
			return ntohs(reinterpret_cast<const sockaddr_in6 *>(of_)->sin6_port);
		default:
			return 0;
		}
	}

private:
	const sockaddr *of_ = nullptr;
};

/** An IPv4 or IPv6 address with its port. */
class address {
public:
	address() noexcept = default;

	/**
	 * An address from text; no name is looked up.
	 *
	 * @param ip    "10.0.0.1", "fd77::1", "0.0.0.0", "::"; not NULL
	 * @param port  in the host's byte order; 0: one that is chosen at bind
	 * @return EINVAL where the text is not an IPv4 or IPv6 address
	 */
	static result<address> parse(const char *ip, std::uint16_t port) noexcept
	{
		address made;
		auto *const v4 = reinterpret_cast<sockaddr_in *>(&made.storage_);
		auto *const v6 = reinterpret_cast<sockaddr_in6 *>(&made.storage_);
		if (ip && ::inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
			v4->sin_family = AF_INET;
			v4->sin_port = htons(port);
		} else if (ip && ::inet_pton(AF_INET6, ip, &v6->sin6_addr) == 1) {
			v6->sin6_family = AF_INET6;
			v6->sin6_port = htons(port);
		} else {
			return error{EINVAL, "address::parse"};
		}
		return made;
	}

	/** The address as every function of the layer takes it. */
	operator address_view() const noexcept { return address_view{storage_}; }

	[[nodiscard]] const sockaddr *get() const noexcept { return address_view{*this}.get(); }

private:
	sockaddr_storage storage_{};
};

} // namespace qpattr::inline v0

#endif
