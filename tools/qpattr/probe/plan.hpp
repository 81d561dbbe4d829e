// SPDX-License-Identifier: MIT
// What a probe was asked to do.
#pragma once

#include <chrono>
#include <string>

#include <sys/socket.h>

namespace qpattr::tool::probe {

// QPAT on the keys of a telephone. Below the ports that the kernel chooses by itself.
inline constexpr std::uint16_t usual_port = 7728;

// An address that was resolved, with its port.
struct place {
	sockaddr_storage address{};
	std::string text; // With the text that goes with it.
void set_port(place &of, std::uint16_t port);

// "10.77.0.1:7728", "[fd77::1]:7728"

	[[nodiscard]] const sockaddr *get() const
	{
		return reinterpret_cast<const sockaddr *>(&address);
	}
};

struct plan {
	bool udp = false;
	bool as_json = false;
	unsigned count = 0; // connections; 0: until a signal ends it
	std::chrono::milliseconds timeout{10'000}; // of each wait
};

// "ADDR", "ADDR:PORT", "[IPv6]:PORT", and where `may_be_any` also ":PORT" and "", all
// addresses. ADDR may be a name. Throws `failure`.
[[nodiscard]] place parse_place(const std::string &text, bool may_be_any);

// With the text that goes with it.
void set_port(place &of, std::uint16_t port);

// "10.77.0.1:7728", "[fd77::1]:7728"; empty where it is neither IPv4 nor IPv6.
[[nodiscard]] std::string text_of(const sockaddr *address);

} // namespace qpattr::tool::probe
