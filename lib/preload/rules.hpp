// SPDX-License-Identifier: MIT
// The override rules: "MATCH:SET;MATCH:SET", as docs/trace.md tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "lib/attr/parse.hpp"
#include "lib/attr/text.hpp"
#include "lib/preload/connection.hpp"

namespace qpattr::preload {

// A network: the first bits of an address. Mapped IPv4 addresses are IPv4 ones.
struct network {
	bool given = false;
	std::uint8_t bits = 0; // of the 128; an IPv4 prefix counts from 96
	std::uint8_t address[16] = {};
};

struct rule {
	network dst, src;
	std::uint16_t port = 0;		      // of either end; 0: any
	std::uint32_t port_space = 0;	      // 0: any
	std::uint32_t qp_type = 0;	      // 0: any
	char device[IBV_SYSFS_NAME_MAX] = {}; // "": any
	std::uint16_t first = 0, count = 0;   // of the settings
	std::string_view written;	      // the rule
};

[[nodiscard]] bool matches(const rule &one, const connection &which) noexcept;

class rules {
public:
	static constexpr std::size_t rules_max = 64;
	static constexpr std::size_t settings_max = 256; // of all rules
	static constexpr std::size_t text_max = 4095;

	// All of it or nothing: on failure there are no rules, and `why` has a line
	// without an end. 400 bytes are room for the longest. `text` must stay.
	[[nodiscard]] bool parse(std::string_view text, attr::text &why) noexcept;

	[[nodiscard]] std::size_t size() const noexcept { return count_; }
	[[nodiscard]] const rule &operator[](std::size_t i) const noexcept { return rules_[i]; }

	// Where a setting is in those of all rules: [rule.first, rule.first + rule.count).
	[[nodiscard]] const attr::setting &setting(std::size_t i) const noexcept
	{
		return settings_[i];
	}

private:
	[[nodiscard]] bool parse_rule(std::string_view text, attr::text &why) noexcept;
	[[nodiscard]] bool parse_settings(rule &to, std::string_view text,
					  attr::text &why) noexcept;

	rule rules_[rules_max] = {};
	attr::setting settings_[settings_max] = {};
	std::size_t count_ = 0, settings_count_ = 0;
};

} // namespace qpattr::preload
