// SPDX-License-Identifier: MIT
#include "tools/conformance/printer.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace conformance {
namespace {

using nlohmann::json;

std::string text(const json &value)
{
	return value.get<std::string>();
}

const char *colour_of(const std::string &status)
{
	if (status == "equal")
		return "\033[32m";
	return status == "unavailable" ? "\033[33m" : "\033[31m";
}

std::string what_differs(const json &difference)
{
	return text(difference["question"]) + ": " + text(difference["what"]);
}

std::string difference_text(const json &difference)
{
	return what_differs(difference) + " -- again: " + text(difference["again"]);
}

} // namespace

void printer::begin(const std::string &kernel, const std::string &stock, const std::string &ours)
{
	colour_ = !tap_ && ::isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR");
	const char *mark = tap_ ? "# " : "";
	std::printf("%skernel  %s\n%sstock   %s\n%sqpattr  %s\n", mark, kernel.c_str(), mark,
		    stock.c_str(), mark, ours.c_str());
	std::fflush(stdout);
}

void printer::line(const json &from_cell)
{
	if (!tap_)
		return;
	const std::string name = text(from_cell["cell"]) + ": ";
	if (from_cell["type"] == "check") {
		const bool held = from_cell["ok"].get<bool>();
		std::printf("%s - %s%s%s%s\n", held ? "ok" : "not ok", name.c_str(),
			    text(from_cell["name"]).c_str(), held ? "" : ": ",
			    text(from_cell["why"]).c_str());
	} else if (from_cell["type"] == "stop") {
		const json &differences = from_cell["differences"];
		const std::string what = name + text(from_cell["stage"]) + ", " +
					 text(from_cell["side"]);
		const unsigned asked = from_cell["asked"], equal = from_cell["equal"];
		if (differences.empty()) {
			std::printf("ok - %s: %u questions\n", what.c_str(), asked);
		} else {
			std::printf("not ok - %s: %u of %u questions; %s\n", what.c_str(),
				    asked - equal, asked, difference_text(differences[0]).c_str());
			for (std::size_t at = 1; at < differences.size(); ++at)
				std::printf("# %s\n", difference_text(differences[at]).c_str());
		}
	}
	std::fflush(stdout);
}

void printer::cell(const json &whole)
{
	const std::string name = text(whole["cell"]), status = text(whole["status"]);
	const std::string reason = whole.contains("reason") ? text(whole["reason"]) : "";
	const unsigned asked = whole.value("asked", 0U);
	++by_status_[status];
	asked_ += asked;
	if (tap_) {
		if (status == "unavailable")
			std::printf("ok - %s: the cell ends: unavailable: %s\n", name.c_str(),
				    reason.c_str());
		else
			std::printf("%s - %s: the cell ends%s%s\n", status == "equal" ? "ok" : "not ok",
				    name.c_str(), reason.empty() ? "" : ": ", reason.c_str());
	} else {
		std::printf("%-24s %s%-11s%s %3zu stages  %5u questions  %5.1f s%s%s\n", name.c_str(),
			    colour_ ? colour_of(status) : "", status.c_str(), colour_ ? "\033[0m" : "",
			    whole["stops"].size(), asked, whole["seconds"].get<double>(),
			    reason.empty() ? "" : "  ", reason.c_str());
		for (const json &stop : whole["stops"])
			if (const json &all = stop["differences"]; !all.empty())
				std::printf("    %s, %s: %s\n      again: %s\n",
					    text(stop["stage"]).c_str(), text(stop["side"]).c_str(),
					    what_differs(all[0]).c_str(), text(all[0]["again"]).c_str());
		for (const json &check : whole["checks"])
			if (!check["ok"].get<bool>())
				std::printf("    %s: %s\n", text(check["name"]).c_str(),
					    text(check["why"]).c_str());
	}
	std::fflush(stdout);
}

bool printer::end()
{
	int cells = 0;
	std::string counts;
	for (const auto &[status, count] : by_status_) {
		cells += count;
		counts += ", " + std::to_string(count) + " " + status;
	}
	std::printf("%s%d cells, %lu questions to both%s\n", tap_ ? "# " : "", cells, asked_,
		    counts.c_str());
	if (asked_ == 0)
		std::printf("%s\n", tap_ ? "not ok - something was asked" : "nothing was asked");
	return by_status_["different"] == 0 && by_status_["broken"] == 0 && asked_ > 0;
}

} // namespace conformance
