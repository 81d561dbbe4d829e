// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/record.hpp"

#include <cstring>
#include <ctime>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/attr/fields.hpp"
#include "lib/attr/names.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/trace_file.hpp"

namespace qpattr::tool::probe {
namespace {

using json = nlohmann::ordered_json;

std::uint64_t now_ns(clockid_t clock)
{
	timespec now{};
	::clock_gettime(clock, &now);
	return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
	       static_cast<std::uint64_t>(now.tv_nsec);
}

template <class Add, class... Arguments> std::string spelled(Add add, const Arguments &...arguments)
{
	attr::text_of<160> text;
	add(text, arguments...);
	return text.c_str();
}

json text_or_null(const std::string &text)
{
	return text.empty() ? json{} : json(text);
}

json head(const char *type, std::uint64_t time_ns)
{
	return {{"qpattr", trace_version},
		{"type", type},
		{"time_ns", time_ns},
		{"pid", ::getpid()},
		{"program", "qpattr probe"}};
}

json attributes_of(const attributes &got)
{
	json out = json::object();
	for (const attr::attribute &what : attr::attributes) {
		if (!attr::in_mask(what, static_cast<std::uint32_t>(got.mask)))
			continue;
		json one{{"value", spelled(attr::add_value, what, got.attr)}};
		if (what.kind != attr::unit::gid)
			one["number"] = attr::value_number(what, got.attr);
		if (std::string meaning = spelled(attr::add_meaning, what, got.attr); !meaning.empty())
			one["meaning"] = meaning;
		out[what.name] = one;
	}
	return out;
}

json mask_names_of(std::uint32_t mask)
{
	json out = json::array();
	for (unsigned i = 0; i < 32; ++i) {
		const std::uint32_t bit = 1U << i;
		if (!(mask & bit))
			continue;
		const char *const name = attr::mask_bit_name(bit);
		out.push_back(name ? std::string{name} : fmt::format("0x{:x}", bit));
	}
	return out;
}

json call_of(const end_facts &of, const answer &what, std::size_t seq)
{
	const auto mask = static_cast<std::uint32_t>(what.got.mask);
	json out = head("call", what.time_ns);
	out["end"] = of.end;
	out["seq"] = seq;
	out["duration_ns"] = what.duration_ns;
	out["tid"] = ::gettid();
	out["id"] = of.id;
	out["handle"] = nullptr;
	out["device"] = text_or_null(of.device);
	out["port"] = of.port ? json(of.port) : json{};
	out["port_space"] = of.udp ? "UDP" : "TCP";
	out["qp_type"] = of.udp ? "UD" : "RC";
	out["qp_num"] = of.qp_num ? json(of.qp_num) : json{};
	out["src"] = text_or_null(of.src);
	out["dst"] = text_or_null(of.dst);
	out["asked"] = spelled(attr::add_qp_state, static_cast<std::uint32_t>(what.asked));
	out["result"] = what.why ? -1 : 0;
	out["errno"] = what.why ? json(::strerrorname_np(what.why.code)) : json{};
	if (what.why)
		out["errno_number"] = what.why.code;
	out["served_by"] = "qpattr";
	out["mask"] = mask;
	out["mask_names"] = mask_names_of(mask);
	out["attributes"] = attributes_of(what.got);
	out["matched"] = json::array();
	out["overrides"] = json::array();
	out["refused"] = json::array();
	out["lost"] = 0;
	return out;
}

std::string own_file()
{
	char path[4096];
	const ssize_t len = ::readlink("/proc/self/exe", path, sizeof path);
	return {path, len > 0 ? static_cast<std::size_t>(len) : 0};
}

std::string line_of(const json &what)
{
	return what.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

} // namespace

answer ask(const id_ref &id, ibv_qp_state state)
{
	answer out;
	out.asked = state;
	out.time_ns = now_ns(CLOCK_REALTIME);
	const std::uint64_t begin = now_ns(CLOCK_MONOTONIC);
	const auto asked = id.attributes_for(state);
	out.duration_ns = now_ns(CLOCK_MONOTONIC) - begin;
	out.why = asked.why();
	out.got = asked.value();
	out.got.attr.qp_state = state;
	return out;
}

std::string records_of(const end_facts &of, const std::vector<answer> &answers)
{
	json process = head("process", answers.empty() ? now_ns(CLOCK_REALTIME)
						       : answers.front().time_ns);
	process["end"] = of.end;
	process["ppid"] = ::getppid();
	process["exe"] = own_file();
	process["overrides"] = nullptr;
	std::string out = line_of(process);
	std::size_t seq = 0;
	for (const answer &each : answers)
		out += line_of(call_of(of, each, ++seq));
	return out;
}

std::string checked_records(const std::string &text, const std::string &from)
{
	std::string out;
	std::size_t begin = 0;
	try {
		while (begin < text.size()) {
			const std::size_t end = std::min(text.find('\n', begin), text.size());
			const std::string line = text.substr(begin, end - begin);
			static_cast<void>(parse_record(line));
			out += line_of(json::parse(line));
			begin = end + 1;
		}
	} catch (const std::exception &why) {
		throw failure{fmt::format("the probe at {} sent what is no record of a trace ({}): "
					  "use the same qpattr at both ends",
					  from, harmless(why.what()))};
	}
	return out;
}

std::string notice_of(const std::string &text, const std::string &extra)
{
	json out = head("notice", now_ns(CLOCK_REALTIME));
	out["text"] = text;
	if (!extra.empty())
		out["probe"] = json::parse(extra);
	return line_of(out);
}

} // namespace qpattr::tool::probe
