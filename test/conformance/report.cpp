// SPDX-License-Identifier: MIT
#include "test/conformance/report.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace conformance {
namespace {

// Of the questions that went wrong at one stop, as many are printed.
constexpr std::size_t printed_max = 5;

} // namespace

const char *side_name(side which) noexcept
{
	switch (which) {
	case side::active:
		return "active";
	case side::passive:
		return "passive";
	case side::listener:
		return "listener";
	}
	return "unknown";
}

void tally::count(const outcome &stock)
{
	++asked;
	if (stock.answered())
		++answered;
	else
		++refused[stock.code];
}

void tally::add(const tally &other)
{
	asked += other.asked;
	answered += other.answered;
	for (const auto &[code, times] : other.refused)
		refused[code] += times;
}

std::string tally::text() const
{
	std::string out = std::to_string(asked) + " questions, " + std::to_string(answered) +
			  " answered, " + std::to_string(asked - answered) + " refused";
	for (const auto &[code, times] : refused)
		out += ", " + errno_name(code) + " " + std::to_string(times);
	return out;
}

report::report(init_qp_attr_fn *stock, init_qp_attr_fn *ours, selection what, std::string again)
	: stock_{stock}, ours_{ours}, what_{std::move(what)}, again_{std::move(again)}
{
}

std::string report::name_of(const stop &which) const
{
	return walk_ + ": " + which.stage + ", " + side_name(which.who);
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

bool report::begin(const std::string &walk, std::span<const stop> stops)
{
	walk_ = walk;
	stops_.clear();
	for (const stop &each : stops)
		stops_.push_back({each, {}});
	planned_ += stops.size() * questions_a_stage;
	return std::ranges::any_of(stops, [&](const stop &each) { return selected(each); });
}

void report::end()
{
	for (const visited &each : stops_)
		if (!each.done && selected(each.at))
			line(false, name_of(each.at), "the walk did not come here");
}

void report::broken_off(const std::string &why)
{
	line(false, walk_ + ": the walk goes on", why);
	end();
}

void report::line(bool held, const std::string &name, const std::string &text)
{
	std::printf("%s - %s%s%s\n", held ? "ok" : "not ok", name.c_str(),
		    text.empty() ? "" : ": ", text.c_str());
	std::fflush(stdout);
	++(held ? held_ : failed_);
}

void report::expect(bool held, const std::string &name, const std::string &why)
{
	line(held, walk_ + ": " + name, held ? "" : why);
}

void report::put(const std::string &name, visited &to, const question &what)
{
	outcome stock, ours;
	if (what.ours_first) {
		ours = ask(ours_, what);
		stock = ask(stock_, what);
	} else {
		stock = ask(stock_, what);
		ours = ask(ours_, what);
	}
	to.count.count(stock);

	std::string wrong = difference(stock, ours, what);
	if (wrong.empty())
		wrong = departure(stock, what, known(to.at.where, what.state));
	if (!wrong.empty())
		wrong_.push_back(state_name(what.state) + ": " + wrong + " -- again: " + again_ +
				 " --only '" + name + "' --state " + std::to_string(what.state) +
				 " --fill " + what.fill.name + " --first " +
				 (what.ours_first ? "ours" : "stock"));
}

void report::visit(const char *stage, side who, rdma_cm_id *id)
{
	const auto found = std::ranges::find_if(stops_, [&](const visited &each) {
		return std::string_view{each.at.stage} == stage && each.at.who == who;
	});
	if (found == stops_.end() || found->done)
		throw std::logic_error(std::string{"a stop not announced, or come to twice: "} +
				       stage + ", " + side_name(who));
	found->done = true;
	if (!selected(found->at))
		return;

	const std::string name = name_of(found->at);
	wrong_.clear();
	// Who is asked first changes with every question, and each question is put
	// both ways.
	bool ours_first = true;
	for (const int state : states)
		for (const pattern &fill : patterns)
			for (int turn = 0; turn < 2; ++turn, ours_first = !ours_first)
				if (const question what{id, state, fill, ours_first};
				    selected(what))
					put(name, *found, what);

	const tally &count = found->count;
	by_stage_[stage].add(count);
	by_side_[who].add(count);
	all_.add(count);
	line(wrong_.empty(), name,
	     wrong_.empty() ? count.text()
			    : std::to_string(wrong_.size()) + " of " + count.text() + "; " +
				      wrong_.front());
	for (std::size_t i = 1; i < wrong_.size() && i < printed_max; ++i)
		std::printf("# %s\n", wrong_[i].c_str());
	if (wrong_.size() > printed_max)
		std::printf("# and %zu more\n", wrong_.size() - printed_max);

	if (!what_.is_all() && std::ranges::all_of(stops_, [&](const visited &each) {
		    return each.done || !selected(each.at);
	    }))
		throw enough{};
}

int report::finish()
{
	for (const auto &[stage, count] : by_stage_)
		std::printf("# stage %s: %s\n", stage.c_str(), count.text().c_str());
	for (const auto &[who, count] : by_side_)
		std::printf("# side %s: %s\n", side_name(who), count.text().c_str());

	walk_ = "all walks";
	if (what_.is_all())
		line(all_.asked == planned_ && planned_ > 0, "every planned question was asked",
		     all_.text() + ", planned " + std::to_string(planned_));
	else
		line(all_.asked > 0, "something was selected", all_.text());
	return failed_ == 0 ? 0 : 1;
}

} // namespace conformance
