// SPDX-License-Identifier: MIT
// The structs that lib/preload spells out against librdmacm-dev's header.
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstring>

#include "lib/preload/foreign_id.hpp"
#include "test/support/catch.hpp"

using namespace qpattr::preload;

TEST_CASE("foreign id: the public part is as long as the header's struct", "[abi]")
{
	CHECK(public_id_len == sizeof(rdma_cm_id));
}

TEST_CASE("foreign id: channel and descriptor lie where the header has them", "[abi]")
{
	CHECK(offsetof(cm_id, verbs) == offsetof(rdma_cm_id, verbs));
	CHECK(offsetof(cm_id, channel) == offsetof(rdma_cm_id, channel));
	CHECK(offsetof(event_channel, fd) == offsetof(rdma_event_channel, fd));
	CHECK(sizeof(event_channel::fd) == sizeof(rdma_event_channel::fd));
}

TEST_CASE("foreign id: the port space for discovery is RDMA_PS_TCP", "[abi]")
{
	CHECK(port_space_tcp == RDMA_PS_TCP);
}

TEST_CASE("foreign id: a word is read where it stands", "[abi]")
{
	alignas(8) unsigned char block[public_id_len + 16] = {};
	const std::uint32_t value = 0x0a0b0c0d;
	std::memcpy(block + public_id_len + 8, &value, sizeof value);
	CHECK(word_at(reinterpret_cast<const cm_id *>(block), public_id_len + 8) == value);
}
