// SPDX-License-Identifier: MIT
// The public part of stock librdmacm's structs that the preload object reads:
// the published ABI of <rdma/rdma_cma.h>, spelled out because that header and
// the kernel's cannot be included together. test/unit/foreign_id_test.cpp holds
// every number here against librdmacm-dev's header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace qpattr::preload {

struct event_channel {
	int fd;
};

// struct rdma_cm_id: the two members that matter, and how long the public part
// is. Behind it lies what librdmacm keeps for itself.
struct cm_id {
	void *verbs;
	event_channel *channel;
};

// On i386 a number of 64 bits lies at a multiple of 4, elsewhere of 8.
struct wide_member {
	std::uint64_t value;
};
inline constexpr std::size_t public_id_len =
	sizeof(void *) == 8 ? 416 : (alignof(wide_member) == 8 ? 360 : 356);

// rdma_port_space of a connected id; which one does not matter for discovery.
inline constexpr int port_space_tcp = 0x0106;

// The 4 bytes at an offset of an id.
[[nodiscard]] inline std::uint32_t word_at(const cm_id *id, std::size_t offset) noexcept
{
	std::uint32_t word;
	std::memcpy(&word, reinterpret_cast<const char *>(id) + offset, sizeof word);
	return word;
}

} // namespace qpattr::preload
