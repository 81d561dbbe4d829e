// SPDX-License-Identifier: MIT
// What a person, or a test, reads while it runs.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace conformance {

class printer {
public:
	// tap: a line a stage, else a line a cell.
	explicit printer(bool tap) : tap_{tap} {}

	void begin(const std::string &kernel, const std::string &stock, const std::string &ours);
	void line(const nlohmann::json &from_cell);
	void cell(const nlohmann::json &whole);
	// The summary. True if everything that could be asked was equal.
	[[nodiscard]] bool end();

private:
	bool tap_;
	bool colour_ = false;
	std::map<std::string, int> by_status_;
	unsigned long asked_ = 0;
};

} // namespace conformance
