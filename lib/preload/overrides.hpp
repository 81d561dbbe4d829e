// SPDX-License-Identifier: MIT
// The override rules put into an answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include <infiniband/verbs.h>

#include "lib/preload/limits.hpp"
#include "lib/preload/rules.hpp"

namespace qpattr::preload {

// One attribute that a rule is about. Where it is beyond a limit, nothing was done.
struct change {
	const attr::attribute *what;
	std::uint8_t rule; // from 0
	std::uint32_t before, after;
	verdict limit;
};

struct changes {
	// As many attributes may be overridden at most: unit/rules_test counts them.
	static constexpr std::size_t changes_max = 32;

	std::uint64_t matched = 0; // a bit for each rule
	std::size_t count = 0;
	change list[changes_max];
};
static_assert(rules::rules_max <= 64);

// Which rules fit, and their settings put into `attr` as far as `mask` has them; null
// after a call that failed. Of several rules the last counts. Signals and cancellation
// must be held off.
void apply(const rules &all, const connection &where, std::uint32_t asked, std::uint32_t mask,
	   ibv_qp_attr *attr, changes &out) noexcept;

// With QPATTR_DEBUG=1, by rule, what came of it in this process.
void report_rules(const rules &all) noexcept;

} // namespace qpattr::preload
