// SPDX-License-Identifier: MIT
// The questions of a walk, put at each stop and counted. A stop is a stage of a
// connection as one of its ids sees it; a walk announces its stops beforehand, so
// that one it does not come to is a failure and not a smaller number.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "test/conformance/question.hpp"

namespace conformance {

enum class side { active, passive, listener };
[[nodiscard]] const char *side_name(side which) noexcept;

struct stop {
	const char *stage;
	side who;
	standing where;
};

// Which questions to ask; by default all of them.
struct selection {
	std::string stop;	// part of a stop's name
	std::string fill;	// name of a pattern
	int state = -1;
	int order = -1;		// 0: stock first, 1: ours first

	[[nodiscard]] bool is_all() const
	{
		return stop.empty() && fill.empty() && state < 0 && order < 0;
	}
};

struct tally {
	std::size_t asked = 0;
	std::size_t answered = 0;
	std::map<int, std::size_t> refused; // by errno

	void count(const outcome &stock);
	void add(const tally &other);
	[[nodiscard]] std::string text() const;
};

class report {
public:
	// `again` is the command line without a selection, for reproductions.
	report(init_qp_attr_fn *stock, init_qp_attr_fn *ours, selection what, std::string again);

	// A walk is what happens between these two; its name begins each case's.
	// False if none of the stops is selected.
	[[nodiscard]] bool begin(const std::string &walk, std::span<const stop> stops);
	void end();
	// The walk could not go on.
	void broken_off(const std::string &why);

	// Asks everything of an id at the stop. Throws if the stop is not announced,
	// and `enough` if no selected stop is left in the walk.
	struct enough {};
	void visit(const char *stage, side who, rdma_cm_id *id);
	[[nodiscard]] std::array<std::pair<const char *, init_qp_attr_fn *>, 2>
	implementations() const
	{
		return {{{"stock", stock_}, {"ours", ours_}}};
	}
	// A case that is no question.
	void expect(bool held, const std::string &name, const std::string &why);

	// Prints what was asked, by stage and by side, and gives the exit status.
	[[nodiscard]] int finish();

private:
	struct visited {
		stop at;
		tally count;
		bool done = false;
	};

	[[nodiscard]] std::string name_of(const stop &which) const;
	[[nodiscard]] bool selected(const stop &which) const;
	void put(const std::string &name, visited &to, const question &what);
	void line(bool held, const std::string &name, const std::string &text);
	[[nodiscard]] bool selected(const question &what) const;

	init_qp_attr_fn *stock_;
	init_qp_attr_fn *ours_;
	selection what_;
	std::string again_;
	std::string walk_;
	std::vector<visited> stops_;
	std::vector<std::string> wrong_; // at the present stop
	std::map<std::string, tally> by_stage_;
	std::map<side, tally> by_side_;
	tally all_;
	std::size_t planned_ = 0;
	std::size_t held_ = 0;
	std::size_t failed_ = 0;
};

} // namespace conformance
