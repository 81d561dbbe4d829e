// SPDX-License-Identifier: MIT
// Which two ends of traces are one connection.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/qpattr/explain/connection_end.hpp"

namespace qpattr::tool {

struct end_pair {
	const connection_end *client; // the active side; where no side is known, the first
	const connection_end *server;
};

struct pairing {
	std::vector<end_pair> pairs; // in the order of the clients
	std::vector<const connection_end *> alone;
};

// How well two ends go together: PSNs and QP numbers crosswise and addresses swapped
// speak for it, each as far as both traces have it. Below `enough`, they are strangers.
// PSNs are random, so two that match are proof, whatever a translated address says;
// the number of a QP is small and means little alone.
inline constexpr int enough = 3;
[[nodiscard]] int likeness(const connection_end &a, const connection_end &b);

// The ends of one trace or of two, each at most once. `firsts` are those of the first
// trace, `seconds` empty where there is one trace with both sides.
[[nodiscard]] pairing pair_ends(const std::vector<connection_end> &firsts,
				const std::vector<connection_end> &seconds);

} // namespace qpattr::tool
