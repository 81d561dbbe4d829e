// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/perfetto.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace qpattr::tool {
namespace {

using json = nlohmann::ordered_json;

// Above the kernel's largest thread: a track is no thread of a program's.
constexpr std::size_t first_track = 5000000;

constexpr std::size_t waiting_max = 4096;

std::size_t track(std::size_t number)
{
	return first_track + number;
}

std::string dump(const json &what)
{
	return what.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Always UTF-8, whatever the terminal: it is JSON.
std::string track_name(const call_record &call)
{
	const std::string way =
		call.src || call.dst
			? fmt::format("{} \u2192 {}", call.src.value_or("?"), call.dst.value_or("?"))
			: "id " + call.id;
	return fmt::format("{} {}: {} ({})", call.program, call.pid, way, call.qp_type);
}

json arguments_of(const call_record &call)
{
	json out;
	if (call.qp_num)
		out["QP"] = *call.qp_num;
	if (call.device)
		out["device"] = call.port ? fmt::format("{} port {}", *call.device, *call.port)
					  : *call.device;
	out["id"] = call.id;
	out["thread"] = call.tid;
	out["call_us"] = static_cast<double>(call.duration_ns) / 1000;
	if (call.failed()) {
		out["errno"] = call.error;
		return out;
	}
	out["mask"] = fmt::format("{:#x}", call.mask);
	for (const attribute_value &each : call.attributes)
		out[each.name] = each.meaning.empty()
					 ? each.value
					 : fmt::format("{} ({})", each.value, each.meaning);
	for (const override_made &each : call.overrides)
		out["override of " + each.attribute] = fmt::format(
			"{} \u2192 {} (rule {})", each.before, each.after, each.rule);
	return out;
}

} // namespace

void perfetto_writer::take(const record &each)
{
	std::visit(
		[&](const record_head &any) {
			if (!begin_ns_)
				begin_ns_ = any.time_ns;
			last_ns_ = std::max(last_ns_, any.time_ns);
		},
		each);
	if (const auto *const call = std::get_if<call_record>(&each))
		take_call(*call);
	const auto *const end = std::get_if<end_record>(&each);
	if (!end)
		return;
	for (auto at = open_.begin(); at != open_.end();) {
		const std::size_t number = (at++)->first; // which close() may remove
		if (open_.at(number).call.pid == end->pid)
			close(number, end->time_ns);
	}
}

void perfetto_writer::take_call(const call_record &call)
{
	process(call);
	const auto key = std::pair{call.pid, call.id};
	const std::size_t number = connections_.of(call).number;
	const auto before = current_.find(key);
	if (before != current_.end() && before->second != number) {
		close(before->second, call.time_ns);
		named_tracks_.erase(before->second);
	}
	current_[key] = number;
	name_track(number, call);
	if (call.failed())
		return failure_at(number, call);
	close(number, call.time_ns);
	open_.emplace(number, open_span{call});
	if (call.asked == "RTR")
		join_ends(number, call);
}

void perfetto_writer::process(const record_head &of)
{
	if (!named_processes_.insert(of.pid).second)
		return;
	event(dump({{"ph", "M"},
		    {"name", "process_name"},
		    {"pid", of.pid},
		    {"args", {{"name", of.program}}}}));
}

// Addresses may come with a later call; the last name counts.
void perfetto_writer::name_track(std::size_t number, const call_record &call)
{
	const std::string name = track_name(call);
	std::string &known = named_tracks_[number];
	if (known == name || (!known.empty() && !call.dst))
		return;
	known = name;
	event(dump({{"ph", "M"},
		    {"name", "thread_name"},
		    {"pid", call.pid},
		    {"tid", track(number)},
		    {"args", {{"name", name}}}}));
}

void perfetto_writer::close(std::size_t number, std::uint64_t time_ns)
{
	const auto at = open_.find(number);
	if (at == open_.end())
		return;
	const call_record &call = at->second.call;
	const std::uint64_t end = std::max(time_ns, call.time_ns);
	event(dump({{"ph", "X"},
		    {"name", call.asked},
		    {"cat", "state"},
		    {"pid", call.pid},
		    {"tid", track(number)},
		    {"ts", microseconds(call.time_ns)},
		    {"dur", static_cast<double>(end - call.time_ns) / 1000},
		    {"args", arguments_of(call)}}));
	open_.erase(at);
}

void perfetto_writer::failure_at(std::size_t number, const call_record &call)
{
	event(dump({{"ph", "i"},
		    {"s", "t"},
		    {"name", fmt::format("{} failed: {}", call.asked, call.error)},
		    {"cat", "failure"},
		    {"pid", call.pid},
		    {"tid", track(number)},
		    {"ts", microseconds(call.time_ns)},
		    {"args", arguments_of(call)}}));
}

// The two ends know each other by their addresses crosswise. An arrow goes from where
// the one became ready to receive to where the other did.
void perfetto_writer::join_ends(std::size_t number, const call_record &call)
{
	if (!call.src || !call.dst)
		return;
	const auto peer = waiting_.find({*call.dst, *call.src});
	if (peer == waiting_.end()) {
		// Of peers that are not traced; a server has very many.
		if (waiting_.size() == waiting_max)
			waiting_.clear();
		waiting_[{*call.src, *call.dst}] = {number, call.time_ns};
		return;
	}
	const auto open = open_.find(peer->second.number);
	if (open != open_.end()) {
		++arrows_;
		const auto end = [&](const char *phase, std::size_t of, std::uint64_t pid,
				     std::uint64_t time_ns) {
			event(dump({{"ph", phase},
				    {"bp", "e"},
				    {"id", arrows_},
				    {"name", "connection"},
				    {"cat", "connection"},
				    {"pid", pid},
				    {"tid", track(of)},
				    {"ts", microseconds(time_ns)}}));
		};
		end("s", peer->second.number, open->second.call.pid, peer->second.time_ns);
		end("f", number, call.pid, call.time_ns);
	}
	waiting_.erase(peer);
}

void perfetto_writer::finish(std::uint64_t time_ns)
{
	while (!open_.empty())
		close(open_.begin()->first, std::max(time_ns, last_ns_));
}

void perfetto_writer::event(const std::string &json)
{
	emit_((empty_ ? "" : ",\n") + json);
	empty_ = false;
}

// From the first record on: since the epoch they would not fit a double.
double perfetto_writer::microseconds(std::uint64_t time_ns) const
{
	const std::uint64_t begin = begin_ns_.value_or(0);
	return time_ns > begin ? static_cast<double>(time_ns - begin) / 1000 : 0;
}

} // namespace qpattr::tool
