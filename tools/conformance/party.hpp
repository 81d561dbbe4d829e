// SPDX-License-Identifier: MIT
// Connections of RC that several kinds of cells make.
#pragma once

#include <functional>
#include <optional>

#include "tools/conformance/cell.hpp"

namespace conformance {

// Whose the QP of a connection is. With one of librdmacm's, librdmacm answers
// the peer's response by itself; with another, the program reads the response.
enum class qp_kind { librdmacm, own };

// One side's id, its QP if it is the program's own, and what it connects with.
struct party {
	id_ptr id;
	std::optional<own_qp> qp{};

	void make(qp_kind kind);
	[[nodiscard]] std::uint32_t qp_number() const;
	[[nodiscard]] rdma_conn_param with_qp(rdma_conn_param param) const;
};

// An active id whose route is resolved, from a device to one of its own ports.
// `prepare` comes after rdma_create_id and before the address is resolved.
using preparation = std::function<void(rdma_cm_id *)>;
[[nodiscard]] id_ptr resolved_id(const channel_ptr &near, const address &where,
				 rdma_port_space space, std::uint16_t port,
				 const preparation &prepare = {});

// The same with a QP of librdmacm's, and its request on its way.
[[nodiscard]] id_ptr requester(const channel_ptr &near, const address &where,
			       rdma_port_space space, std::uint16_t port);

// Both sides of an established connection with QPs of librdmacm's.
struct connection {
	channel_ptr near = make_channel(), far = make_channel();
	id_ptr listener, active, passive;
};
struct connection_wishes {
	preparation active{}, passive{}; // of the ids, before they are used
	rdma_conn_param offer, reply;
};
[[nodiscard]] connection connect(const place &at, const connection_wishes &wishes);

} // namespace conformance
