// SPDX-License-Identifier: MIT
// The witness's records as transitions of connections: whose, on which side,
// from which state, and whether qpattr and stock answered alike.
#pragma once

#include <string>
#include <vector>

#include "lib/attr/fields.hpp"
#include "test/demo/record.hpp"

namespace qpattr::demo {

enum class side { unknown, active, passive };

struct transition {
	record what;
	std::string run;	// QPATTR_WITNESS_RUN, else the program
	std::size_t connection; // one end of one, numbered over the file
	side end = side::unknown;
	std::uint32_t from = 0; // state that this id's QP was last asked for; RESET at first

	// Result, errno, mask and every field are the same; padding is not looked at.
	[[nodiscard]] bool equal() const;
	// The answer is that of qpattr's object, which did not ask stock, while
	// stock, when asked, was seen to speak to the kernel.
	[[nodiscard]] bool served() const;
	[[nodiscard]] bool good() const { return equal() && served(); }
	[[nodiscard]] bool answered() const { return what.ours.result == 0; }
};

struct history {
	std::vector<transition> all; // in the order of time
	std::string trouble;	     // why the file cannot be trusted; empty: it can

	// The runs in the order of their first transition.
	[[nodiscard]] std::vector<std::string> runs() const;
	// The connection that a run begins with: both its ends, where both are
	// there.
	[[nodiscard]] std::vector<std::size_t> first_connection(const std::string &run) const;
};

[[nodiscard]] history read_history(const char *path);
[[nodiscard]] history make_history(std::vector<record> records);

[[nodiscard]] std::string written(const endpoint &where); // "10.0.0.1:7174", "[fe80::1]:7174"

} // namespace qpattr::demo
