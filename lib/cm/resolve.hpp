// SPDX-License-Identifier: MIT
// Binding and resolving, with lengths of addresses as the caller gives them
// (endpoint.cpp) or as their families tell (resolve.cpp).
#pragma once

#include <cstddef>

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

struct resolution {
	const sockaddr *src;
	const sockaddr *dst;
	std::size_t src_len;
	std::size_t dst_len;
	int timeout_ms;
};

[[nodiscard]] result<void> bind(identifier &id, const sockaddr *address, std::size_t len) noexcept;
[[nodiscard]] result<void> resolve_address(identifier &id, const resolution &what) noexcept;
[[nodiscard]] result<void> resolve_route(identifier &id, int timeout_ms) noexcept;

} // namespace qpattr::cm
