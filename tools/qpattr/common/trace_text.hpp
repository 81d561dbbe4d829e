// SPDX-License-Identifier: MIT
// Records of a trace as a person reads them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/qpattr/common/connections.hpp"
#include "tools/qpattr/common/terminal.hpp"
#include "tools/qpattr/common/trace_file.hpp"

namespace qpattr::tool {

// What the attribute of that name means with that value: "2.15 s". Empty where the value
// says it all, or there is no such attribute.
[[nodiscard]] std::string meaning_of(const std::string &attribute, std::uint64_t value);

// Local time of day with microseconds.
[[nodiscard]] std::string time_of_day(std::uint64_t time_ns);

// "5.12 us".
[[nodiscard]] std::string duration_text(std::uint64_t ns);

// "EINVAL: Invalid argument".
[[nodiscard]] std::string error_text(const call_record &of);

// "10.77.0.1:34864 → 10.77.0.1:7174"; empty where the call had no addresses.
[[nodiscard]] std::string way_text(const call_record &of);

class text_writer {
public:
	explicit text_writer(const terminal &on) : on_{on} {}

	// Lines with their ends; empty for records of which a person need not know.
	[[nodiscard]] std::string lines_of(const record &each);

private:
	[[nodiscard]] std::string call_lines(const call_record &call);
	[[nodiscard]] std::string head(const call_record &call);
	[[nodiscard]] std::string rows(const call_record &call) const;
	[[nodiscard]] std::string row(const call_record &call, const attribute_value &each,
				      std::size_t name_width) const;
	[[nodiscard]] std::string refusals(const call_record &call) const;

	terminal on_;
	connections connections_;
	// What was said of processes so far that have not called yet.
	std::map<std::uint64_t, process_record> silent_;
};

} // namespace qpattr::tool
