// SPDX-License-Identifier: MIT
// What became of the rules of `qpattr run`, told by rule: what matched, what was applied,
// and of what never was, why.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/qpattr/common/connections.hpp"
#include "tools/qpattr/common/terminal.hpp"
#include "tools/qpattr/common/trace_file.hpp"
#include "tools/qpattr/trace/config.hpp"

namespace qpattr::tool {

class override_report {
public:
	explicit override_report(const std::vector<override_rule> &rules);

	void take(const record &each);

	// Lines with their ends, each beginning with "qpattr: ".
	[[nodiscard]] std::string text(const terminal &on) const;

private:
	// What happened to one setting of one rule.
	struct tally {
		std::uint64_t applied = 0;
		std::set<std::uint64_t> before; // values that it replaced; some of them
		std::uint64_t same = 0;		// it was that already
		std::uint64_t not_in_mask = 0;	// of a transition to which it belongs
		std::set<std::string> kinds;	// QP types of those
		std::map<unsigned, std::uint64_t> overruled; // by which rule
		std::uint64_t refused = 0;
		std::optional<override_refused> refusal; // the last
	};
	struct asked_count {
		std::uint64_t answered = 0, failed = 0;
	};
	struct outcome {
		std::set<std::size_t> connections;
		std::map<std::string, asked_count> asked; // by state, of calls that matched
		std::vector<tally> settings;		  // as in the rule
	};

	void take_call(const call_record &call);
	void count_setting(const call_record &call, unsigned rule, const rule_setting &setting,
			   tally &to) const;
	[[nodiscard]] std::string setting_text(const rule_setting &setting, const outcome &rule,
					       const tally &is) const;
	[[nodiscard]] std::string why_never(const rule_setting &setting, const outcome &rule,
					    const tally &is) const;
	[[nodiscard]] std::string unmatched() const;

	std::vector<override_rule> rules_;
	std::vector<outcome> outcomes_;
	connections by_call_;
	std::uint64_t calls_ = 0;
	std::map<std::uint64_t, std::string> without_; // processes without rules
	std::set<std::uint64_t> called_without_;
	std::set<std::string> seen_; // what connections there were instead; some of them
};

// Before the program starts: what values in units became.
[[nodiscard]] std::vector<std::string> roundings(const std::vector<override_rule> &rules);

} // namespace qpattr::tool
