// SPDX-License-Identifier: MIT
// The questions of a cell, put at each stop, counted, and written as JSON Lines. A
// stop is a stage of a connection as one of its ids sees it; a cell announces its
// stops beforehand, so that one it does not come to is a failure and not a smaller
// number.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/conformance/question.hpp"

namespace conformance {

struct stop {
	std::string stage;
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

// Here this cell cannot be: the device or the kernel has not got it.
struct unavailable : std::runtime_error {
	using runtime_error::runtime_error;
};

class report {
public:
	// `again` is the command line without a selection, for reproductions.
	report(std::string cell, init_qp_attr_fn *stock, init_qp_attr_fn *ours, selection what,
	       std::string again);

	// What the cell consists of. False if none of it is selected.
	[[nodiscard]] bool begin(const std::vector<stop> &stops, const subject &about);
	// Which id a connection is made for decides some answers.
	void about(const subject &what) { about_ = what; }

	// Asks everything of an id at the stop. Throws if the stop is not announced,
	// and `enough` if no selected stop is left in the cell.
	struct enough {};
	void visit(const std::string &stage, side who, rdma_cm_id *id);
	[[nodiscard]] std::array<std::pair<const char *, init_qp_attr_fn *>, 2>
	implementations() const
	{
		return {{{"stock", stock_}, {"ours", ours_}}};
	}
	// A check that is no question.
	void expect(bool held, const std::string &name, const std::string &why);

	// The ends of a cell. Each gives the exit status.
	[[nodiscard]] int finish();
	[[nodiscard]] int not_here(const std::string &why);
	[[nodiscard]] int broken_off(const std::string &why);

private:
	struct visited {
		stop at;
		bool done = false;
	};
	struct at_stop {
		std::string name;
		nlohmann::json answers = nlohmann::json::object();
		nlohmann::json differences = nlohmann::json::array();
		std::size_t asked = 0, wrong = 0;
	};

	[[nodiscard]] static std::string name_of(const stop &which);
	[[nodiscard]] bool selected(const stop &which) const;
	[[nodiscard]] bool selected(const question &what) const;
	void put(at_stop &to, const stop &at, const question &what);
	void missed(const std::string &why);
	[[nodiscard]] int end(const char *status, const std::string &reason);

	std::string cell_;
	init_qp_attr_fn *stock_;
	init_qp_attr_fn *ours_;
	selection what_;
	std::string again_;
	subject about_{};
	std::vector<visited> stops_;
	bool ours_first_ = true; // changes with every question
	std::size_t asked_ = 0;
	std::size_t equal_ = 0;
	std::size_t failed_ = 0;
};

} // namespace conformance
