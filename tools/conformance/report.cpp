// SPDX-License-Identifier: MIT
#include "tools/conformance/report.hpp"

#include <algorithm>
#include <cstdio>

#include "tools/conformance/quote.hpp"

namespace conformance {
namespace {

// Of the questions that went wrong at one stop, as many are told.
constexpr std::size_t told_max = 5;

void write(const nlohmann::json &line)
{
	std::printf("%s\n", line.dump().c_str());
	std::fflush(stdout);
}

nlohmann::json json_of(const outcome &answer)
{
	if (!answer.answered())
		return {{"errno", errno_name(answer.code)}};
	auto fields = nlohmann::json::object();
	for (const auto &[name, value] : values_of(answer))
		fields[name] = value;
	return {{"mask", hex(answer.mask_value())}, {"fields", fields}};
}

} // namespace

report::report(std::string cell, init_qp_attr_fn *stock, init_qp_attr_fn *ours, selection what,
	       std::string again)
	: cell_{std::move(cell)}, stock_{stock}, ours_{ours}, what_{std::move(what)},
	  again_{std::move(again)}
{
}

std::string report::name_of(const stop &which)
{
	return which.stage + ", " + side_name(which.who);
}

bool report::selected(const stop &which) const
{
	return name_of(which).find(what_.stop) != std::string::npos;
}

bool report::selected(const question &what) const
{
	return (what_.fill.empty() || what_.fill == what.fill.name) &&
	       (what_.state < 0 || what_.state == what.state) &&
	       (what_.order < 0 || (what_.order == 1) == what.ours_first);
}

bool report::begin(const std::vector<stop> &stops, const subject &about)
{
	about_ = about;
	stops_.clear();
	for (const stop &each : stops)
		stops_.push_back({each, false});
	return std::ranges::any_of(stops, [&](const stop &each) { return selected(each); });
}

void report::put(at_stop &to, const stop &at, const question &what)
{
	outcome stock, ours;
	if (what.ours_first) {
		ours = ask(ours_, what);
		stock = ask(stock_, what);
	} else {
		stock = ask(stock_, what);
		ours = ask(ours_, what);
	}
	++to.asked;
	if (what.fill.first == 0 && !what.ours_first)
		to.answers[std::to_string(what.state)] = json_of(stock);

	std::string wrong = difference(stock, ours, what);
	if (wrong.empty())
		wrong = departure(stock, what, known(at.where, what.state, at.who, about_));
	if (wrong.empty())
		return;
	++to.wrong;
	if (to.differences.size() < told_max)
		to.differences.push_back(
			{{"question", state_name(what.state)},
			 {"what", wrong},
			 {"again", again_ + " --only " + shell_word(to.name) + " --state " +
					   std::to_string(what.state) + " --fill " + what.fill.name +
					   " --first " + (what.ours_first ? "ours" : "stock")}});
}

void report::visit(const std::string &stage, side who, rdma_cm_id *id)
{
	const auto found = std::ranges::find_if(stops_, [&](const visited &each) {
		return each.at.stage == stage && each.at.who == who;
	});
	if (found == stops_.end() || found->done)
		throw std::logic_error("a stop not announced, or come to twice: " + stage + ", " +
				       side_name(who));
	found->done = true;
	if (!selected(found->at))
		return;

	at_stop here{name_of(found->at)};
	// Each question is put both ways round.
	for (const int state : states)
		for (const pattern &fill : patterns)
			for (int turn = 0; turn < 2; ++turn, ours_first_ = !ours_first_)
				if (const question what{id, state, fill, ours_first_};
				    selected(what))
					put(here, found->at, what);
	asked_ += here.asked;
	equal_ += here.asked - here.wrong;
	failed_ += here.wrong;
	write({{"type", "stop"},
	       {"cell", cell_},
	       {"stage", stage},
	       {"side", side_name(who)},
	       {"asked", here.asked},
	       {"equal", here.asked - here.wrong},
	       {"answers", here.answers},
	       {"differences", here.differences}});

	if (!what_.is_all() && std::ranges::all_of(stops_, [&](const visited &each) {
		    return each.done || !selected(each.at);
	    }))
		throw enough{};
}

void report::expect(bool held, const std::string &name, const std::string &why)
{
	failed_ += !held;
	write({{"type", "check"},
	       {"cell", cell_},
	       {"name", name},
	       {"ok", held},
	       {"why", held ? "" : why}});
}

// Stops that were announced and not come to.
void report::missed(const std::string &why)
{
	for (const visited &each : stops_)
		if (!each.done && selected(each.at))
			expect(false, name_of(each.at), why);
}

int report::end(const char *status, const std::string &reason)
{
	write({{"type", "cell"},
	       {"cell", cell_},
	       {"status", status},
	       {"reason", reason},
	       {"asked", asked_},
	       {"equal", equal_}});
	return failed_ == 0 ? 0 : 1;
}

int report::finish()
{
	missed("the cell did not come here");
	if (asked_ == 0)
		expect(false, "something was asked", "nothing was selected");
	return end(failed_ == 0 ? "equal" : "different", "");
}

int report::not_here(const std::string &why)
{
	// What was found different before is not forgotten for it.
	return end(failed_ == 0 ? "unavailable" : "different", why);
}

int report::broken_off(const std::string &why)
{
	++failed_;
	return end("broken", why);
}

} // namespace conformance
