// SPDX-License-Identifier: MIT
// Whether what was witnessed proves what it should.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "test/demo/transitions.hpp"

namespace qpattr::demo {

// A run that must be there, with this many transitions or more.
struct expectation {
	std::string run;
	std::size_t transitions;
};

// Everything that speaks against "every answer is equal to stock's, every answer
// is qpattr's own, nothing is missing". Empty: it holds.
[[nodiscard]] std::vector<std::string> objections(const history &seen,
						  const std::vector<expectation> &expected);

} // namespace qpattr::demo
