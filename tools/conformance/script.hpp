// SPDX-License-Identifier: MIT
// Answers of the kernel that rxe and siw never give: InfiniBand's and OPA's, and
// what no kernel should say.
#pragma once

#include <array>
#include <span>

namespace conformance {

struct scripted_answer {
	const char *name;
	std::array<unsigned char, 144> reply; // ib_uverbs_qp_attr
	long result;			      // of write(); see trap.hpp
};
[[nodiscard]] std::span<const scripted_answer> script();

} // namespace conformance
