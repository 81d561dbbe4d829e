// SPDX-License-Identifier: MIT
// What is known beforehand about an answer: without it, two implementations that
// are wrong in the same way would agree, and a machine on which every question is
// refused would pass.
#pragma once

#include <cstdint>
#include <optional>

#include <infiniband/verbs.h>

namespace conformance {

enum class side { active, passive, listener, member };
[[nodiscard]] const char *side_name(side which) noexcept;

// How an id stands with the kernel's connection manager, as far as that decides
// the answer.
enum class standing {
	no_device, // just created, or on a wildcard address
	simple,	   // has a device, no connection yet
	requested, // active, the request is on its way
	connected, // from the peer's answer (active) or request (passive) on
	closed,	   // disconnected, rejected
	listening, // on a device
	datagram,  // an id of UD that has a device, at every stage
	destroyed, // the kernel has forgotten the handle
	foreign,   // asked through another open file than the id's
	removed,   // its device is gone
	any,	   // whatever the kernel says: only the baseline knows
};

// Whose connection manager answers for the port.
enum class manager { infiniband, iwarp };
[[nodiscard]] const char *manager_name(manager which) noexcept;

// What else decides.
struct subject {
	ibv_qp_type type;
	manager by;
};

// The masks that the kernel hands out.
inline constexpr int mask_init = 0x39;
inline constexpr int mask_rtr = 0x129181;
inline constexpr int mask_rts = 0x12E01;
inline constexpr int mask_datagram = 0x71;

// Either an answer with this mask (code 0), or a refusal with this errno.
struct known_answer {
	int mask;
	int code;
};

// Nothing where nothing is known.
[[nodiscard]] std::optional<known_answer> known(standing where, int state, side who,
						const subject &what) noexcept;

} // namespace conformance
