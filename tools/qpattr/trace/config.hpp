// SPDX-License-Identifier: MIT
// Rules for overriding attributes: as they are written on a command line and in a TOML
// file, and as the preload object takes them from QPATTR_OVERRIDE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/attr/parse.hpp"

namespace qpattr::tool {

struct rule_setting {
	attr::setting is;
	std::string written; // the value as a person wrote it
};

struct override_rule {
	std::string origin;	    // "--set timeout=16", "FILE:3"
	std::string match;	    // "dst=10.0.0.0/8,port=4420"; "*": every connection
	std::vector<rule_setting> set;
};

// Of one condition of a match. Throws `failure`, whose text begins with `place`.
void check_condition(std::string_view key, std::string_view value, const std::string &place);

// "timeout=16,min_rnr_timer=0.64ms" and "dst=10.0.0.0/8,port=4420"; an empty match, or
// "*", is every connection.
[[nodiscard]] std::vector<rule_setting> parse_settings(std::string_view text,
						       const std::string &place);
[[nodiscard]] std::string parse_match(std::string_view text, const std::string &place);

// Of a file, whose owner is root or the caller and which nobody else may write.
[[nodiscard]] std::vector<override_rule> read_config(const std::string &path);
[[nodiscard]] std::vector<override_rule> parse_config(std::string_view text,
						      const std::string &path);

// For QPATTR_OVERRIDE, with the numbers that were found for values in units. Throws
// `failure` where there are more rules than the preload object takes.
[[nodiscard]] std::string override_value(const std::vector<override_rule> &rules);

} // namespace qpattr::tool
