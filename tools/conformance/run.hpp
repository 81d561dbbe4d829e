// SPDX-License-Identifier: MIT
// All cells, one after another, each in a child of its own: what one of them does
// to itself does not hide the others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/conformance/prerequisites.hpp"

namespace conformance {

struct wishes {
	std::string called;  // how this program is called
	std::string program; // conformance-cell
	std::string preload;
	std::vector<labelled_address> addresses; // empty: those of this machine
	std::vector<std::string> cells;		 // their beginnings, or labels; empty: all
	std::string removable;
	std::string stop, fill, first; // a selection; empty: all questions
	std::vector<std::pair<std::string, std::string>> notes; // for the file
	std::string again; // how a command that repeats a question begins
	bool slow = false; // cells that wait for a minute, too
	int state = -1;
	int seconds = 120;
	bool tap = false;
	bool any_object = false;
};

// The exit status: 0 or 1. Throws cannot_run, or what is wrong with the wishes.
[[nodiscard]] int run(const wishes &given, const std::string &json_file);
[[nodiscard]] int print_kinds(const wishes &given);

} // namespace conformance
