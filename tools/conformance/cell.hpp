// SPDX-License-Identifier: MIT
// A cell: one kind of id at one address of a device, led through its stages, both
// sides in this process, over the real kernel. At each stage every id alive is a
// stop of the report.
#pragma once

#include <span>

#include "tools/conformance/endpoint.hpp"
#include "tools/conformance/report.hpp"

namespace conformance {

struct place {
	address where;
	manager by;
	// An RDMA device that a cell may remove; empty: none.
	std::string removable;
};

struct kind {
	const char *name;
	const char *what;
	void (*walk)(report &to, const place &at);
	// At one address, whichever: it is not the address that matters.
	bool once = false;
	// Waits for a minute or more.
	bool slow = false;
};
[[nodiscard]] std::span<const kind> all_kinds();

// One function a kind; kinds.cpp has what each is.
void walk_rc(report &to, const place &at);
void walk_rc_own_qp(report &to, const place &at);
void walk_endings(report &to, const place &at);
void walk_timed_out(report &to, const place &at);
void walk_listeners(report &to, const place &at);
void walk_strangers(report &to, const place &at);
void walk_ud(report &to, const place &at);
void walk_ipoib(report &to, const place &at);
void walk_multicast(report &to, const place &at);
void walk_uc(report &to, const place &at);
void walk_xrc(report &to, const place &at);
void walk_ib_rc(report &to, const place &at);
void walk_ib_ud(report &to, const place &at);
void walk_af_ib(report &to, const place &at);
void walk_synchronous(report &to, const place &at);
void walk_migrated(report &to, const place &at);
void walk_options(report &to, const place &at);
void walk_values(report &to, const place &at);
void walk_removed(report &to, const place &at);
void walk_scripted(report &to, const place &at);

} // namespace conformance
