// SPDX-License-Identifier: MIT
// Which calls of a trace are about the same connection. A record names the program's id
// by its address, and that memory is used again for the next connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tools/qpattr/common/trace_file.hpp"

namespace qpattr::tool {

class connections {
public:
	struct place {
		std::size_t number; // from 0, in the order of their first calls
		bool first;	    // of its connection
		std::string before; // state that the QP was last given; empty: not known
	};

	// Of the next call of the trace, which is taken into account.
	[[nodiscard]] place of(const call_record &call);

	[[nodiscard]] std::size_t count() const { return count_; }

private:
	struct known {
		std::size_t number;
		std::string answered; // the state last answered
		std::string src, dst;
	};
	[[nodiscard]] static bool another(const known &before, const call_record &call);

	std::map<std::pair<std::uint64_t, std::string>, known> by_id_;
	std::size_t count_ = 0;
};

} // namespace qpattr::tool
