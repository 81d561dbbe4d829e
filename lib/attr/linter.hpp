// SPDX-License-Identifier: MIT
// One run of lint(): what its parts share. The parts are functions by subject, in
// lint_timers.cpp and lint_path.cpp.
#pragma once

#include <string_view>

#include "lib/attr/lint.hpp"

namespace qpattr::attr {

// A row of the table by its name, looked up by the compiler.
consteval const attribute *row(std::string_view name)
{
	for (const attribute &each : attributes)
		if (name == each.name)
			return &each;
	__builtin_unreachable(); // not a constant: a wrong name does not compile
}

struct linter {
	const ibv_qp_attr &attr;
	std::uint32_t mask;
	const surroundings &at;
	findings &to;

	[[nodiscard]] bool has(std::uint32_t bits) const noexcept { return (mask & bits) == bits; }

	finding &note(const char *id, const attribute *about, const char *advice) const noexcept
	{
		return to.add(id, severity::note, about, advice);
	}
	finding &warn(const char *id, const attribute *about, const char *advice) const noexcept
	{
		return to.add(id, severity::warning, about, advice);
	}
	finding &problem(const char *id, const attribute *about, const char *advice) const noexcept
	{
		return to.add(id, severity::problem, about, advice);
	}
};

void lint_ranges(const linter &here) noexcept;
void lint_timers(const linter &here) noexcept;
void lint_path(const linter &here) noexcept;
void lint_access(const linter &here) noexcept;

} // namespace qpattr::attr
