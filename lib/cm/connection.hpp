// SPDX-License-Identifier: MIT
// The commands that end the making of a connection.
#pragma once

#include <cstdint>

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

enum class reject_reason : std::uint8_t {
	consumer = 28,	    // the program does not want it
	vendor_option = 35, // its ECE options do not fit
};

// ACCEPT without parameters: the active side after CONNECT_RESPONSE.
[[nodiscard]] result<void> send_establish(const identifier &id) noexcept;

[[nodiscard]] result<void> send_reject(const identifier &id, const void *private_data,
				       std::uint8_t len, reject_reason reason) noexcept;

// The connection values of a call as they go to the kernel.
struct connection_values {
	std::uint8_t responder_resources;
	std::uint8_t initiator_depth;
};

// Both within the device's limits, 0xff standing for `otherwise`'s, brought down
// to the limits. EINVAL beyond them in the port space of TCP; in others they are the
// device's to judge. Of a datagram id, as they are: the kernel does nothing with them.
[[nodiscard]] result<connection_values> within_limits(const identifier &id,
						      const rdma_conn_param *param,
						      connection_values otherwise) noexcept;

// Fills what CONNECT and ACCEPT share.
void fill(rdma_ucm_conn_param &to, const identifier &id, const rdma_conn_param *param,
	  connection_values values) noexcept;

} // namespace qpattr::cm
