// SPDX-License-Identifier: MIT
// What the kernel's header gained after 5.10, spelled out here so that qpattr
// builds with any header from 5.10 on and speaks to any kernel. Where the
// installed header has a piece, layout.cpp holds ours against it.
#pragma once

#include <cstdint>

#include "uapi/kernel_header.hpp"

namespace qpattr::uapi::later {

// Kernel 7.2.
inline constexpr std::uint32_t resolve_ib_service_number = 23;
inline constexpr std::uint32_t write_cm_event_number = 24;
inline constexpr std::uint32_t query_ib_service_option = 3;

inline constexpr std::size_t service_name_len = 64;

struct resolve_ib_service {
	std::uint32_t id;
	std::uint32_t reserved_0;
	std::uint64_t service_id;
	std::uint8_t service_name[service_name_len];
	std::uint32_t flags;
	std::uint32_t reserved_1;
};

struct write_cm_event {
	std::uint32_t id;
	std::uint32_t reserved;
	std::uint32_t event;
	std::uint32_t status;
	union {
		rdma_ucm_conn_param conn;
		rdma_ucm_ud_param ud;
		std::uint64_t arg;
	} param;
};

// The reply to QUERY with query_ib_service_option: this head, then records.
struct query_ib_service_head {
	std::uint32_t num_service_recs;
	std::uint32_t reserved;
};

} // namespace qpattr::uapi::later
