// SPDX-License-Identifier: MIT
// A trace: each end of a connection with its attributes, the worst cases and the
// findings; where the values come from, once for all.
#include <map>
#include <set>

#include <fmt/format.h>

#include "lib/attr/lint.hpp"
#include "lib/attr/origin.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/trace_text.hpp"
#include "tools/qpattr/explain/connection_end.hpp"
#include "tools/qpattr/explain/explain.hpp"
#include "tools/qpattr/explain/follows.hpp"

namespace qpattr::tool {
namespace {

// The states asked for, with what came of them: "INIT, RTR EINVAL".
std::string asked_of(const connection_end &end)
{
	std::string out;
	for (const call_record *call : end.calls) {
		out += (out.empty() ? "" : ", ") + harmless(call->asked);
		if (call->failed())
			out += " failed: " + (call->error.empty()
						      ? fmt::format("errno {}", call->error_number)
						      : harmless(call->error));
	}
	return out;
}

std::vector<fact> changes_of(const connection_end &end)
{
	std::vector<fact> out;
	for (const call_record *call : end.calls) {
		for (const override_made &each : call->overrides)
			out.push_back(
				{"overridden",
				 fmt::format("{} {} {} {}, by rule {}", harmless(each.attribute),
					     each.before, arrow(), each.after, each.rule)});
		for (const override_refused &each : call->refused)
			out.push_back({"not overridden",
				       fmt::format("{} {} by rule {}: {}", harmless(each.attribute),
						   each.wanted, each.rule, harmless(each.why))});
	}
	return out;
}

std::vector<remark> failures_of(const connection_end &end)
{
	std::vector<remark> out;
	std::set<std::pair<std::string, std::string>> said;
	for (const call_record *call : end.calls) {
		if (!call->failed() || !said.emplace(call->error, call->asked).second)
			continue;
		out.push_back({attr::severity::problem, "call-failed", "",
			       fmt::format("asked for {}: {}", harmless(call->asked),
					   harmless(error_text(*call))),
			       fmt::format("qpattr explain {} {}",
					   call->error.empty() ? std::to_string(call->error_number)
							       : harmless(call->error),
					   harmless(call->asked)),
			       false});
	}
	return out;
}

// What is over by the end, and was wrong: INIT's answer to a call for RTR, which a later
// call made good, and a connection that never came about.
std::vector<remark> passing(const connection_end &end, const attr::surroundings &at)
{
	std::vector<remark> out;
	bool beyond_init = false;
	for (const call_record *call : end.calls) {
		beyond_init = beyond_init || call->asked != "INIT";
		if (!out.empty())
			continue; // it is said once
		attr::findings found;
		attr::lint(call->received.attr, static_cast<std::uint32_t>(call->received.mask), at,
			   found);
		for (remark &each : remarks_of(found))
			if (each.id == "asked-too-early")
				out.push_back(std::move(each));
	}
	if (!beyond_init)
		out.push_back({attr::severity::note, "never-connected", "",
			       "only INIT was asked for: in this trace the connection did not come "
			       "about",
			       "look at the event that came instead and at its status: qpattr "
			       "explain UNREACHABLE -110, or try qpattr probe",
			       false});
	return out;
}

nlohmann::ordered_json json_of_end(const connection_end &end)
{
	const auto maybe = [](const auto &value) {
		return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json{};
	};
	return {{"number", end.number},
		{"program", end.program},
		{"pid", end.pid},
		{"id", end.id},
		{"side", end.who == connection_end::side::active ? nlohmann::ordered_json("active")
			 : end.who == connection_end::side::passive
				 ? nlohmann::ordered_json("passive")
				 : nlohmann::ordered_json{}},
		{"qp_type", end.qp_type},
		{"qp_num", maybe(end.qp_num)},
		{"src", maybe(end.src)},
		{"dst", maybe(end.dst)},
		{"device", maybe(end.device)},
		{"mask", end.got.mask},
		{"calls", end.calls.size()}};
}

section section_of(const connection_end &end)
{
	section out;
	out.title = fmt::format("{}. {}: {}", end.number, name_of(end), addresses_of(end));
	out.facts.push_back({"QP", qp_of(end) + ", id " + harmless(end.id)});
	out.facts.push_back({"asked", asked_of(end)});
	const attr::surroundings at = surroundings_of(end);
	for (fact &each : changes_of(end))
		out.facts.push_back(std::move(each));
	for (fact &each : worst_cases(end.got.attr, end.got.mask, at))
		out.facts.push_back(std::move(each));
	if (end.got.mask) {
		out.table.heads = {"attribute", "value", "means"};
		out.table.rows = rows_of(end.got.attr, end.got.mask & ~std::uint32_t{IBV_QP_STATE});
	}
	attr::findings found;
	attr::lint(end.got.attr, end.got.mask, at, found);
	out.remarks = failures_of(end);
	for (remark &each : passing(end, at))
		if (!found.find(each.id.c_str()))
			out.remarks.push_back(std::move(each));
	for (remark &each : remarks_of(found))
		out.remarks.push_back(std::move(each));
	return out;
}

// The same but for the ports of a program that connects a thousand times: said once.
std::string likeness(const section &of)
{
	std::string out;
	for (const remark &each : of.remarks)
		out += each.id + each.reason;
	for (const auto &row : of.table.rows)
		if (row[0] != "rq_psn" && row[0] != "sq_psn" && row[0] != "dest_qp_num" &&
		    row[0] != "flow_label")
			out += row[0] + row[1];
	for (const fact &each : of.facts)
		if (each.label != "QP")
			out += each.text;
	return out;
}

} // namespace

page explain_trace(std::string_view text, const std::string &path)
{
	const trace from = parse_trace(text, path);
	const std::vector<connection_end> ends = ends_of(from);
	page out;
	out.data["kind"] = "trace";
	out.data["cut"] = from.cut;
	auto &list = out.data["connections"] = nlohmann::ordered_json::array();

	section head;
	const auto counted = [](std::size_t count, const char *what) {
		return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
	};
	head.title =
		fmt::format("{}: {} about {}", harmless(path), counted(from.calls().size(), "call"),
			    counted(ends.size(), "connection end"));
	std::uint64_t lost = 0;
	std::map<std::uint64_t, std::uint64_t> lost_of;
	for (const call_record *call : from.calls())
		lost_of[call->pid] = call->lost;
	for (const record &each : from.records)
		if (const auto *end = std::get_if<end_record>(&each))
			lost_of[end->pid] = end->lost;
	for (const auto &[pid, count] : lost_of)
		lost += count;
	if (from.cut)
		head.remarks.push_back({attr::severity::warning, "trace-cut", "",
					cut_notice(from, path),
					"the program that wrote it was ended, "
					"or it runs still",
					false});
	if (lost)
		head.remarks.push_back(
			{attr::severity::warning, "records-lost", "",
			 fmt::format("{} records were lost: connections may be missing "
				     "or without an answer",
				     lost),
			 "write the trace to a disk with room, or raise "
			 "QPATTR_TRACE_LIMIT",
			 false});
	out.data["lost"] = lost;
	out.sections.push_back(head);

	std::uint32_t mask = 0;
	std::map<std::string, std::size_t> first_of; // by likeness, the place in sections
	std::map<std::size_t, std::vector<std::size_t>> alike;
	for (const connection_end &end : ends) {
		section one = section_of(end);
		mask |= end.got.mask;
		list.push_back(json_of_end(end));
		const auto [at, inserted] =
			first_of.try_emplace(likeness(one), out.sections.size());
		if (inserted) {
			out.sections.push_back(std::move(one));
			continue;
		}
		alike[at->second].push_back(end.number);
	}
	for (const auto &[at, numbers] : alike)
		out.sections[at].facts.push_back({"the same for", listed(numbers)});
	std::set<std::string> told;
	for (section &each : out.sections)
		for (remark &said : each.remarks)
			said.told = !told.insert(said.id + said.advice).second;
	section origins;
	origins.title = "where the values come from";
	for (const attr::attribute &each : attr::attributes)
		if (attr::in_mask(each, mask) && each.mask_bit != IBV_QP_ALT_PATH &&
		    each.mask_bit != IBV_QP_STATE && *attr::origin_of(each))
			origins.facts.push_back({short_name(each), attr::origin_of(each)});
	if (!origins.facts.empty())
		out.sections.push_back(origins);
	return out;
}

} // namespace qpattr::tool
