// SPDX-License-Identifier: MIT
// What two ends of one connection must agree on, and whether they do.
#pragma once

#include <string>
#include <vector>

#include "tools/qpattr/common/page.hpp"
#include "tools/qpattr/explain/compare_pairs.hpp"

namespace qpattr::tool {

struct comparison {
	std::vector<std::string> fits; // "path MTU 1024 bytes"
	// A note tells of a difference that does no harm by itself; the others are misfits.
	std::vector<remark> differs;

	[[nodiscard]] bool all_fit() const;
};

[[nodiscard]] comparison compare(const end_pair &pair);

} // namespace qpattr::tool
