// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/summary.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "lib/attr/names.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/trace_text.hpp"

namespace qpattr::tool {
namespace {

constexpr std::size_t shown_max = 20; // connections; a server has thousands

std::uint32_t type_number(const std::string &name)
{
	for (std::uint32_t type = 0; type < 16; ++type)
		if (const char *const known = attr::qp_type_name(type); known && name == known)
			return type;
	return 0;
}

std::string counted(std::uint64_t number, const char *what)
{
	return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string plural(std::uint64_t number, const char *one, const char *many)
{
	return fmt::format("{} {}", number, number == 1 ? one : many);
}

void heading(const terminal &on, std::string &to, const std::string &text)
{
	to += on.paint(colour::bold, text) + "\n";
}

// The middle one; of two the mean. Sorted before.
std::uint64_t median(const std::vector<std::uint64_t> &sorted)
{
	const std::size_t half = sorted.size() / 2;
	return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

} // namespace

void trace_summary::take(const record &each)
{
	if (const auto *const call = std::get_if<call_record>(&each)) {
		take_call(*call);
	} else if (const auto *const end = std::get_if<end_record>(&each)) {
		if (end->calls == 0 && end->lost == 0)
			return;
		process &of = processes_[end->pid];
		of.program = end->program;
		of.last_seq = std::max(of.last_seq, end->calls);
		of.said_lost = std::max(of.said_lost, end->lost);
	}
}

void trace_summary::take_call(const call_record &call)
{
	process &of = processes_[call.pid];
	of.program = call.program;
	++of.calls;
	++of.asked[call.asked];
	of.failed += call.failed() ? 1 : 0;
	of.last_seq = std::max(of.last_seq, call.seq);
	of.said_lost = std::max(of.said_lost, call.lost);
	of.durations_ns.push_back(call.duration_ns);

	const connections::place place = by_call_.of(call);
	if (place.first)
		connections_.push_back({call.pid, call.program, "", call.qp_type, {}, {},
					type_number(call.qp_type), false});
	connection &on = connections_[place.number];
	if (call.dst || on.way.empty())
		on.way = way_text(call);
	on.rxe = on.rxe || (call.device && call.device->rfind("rxe", 0) == 0);
	if (call.failed()) {
		on.states.push_back(call.asked + " " + call.error);
		++failed_[{call.asked, call.error}];
	} else {
		on.states.push_back(call.asked);
		on.attributes.add(call.received.attr, static_cast<std::uint32_t>(call.mask));
	}
	for (const override_made &each : call.overrides)
		++rules_[{each.rule, each.attribute}].applied;
	for (const override_refused &each : call.refused)
		++rules_[{each.rule, each.attribute}].refused;
}

std::uint64_t trace_summary::calls() const
{
	std::uint64_t out = 0;
	for (const auto &[pid, of] : processes_)
		out += of.calls;
	return out;
}

std::uint64_t trace_summary::failures() const
{
	std::uint64_t out = 0;
	for (const auto &[pid, of] : processes_)
		out += of.failed;
	return out;
}

std::uint64_t trace_summary::lost() const
{
	std::uint64_t out = 0;
	for (const auto &[pid, of] : processes_) {
		const std::uint64_t missing = of.last_seq > of.calls ? of.last_seq - of.calls : 0;
		out += std::max(of.said_lost, missing);
	}
	return out;
}

std::string trace_summary::in_short() const
{
	const std::uint64_t failed = failures();
	return fmt::format("{} of {}, {}", counted(calls(), "call"),
			   plural(processes(), "process", "processes"),
			   failed ? fmt::format("{} failed", failed) : "none failed");
}

std::string trace_summary::table(const terminal &on) const
{
	std::string out;
	add_processes(on, out);
	add_connections(on, out);
	add_failures(on, out);
	add_overrides(on, out);
	add_findings(on, out);
	return out;
}

void trace_summary::add_processes(const terminal &on, std::string &to) const
{
	std::size_t wide = 7;
	for (const auto &[pid, of] : processes_)
		wide = std::max(wide, columns(harmless(of.program)) + 1 +
					      fmt::formatted_size("{}", pid));
	// The names give way first, to leave the numbers.
	constexpr std::size_t numbers = 56;
	if (on.width() > numbers)
		wide = std::min(wide, on.width() - numbers);
	heading(on, to,
		fmt::format("{}{:>7}{:>6}{:>6}{:>6}{:>7}{:>8}{:>8}{:>8}", padded("process", wide),
			    "calls", "INIT", "RTR", "RTS", "failed", "min", "median", "max"));
	for (const auto &[pid, of] : processes_) {
		const auto asked = [&of = of](const char *state) {
			const auto at = of.asked.find(state);
			return at == of.asked.end() ? 0 : at->second;
		};
		std::vector<std::uint64_t> sorted = of.durations_ns;
		std::sort(sorted.begin(), sorted.end());
		const std::string name =
			cut(fmt::format("{} {}", harmless(of.program), pid), wide);
		to += fmt::format("{}{:>7}{:>6}{:>6}{:>6}", padded(name, wide), of.calls,
				  asked("INIT"), asked("RTR"), asked("RTS"));
		to += on.paint(of.failed ? colour::red : colour::plain,
			       fmt::format("{:>7}", of.failed));
		if (sorted.empty()) {
			to += "\n";
			continue;
		}
		for (const std::uint64_t each : {sorted.front(), median(sorted), sorted.back()})
			to += " " + padded_left(duration_text(each), 7);
		to += "\n";
	}
}

void trace_summary::add_connections(const terminal &on, std::string &to) const
{
	if (connections_.empty())
		return;
	to += "\n";
	heading(on, to, plural(connections_.size(), "connection", "connections"));
	std::size_t shown = 0;
	for (const connection &each : connections_) {
		if (++shown > shown_max) {
			to += on.paint(colour::dim,
				       fmt::format("  and {} more", connections_.size() - shown_max)) +
			      "\n";
			break;
		}
		std::vector<part> parts{{fmt::format("{} {}", harmless(each.program), each.pid)},
					{each.way.empty() ? "(no addresses)" : each.way},
					{harmless(each.type)}};
		std::string states;
		for (std::size_t i = 0; i < each.states.size(); ++i) {
			std::size_t times = 1;
			while (i + 1 < each.states.size() && each.states[i + 1] == each.states[i])
				++times, ++i;
			states += fmt::format("{}{}{}", states.empty() ? "" : ", ",
					      harmless(each.states[i]),
					      times > 1 ? fmt::format(" {}x", times) : "");
		}
		parts.push_back({states});
		to += flow(on, "  ", parts, 4);
	}
}

void trace_summary::add_failures(const terminal &on, std::string &to) const
{
	if (failed_.empty())
		return;
	to += "\n";
	heading(on, to, "failed");
	for (const auto &[what, times] : failed_)
		to += "  " +
		      on.paint(colour::red, fmt::format("{} {} {}x", harmless(what.first),
							harmless(what.second), times)) +
		      fmt::format("  (qpattr explain {} {})\n", harmless(what.second),
				  harmless(what.first));
}

void trace_summary::add_overrides(const terminal &on, std::string &to) const
{
	if (rules_.empty())
		return;
	to += "\n";
	heading(on, to, "overrides");
	for (const auto &[what, times] : rules_) {
		std::string line = fmt::format("  rule {}: {} applied {}x", what.first,
					       harmless(what.second), times.applied);
		if (times.refused)
			line += fmt::format(", refused {}x", times.refused);
		to += on.paint(times.refused ? colour::yellow : colour::plain, line) + "\n";
	}
}

void trace_summary::add_findings(const terminal &on, std::string &to) const
{
	struct told {
		std::uint64_t times = 0;
		attr::severity how{};
		std::string attribute, reason, advice;
	};
	std::map<std::string, told> all;
	for (const connection &each : connections_) {
		attr::surroundings at;
		at.qp_type = each.qp_type;
		at.soft_roce = each.rxe;
		attr::findings found;
		attr::lint(each.attributes.attr, each.attributes.mask, at, found);
		for (std::size_t i = 0; i < found.size(); ++i) {
			told &is = all[found[i].id];
			if (is.times++ > 0)
				continue;
			is.how = found[i].how;
			is.attribute = found[i].about ? found[i].about->name : "";
			is.reason = found[i].reason.c_str();
			is.advice = found[i].advice ? found[i].advice : "";
		}
	}
	if (all.empty())
		return;
	std::vector<const told *> sorted;
	for (const auto &[id, is] : all)
		sorted.push_back(&is);
	std::stable_sort(sorted.begin(), sorted.end(),
			 [](const told *a, const told *b) { return a->how > b->how; });
	to += "\n";
	heading(on, to, "worth a look");
	for (const told *each : sorted) {
		const colour how = each->how == attr::severity::note ? colour::plain
				   : each->how == attr::severity::warning ? colour::yellow
									  : colour::red;
		const std::string text = fmt::format(
			"{}{}, {}: {}. Advice: {}", attr::severity_name(each->how),
			each->attribute.empty() ? "" : " " + each->attribute,
			plural(each->times, "connection", "connections"), each->reason,
			each->advice);
		to += flow_words(on, "  ", text, how, 4);
	}
}

} // namespace qpattr::tool
