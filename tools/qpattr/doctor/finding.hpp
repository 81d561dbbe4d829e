// SPDX-License-Identifier: MIT
// What doctor says about one thing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/qpattr/common/terminal.hpp"

namespace qpattr::tool::doctor {

enum class verdict { ok, warning, problem, not_applicable };

[[nodiscard]] const char *verdict_name(verdict what); // as --json has it

struct finding {
	std::string check; // "node", "gid": stable, for scripts
	verdict what = verdict::ok;
	std::string text; // one sentence, which names the thing
	std::string fix;  // what to do; empty where there is nothing
};

// In the order in which things depend on each other: the first problem is most often
// the cause of the next.
class findings {
public:
	void ok(const char *check, std::string text)
	{
		all_.push_back({check, verdict::ok, std::move(text), ""});
	}
	void not_applicable(const char *check, std::string text)
	{
		all_.push_back({check, verdict::not_applicable, std::move(text), ""});
	}
	void warning(const char *check, std::string text, std::string fix)
	{
		all_.push_back({check, verdict::warning, std::move(text), std::move(fix)});
	}
	void problem(const char *check, std::string text, std::string fix)
	{
		all_.push_back({check, verdict::problem, std::move(text), std::move(fix)});
	}

	[[nodiscard]] const std::vector<finding> &all() const { return all_; }
	[[nodiscard]] std::size_t count(verdict what) const;
	// nullptr where nothing was said about it.
	[[nodiscard]] const finding *find(const std::string &check) const;

private:
	std::vector<finding> all_;
};

// Lines with their ends, none longer than the terminal is wide (80 columns where it is
// none), but for a word that is longer itself.
[[nodiscard]] std::string as_text(const findings &of, const terminal &on);

// One JSON object, with the end of the line. Its first key is "qpattr_doctor", 1.
[[nodiscard]] std::string as_json(const findings &of);

} // namespace qpattr::tool::doctor
