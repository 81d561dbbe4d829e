// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/trace_file.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/attr/fields.hpp"
#include "lib/attr/parse.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"

namespace qpattr::tool {
namespace {

// Attributes come in an order that is to be kept.
using json = nlohmann::ordered_json;

[[noreturn]] void wrong(const char *key, const char *what)
{
	throw bad_record{fmt::format("\"{}\" is not {}", key, what)};
}

// nullptr: absent, or null, which is the same.
const json *present(const json &in, const char *key)
{
	const auto at = in.find(key);
	return at == in.end() || at->is_null() ? nullptr : &*at;
}

const json &needed(const json &in, const char *key)
{
	if (const json *const value = present(in, key))
		return *value;
	throw bad_record{fmt::format("\"{}\" is missing", key)};
}

std::uint64_t as_number(const json &value, const char *key)
{
	if (!value.is_number_unsigned())
		wrong(key, "a number from 0");
	return value.get<std::uint64_t>();
}

std::string as_text(const json &value, const char *key)
{
	if (!value.is_string())
		wrong(key, "a string");
	return value.get<std::string>();
}

unsigned as_rule(const json &value, const char *key)
{
	const std::uint64_t number = as_number(value, key);
	if (number == 0 || number > 1000000)
		wrong(key, "the number of a rule");
	return static_cast<unsigned>(number);
}

std::uint64_t number_of(const json &in, const char *key)
{
	return as_number(needed(in, key), key);
}

std::string text_of(const json &in, const char *key)
{
	return as_text(needed(in, key), key);
}

std::optional<std::uint64_t> maybe_number(const json &in, const char *key)
{
	const json *const value = present(in, key);
	return value ? std::optional{as_number(*value, key)} : std::nullopt;
}

std::optional<std::string> maybe_text(const json &in, const char *key)
{
	const json *const value = present(in, key);
	return value ? std::optional{as_text(*value, key)} : std::nullopt;
}

// An array, or nothing where the key is absent.
template <class Each> void for_each_of(const json &in, const char *key, Each each)
{
	const json *const list = present(in, key);
	if (!list)
		return;
	if (!list->is_array())
		wrong(key, "a list");
	for (const json &one : *list)
		each(one);
}

const json &object(const json &value, const char *key)
{
	if (!value.is_object())
		wrong(key, "an object");
	return value;
}

// Nothing where it is an attribute of a later minor change.
void take_known(attributes &to, const attribute_value &from)
{
	const attr::attribute *const what = attr::find_attribute(from.name.c_str());
	if (!what)
		return;
	if (what->kind == attr::unit::gid) {
		ibv_gid gid;
		if (::inet_pton(AF_INET6, from.value.c_str(), gid.raw) != 1)
			throw bad_record{fmt::format("{} is no GID: {}", from.name, from.value)};
		std::memcpy(reinterpret_cast<unsigned char *>(&to.attr) + what->offset, gid.raw,
			    sizeof gid.raw);
	} else {
		if (!from.number)
			throw bad_record{fmt::format("{} has no number", from.name)};
		if (*from.number >> (8 * what->len))
			throw bad_record{fmt::format("{}: the number {} does not fit into {} bits",
						     from.name, *from.number, 8 * what->len)};
		attr::store_number(to.attr, *what, static_cast<std::uint32_t>(*from.number));
	}
	to.mask |= static_cast<int>(what->mask_bit);
}

void read_attributes(const json &in, call_record &out)
{
	for (const auto &[name, each] : object(needed(in, "attributes"), "attributes").items()) {
		const json &fields = object(each, name.c_str());
		const std::optional<std::uint64_t> number = maybe_number(fields, "number");
		out.attributes.push_back({name, text_of(fields, "value"), number,
					  maybe_text(fields, "meaning").value_or("")});
		take_known(out.received, out.attributes.back());
	}
}

void read_overrides(const json &in, call_record &out)
{
	for_each_of(in, "matched",
		    [&](const json &one) { out.matched.push_back(as_rule(one, "matched")); });
	for_each_of(in, "overrides", [&](const json &one) {
		const json &fields = object(one, "overrides");
		out.overrides.push_back({as_rule(needed(fields, "rule"), "rule"),
					 text_of(fields, "attribute"), number_of(fields, "before"),
					 number_of(fields, "after")});
	});
	for_each_of(in, "refused", [&](const json &one) {
		const json &fields = object(one, "refused");
		out.refused.push_back({as_rule(needed(fields, "rule"), "rule"),
				       text_of(fields, "attribute"), number_of(fields, "wanted"),
				       maybe_number(fields, "limit"), text_of(fields, "why")});
	});
}

call_record read_call(const json &in)
{
	call_record out;
	out.seq = number_of(in, "seq");
	out.duration_ns = number_of(in, "duration_ns");
	out.tid = number_of(in, "tid");
	out.id = text_of(in, "id");
	out.handle = maybe_number(in, "handle");
	out.device = maybe_text(in, "device");
	out.port = maybe_number(in, "port");
	out.port_space = maybe_text(in, "port_space").value_or("");
	out.qp_type = maybe_text(in, "qp_type").value_or("");
	out.qp_num = maybe_number(in, "qp_num");
	out.src = maybe_text(in, "src");
	out.dst = maybe_text(in, "dst");
	out.asked = text_of(in, "asked");
	if (const json &result = needed(in, "result"); result.is_number_integer())
		out.result = result.get<std::int64_t>();
	else
		wrong("result", "a number");
	out.error = maybe_text(in, "errno").value_or("");
	out.error_number = maybe_number(in, "errno_number").value_or(0);
	out.served_by = maybe_text(in, "served_by").value_or("");
	out.mask = number_of(in, "mask");
	for_each_of(in, "mask_names", [&](const json &one) {
		out.mask_names.push_back(as_text(one, "mask_names"));
	});
	read_attributes(in, out);
	read_overrides(in, out);
	out.lost = maybe_number(in, "lost").value_or(0);
	return out;
}

process_record read_process(const json &in)
{
	process_record out;
	out.ppid = number_of(in, "ppid");
	out.exe = maybe_text(in, "exe").value_or("");
	out.overrides = maybe_text(in, "overrides");
	return out;
}

notice_record read_notice(const json &in)
{
	notice_record out;
	out.text = text_of(in, "text");
	return out;
}

end_record read_end(const json &in)
{
	end_record out;
	out.calls = number_of(in, "calls");
	out.lost = number_of(in, "lost");
	return out;
}

record read_by_type(const json &in)
{
	const std::string type = text_of(in, "type");
	if (type == "call")
		return read_call(in);
	if (type == "process")
		return read_process(in);
	if (type == "notice")
		return read_notice(in);
	if (type == "end")
		return read_end(in);
	other_record other;
	other.type = type;
	return other;
}

// Thrown of a later version; the rest of such a file cannot be understood either.
struct later_version : bad_record {
	using bad_record::bad_record;
};

} // namespace

const attribute_value *call_record::find(std::string_view name) const
{
	for (const attribute_value &each : attributes)
		if (each.name == name)
			return &each;
	return nullptr;
}

std::vector<const call_record *> trace::calls() const
{
	std::vector<const call_record *> out;
	for (const record &each : records)
		if (const auto *const call = std::get_if<call_record>(&each))
			out.push_back(call);
	return out;
}

record parse_record(std::string_view line)
{
	json in;
	try {
		in = json::parse(line);
	} catch (const json::exception &) {
		throw bad_record{"not JSON"};
	}
	if (!in.is_object() || !in.contains("qpattr"))
		throw bad_record{"no record of a trace (it does not begin with \"qpattr\")"};
	if (const std::uint64_t version = number_of(in, "qpattr"); version > trace_version)
		throw later_version{fmt::format("the trace is of schema version {}, this qpattr "
						"reads {}: use the qpattr that wrote it, or a "
						"later one",
						version, trace_version)};
	record out = read_by_type(in);
	std::visit(
		[&](record_head &head) {
			head.time_ns = number_of(in, "time_ns");
			head.pid = number_of(in, "pid");
			head.program = maybe_text(in, "program").value_or("");
		},
		out);
	return out;
}

const char *other_format(std::string_view text)
{
	// "06:02:48.961968  "
	constexpr std::string_view time = "00:00:00.000000 ";
	if (text.starts_with(R"({"displayTimeUnit")"))
		return "a trace for Perfetto";
	bool timed = text.size() > time.size();
	for (std::size_t i = 0; timed && i < time.size(); ++i)
		timed = time[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == time[i];
	return timed ? "a trace for people" : nullptr;
}

trace parse_trace(std::string_view text, const std::string &path)
{
	if (const char *const other = other_format(text))
		throw failure{fmt::format("{} is {}: trace again with --format json", path, other)};
	trace out;
	std::size_t number = 0;
	while (!text.empty()) {
		++number;
		const std::size_t end = text.find('\n');
		const bool whole = end != std::string_view::npos;
		const std::string_view line = text.substr(0, end);
		text.remove_prefix(whole ? end + 1 : text.size());
		if (line.empty())
			continue;
		try {
			out.records.push_back(parse_record(line));
		} catch (const later_version &why) {
			throw failure{fmt::format("{}:{}: {}", path, number, why.what())};
		} catch (const bad_record &why) {
			if (whole || number == 1)
				throw failure{fmt::format("{}:{}: {}", path, number, why.what())};
			out.cut = true;
			out.cut_line = number;
		}
	}
	return out;
}

trace read_trace(const std::string &path)
{
	return parse_trace(read_whole(path, "the trace " + path, usage_status), path == "-" ? "(standard input)" : path);
}

std::string cut_notice(const trace &from, const std::string &path)
{
	return fmt::format("the trace {} ends in the middle of line {}: what is before it was read",
			   path, from.cut_line);
}

} // namespace qpattr::tool
