// SPDX-License-Identifier: MIT
// What an id tells of its connection, copied out of it.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "lib/attr/text.hpp"
#include "lib/preload/foreign_id.hpp"

namespace qpattr::preload {

struct endpoint {
	enum class family : std::uint8_t { none, ipv4, ipv6, ib };
	family kind = family::none;
	std::uint16_t port = 0;
	std::uint32_t scope = 0;       // of a link-local IPv6 address
	std::uint8_t address[16] = {}; // the first 4 bytes of it for IPv4
};

// "10.77.0.1:7174", "[fd77::1]:7174". Of AF_IB the GID and the port of the service.
void add_endpoint(attr::text &to, const endpoint &end) noexcept;

struct connection {
	ibv_context *verbs = nullptr;
	char device[IBV_SYSFS_NAME_MAX] = {}; // "" before the id has one
	std::uint32_t port_space = 0;
	std::uint32_t qp_type = 0;
	std::uint32_t qp_num = 0;
	bool has_qp = false;
	std::uint8_t port = 0; // 0 before the id has one
	endpoint src, dst;
};

// `answered`: the call succeeded, so the id is one and so is what it points to, but
// for the QP: programs destroy it behind librdmacm's back. Else nothing is believed,
// and what cannot be read stays zero.
[[nodiscard]] connection connection_of(const cm_id *id, bool answered) noexcept;

} // namespace qpattr::preload
