// SPDX-License-Identifier: MIT
// The two implementations under comparison, side by side in one process, and the
// proof that they are two and live where they should.
#pragma once

#include <stdexcept>
#include <string>

#include "tools/conformance/question.hpp"

namespace conformance {

struct implementation {
	init_qp_attr_fn *function;
	std::string object; // the file that it lives in, all links followed
};

// librdmacm's own, taken from its handle: the one that this program is linked
// with, whatever is preloaded.
[[nodiscard]] implementation stock_implementation();
// A preload object, loaded beside librdmacm: librdmacm's own calls still go to
// librdmacm's function.
[[nodiscard]] implementation object_implementation(const std::string &path);

// Empty if the functions are two and live where they should, else what is wrong.
[[nodiscard]] std::string mixed_up(const implementation &stock, const implementation &ours,
				   const std::string &ours_path);

} // namespace conformance
