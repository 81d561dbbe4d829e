// SPDX-License-Identifier: MIT
// What must hold of whatever a command shows, and of what it says when it refuses.
#pragma once

#include "test/fuzz/fuzz.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/page.hpp"

namespace qpattr::fuzz {

inline void must_be_shown(const tool::page &said)
{
	const std::string text = tool::text_of(said, tool::terminal{-1});
	must(!text.empty(), "there is something to say");
	must_be_printable(text);
	(void)tool::json_of(said).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline void must_be_a_line(const tool::failure &why)
{
	const std::string line = tool::harmless(why.what());
	must_be_printable(line);
	must(!line.empty() && line.find('\n') == std::string::npos, "a refusal is one line");
}

} // namespace qpattr::fuzz
