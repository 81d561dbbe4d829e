// SPDX-License-Identifier: MIT
// One call of rdma_init_qp_attr, asked twice: what the witness writes and what
// beside reads. A file of them is records one after the other, all of one size,
// each appended by one write(2), so that processes can share the file.
#pragma once

#include <cstdint>
#include <type_traits>

#include <infiniband/verbs.h>

namespace qpattr::demo {

inline constexpr std::uint64_t record_magic = 0x31307374697751ULL; // "Qwits01"

// An IP address and port, in the order of the network.
struct endpoint {
	std::uint16_t family; // AF_INET, AF_INET6, 0 (none), or another
	std::uint16_t port;
	std::uint8_t address[16];
};

// What one implementation answered. The struct and the mask held the caller's
// bytes before it was asked.
struct answer {
	std::int32_t result;
	std::int32_t error; // errno afterwards, success or not
	std::int32_t mask;
	// Times that librdmacm wrote the command INIT_QP_ATTR to the device while
	// this implementation was asked: 1 for stock; 0 for qpattr, unless it
	// passed the question on to stock.
	std::uint32_t stock_commands;
	ibv_qp_attr attr;
};

struct record {
	std::uint64_t magic;
	std::uint32_t len;	// sizeof(record)
	std::uint32_t sequence; // of the process, from 0
	std::uint64_t time_ns;	// CLOCK_MONOTONIC
	std::int32_t pid;
	std::int32_t thread;

	char program[24];
	char run[24];	 // QPATTR_WITNESS_RUN: which run of the demo it belongs to
	char object[40]; // file name of the object that holds our function
	char stock[40];	 // ... and stock's

	std::uint64_t id; // the pointer
	std::uint32_t port_space;
	std::uint32_t qp_type;
	std::uint32_t qp_num; // 0: the id has no QP (yet)
	std::uint8_t port_num;
	std::uint8_t stock_asked; // 0: there was no stock to ask
	std::uint8_t reserved[2];
	char device[16];
	endpoint source;
	endpoint destination;

	std::uint32_t state;	   // asked for, as the caller passed it
	std::int32_t mask_before;  // what stood in the caller's mask
	std::int32_t error_before; // the caller's errno
	std::int32_t reserved_2;
	ibv_qp_attr before;
	answer ours;
	answer theirs;
};

static_assert(std::is_trivially_copyable_v<record>);
static_assert(sizeof(record) % 8 == 0);

} // namespace qpattr::demo
