// SPDX-License-Identifier: MIT
// What both ends of a probe need of the connection manager.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <fmt/format.h>
#include <qpattr/qpattr.hpp>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/probe/queue.hpp"
#include "tools/qpattr/probe/record.hpp"

namespace qpattr::tool::probe {

// "10.77.0.1:7728: rdma_bind_addr: Address already in use: choose another port, ..."
[[nodiscard]] std::string told(error why, const std::string &about);

// The value; throws `failure` with the line of told().
template <class T> T must(result<T> outcome, const std::string &about)
{
	if (!outcome)
		throw failure{told(outcome.why(), about)};
	return std::move(outcome).value();
}

[[nodiscard]] channel opened_channel(); // non-blocking

// Why an event that is not the expected one ends the connection, and what to do.
[[nodiscard]] std::string refusal(const event &came, const std::string &peer, bool udp);

// Throws `failure` where what greets is no probe, or one of another version.
void insist_on_probe(std::span<const std::byte> private_data, const std::string &peer);

[[nodiscard]] end_facts facts_of(const id_ref &id, const char *end, bool udp,
				 std::uint32_t qp_num);

// As much as the device can, and `data`.
[[nodiscard]] parameters parameters_of(const queue &of, std::span<const std::byte> data);

} // namespace qpattr::tool::probe
