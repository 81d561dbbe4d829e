// SPDX-License-Identifier: MIT
// What compare found, for a person and for programs.
#pragma once

#include "tools/qpattr/common/page.hpp"
#include "tools/qpattr/explain/compare_pairs.hpp"

namespace qpattr::tool {

// data.fits: there are pairs, and nothing in them is a misfit.
[[nodiscard]] page compare_page(const pairing &found, const std::string &client,
				const std::string &server);

} // namespace qpattr::tool
