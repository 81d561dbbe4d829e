// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/override_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lib/attr/names.hpp"
#include "lib/attr/origin.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/trace_text.hpp"

namespace qpattr::tool {
namespace {

constexpr std::size_t examples_max = 3;

std::string with_meaning(const attr::attribute &what, std::uint64_t value)
{
	const std::string meaning = meaning_of(what.name, value);
	return meaning.empty() ? fmt::format("{}", value) : fmt::format("{} ({})", value, meaning);
}

std::string times(std::uint64_t number)
{
	return number == 1 ? "once" : fmt::format("{} times", number);
}

std::string transition_name(const attr::attribute &what)
{
	const char *const name =
		attr::qp_state_name(static_cast<std::uint32_t>(attr::transition_of(what)));
	return name ? name : "";
}

// INIT, RTR, RTS in their order; 0 for another.
unsigned rank(const std::string &state)
{
	return state == "INIT" ? 1 : state == "RTR" ? 2 : state == "RTS" ? 3 : 0;
}

template <class List> std::string joined(const List &list)
{
	std::string out;
	for (const auto &each : list)
		out += (out.empty() ? "" : ", ") + std::string{each};
	return out;
}

// librdmacm sets these two again after it asked, from the parameters of the
// connection.
bool replaced_by_librdmacm(const attr::attribute &what)
{
	return what.kind == attr::unit::rd_atomic;
}

} // namespace

override_report::override_report(const std::vector<override_rule> &rules)
	: rules_{rules}, outcomes_(rules.size())
{
	for (std::size_t i = 0; i < rules.size(); ++i)
		outcomes_[i].settings.resize(rules[i].set.size());
}

void override_report::take(const record &each)
{
	if (const auto *const process = std::get_if<process_record>(&each);
	    process && !process->overrides)
		without_.emplace(process->pid, process->program);
	if (const auto *const call = std::get_if<call_record>(&each))
		take_call(*call);
}

void override_report::take_call(const call_record &call)
{
	++calls_;
	if (without_.count(call.pid))
		called_without_.insert(call.pid);
	const connections::place place = by_call_.of(call);
	if (seen_.size() <= examples_max && (call.dst || call.device))
		seen_.insert(fmt::format("{} on {}, {}", call.dst ? way_text(call) : "unconnected",
					 call.device.value_or("no device"), call.qp_type));
	for (const unsigned number : call.matched) {
		if (number > rules_.size())
			continue;
		outcome &of = outcomes_[number - 1];
		of.connections.insert(place.number);
		asked_count &count = of.asked[call.asked];
		++(call.failed() ? count.failed : count.answered);
		for (std::size_t i = 0; i < of.settings.size(); ++i)
			count_setting(call, number, rules_[number - 1].set[i], of.settings[i]);
	}
}

void override_report::count_setting(const call_record &call, unsigned rule,
				    const rule_setting &setting, tally &to) const
{
	const attr::attribute &what = *setting.is.what;
	for (const override_refused &each : call.refused)
		if (each.rule == rule && each.attribute == what.name) {
			++to.refused;
			to.refusal = each;
			return;
		}
	const override_made *other = nullptr;
	for (const override_made &each : call.overrides) {
		if (each.attribute != what.name)
			continue;
		if (each.rule == rule && each.before == each.after) {
			++to.same;
			return;
		}
		if (each.rule == rule) {
			++to.applied;
			if (to.before.size() < examples_max)
				to.before.insert(each.before);
			return;
		}
		other = &each;
	}
	if (call.failed() || transition_name(what) != call.asked)
		return;
	if (other) {
		++to.overruled[other->rule];
	} else if (!attr::in_mask(what, static_cast<std::uint32_t>(call.mask))) {
		++to.not_in_mask;
		to.kinds.insert(call.qp_type);
	}
}

std::string override_report::text(const terminal &on) const
{
	std::string out;
	for (std::size_t i = 0; i < rules_.size(); ++i) {
		const outcome &of = outcomes_[i];
		const std::size_t matched = of.connections.size();
		std::string line = fmt::format("rule {}, {}: ", i + 1, harmless(rules_[i].origin));
		line += matched ? fmt::format("matched {} connection{}", matched,
					      matched == 1 ? "" : "s")
				: "never matched" + unmatched();
		out += flow_words(on, "qpattr: ", line, matched ? colour::bold : colour::yellow, 10);
		for (std::size_t k = 0; matched && k < of.settings.size(); ++k) {
			const tally &is = of.settings[k];
			out += flow_words(on, "qpattr:   ", setting_text(rules_[i].set[k], of, is),
					  is.applied && !is.refused ? colour::plain
								    : colour::yellow,
					  12);
			if (is.applied && replaced_by_librdmacm(*rules_[i].set[k].is.what))
				out += flow_words(on, "qpattr:     ",
						  "where librdmacm moves the QP itself, it then "
						  "puts in the value of rdma_connect or rdma_accept",
						  colour::yellow, 12);
		}
	}
	for (const std::uint64_t pid : called_without_)
		out += flow_words(on, "qpattr: ",
				  fmt::format("{} {} took no rules: it says why on standard error",
					      harmless(without_.at(pid)), pid),
				  colour::red, 10);
	return out;
}

std::string override_report::setting_text(const rule_setting &setting, const outcome &rule,
					  const tally &is) const
{
	const attr::attribute &what = *setting.is.what;
	if (!is.applied)
		return fmt::format("{}: never applied: {}", what.name, why_never(setting, rule, is));
	std::vector<std::string> before;
	for (const std::uint64_t each : is.before)
		before.push_back(with_meaning(what, each));
	std::string out = fmt::format("{}: applied {}: {} {} {}", what.name, times(is.applied),
				      joined(before), arrow(),
				      with_meaning(what, setting.is.number));
	if (is.refused)
		out += fmt::format("; refused {}: {}", times(is.refused),
				   harmless(is.refusal->why));
	return out;
}

std::string override_report::why_never(const rule_setting &setting, const outcome &rule,
				       const tally &is) const
{
	const attr::attribute &what = *setting.is.what;
	const std::string state = transition_name(what);
	if (is.refusal) {
		std::string out = fmt::format("refused {}: {}", times(is.refused),
					      harmless(is.refusal->why));
		if (is.refusal->limit)
			out += fmt::format(", limit {}", with_meaning(what, *is.refusal->limit));
		return out;
	}
	if (is.same)
		return fmt::format("it was {} already, {}", with_meaning(what, setting.is.number),
				   times(is.same));
	if (!is.overruled.empty())
		return fmt::format("rule {} sets it too, and comes later",
				   is.overruled.begin()->first);
	if (is.not_in_mask)
		return fmt::format("it is not in the mask that {} QPs get for {}", joined(is.kinds),
				   state);
	const auto asked = rule.asked.find(state);
	if (asked != rule.asked.end() && asked->second.failed && !asked->second.answered)
		return fmt::format("every call for {}, where it belongs, failed", state);
	std::vector<std::string> states;
	bool earlier = false, later = false;
	for (const auto &[each, count] : rule.asked) {
		states.push_back(each);
		earlier = earlier || rank(each) < rank(state);
		later = later || rank(each) > rank(state);
	}
	if (asked != rule.asked.end())
		return fmt::format("no call for {} could take it", state);
	return fmt::format("{}the program asked for {} only, and it belongs to {}",
			   earlier && !later   ? "too early: "
			   : later && !earlier ? "too late: "
					       : "",
			   joined(states), state);
}

std::string override_report::unmatched() const
{
	if (calls_ == 0)
		return ": no call was seen";
	if (seen_.empty())
		return fmt::format(": of {} calls none had addresses or a device", calls_);
	std::string out = ": there was";
	std::size_t shown = 0;
	for (const std::string &each : seen_) {
		if (shown++ == examples_max)
			return out + "; and more";
		out += (shown == 1 ? " " : "; ") + harmless(each);
	}
	return out;
}

std::vector<std::string> roundings(const std::vector<override_rule> &rules)
{
	std::vector<std::string> out;
	for (const override_rule &rule : rules)
		for (const rule_setting &each : rule.set) {
			if (!each.is.rounded)
				continue;
			attr::text_of<256> line;
			attr::add_setting(line, each.is, each.written);
			out.push_back(fmt::format("{}, the shortest that is at least as long",
						  line.c_str()));
		}
	return out;
}

} // namespace qpattr::tool
