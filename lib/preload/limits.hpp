// SPDX-License-Identifier: MIT
// What the device takes, as far as it is known: a value beyond would make
// ibv_modify_qp() fail with EINVAL, and the program with it.
#pragma once

#include <cstdint>

#include "lib/attr/fields.hpp"
#include "lib/preload/connection.hpp"

namespace qpattr::preload {

struct verdict {
	enum class kind : std::uint8_t {
		fits,
		unknown, // the device could not be asked
		beyond,
	};
	kind how = kind::fits;
	std::uint32_t limit = 0; // the largest that fits, where it is beyond
	const char *why = "";
};

// Asks the libibverbs that is loaded in this process, which the object is not linked
// with. Signals and cancellation must be held off.
[[nodiscard]] verdict check_limit(const attr::attribute &what, std::uint32_t number,
				  const connection &where) noexcept;

} // namespace qpattr::preload
