// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/trace_text.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "lib/attr/fields.hpp"
#include "lib/attr/parse.hpp"
#include "lib/attr/units.hpp"
#include "tools/qpattr/common/layout.hpp"

namespace qpattr::tool {
namespace {

constexpr std::size_t value_width = 16; // a longer one makes its own row longer
constexpr std::size_t wrapped_indent = 6;

// The override that has the last word on an attribute, with the value before all.
struct change {
	std::uint64_t before;
	const override_made *last;
};

std::optional<change> change_of(const call_record &call, const std::string &attribute)
{
	std::optional<change> out;
	for (const override_made &each : call.overrides)
		if (each.attribute == attribute && each.before != each.after)
			out = {out ? out->before : each.before, &each};
	return out;
}

bool is_of_address(const attribute_value &each)
{
	const attr::attribute *const what = attr::find_attribute(each.name.c_str());
	return what && (what->mask_bit & (IBV_QP_AV | IBV_QP_ALT_PATH)) != 0;
}

// Addresses have many fields that are 0 on RoCE, where 0 says nothing; a min_rnr_timer of
// 0 says much.
bool says_nothing(const call_record &call, const attribute_value &each)
{
	return each.number == std::uint64_t{0} && is_of_address(each) &&
	       !change_of(call, each.name);
}

std::string name_of(const record_head &of)
{
	return fmt::format("{} {}", harmless(of.program), of.pid);
}

std::string with_meaning(const std::string &attribute, std::uint64_t value)
{
	const std::string meaning = meaning_of(attribute, value);
	return meaning.empty() ? fmt::format("{}", value) : fmt::format("{} ({})", value, meaning);
}

} // namespace

std::string meaning_of(const std::string &attribute, std::uint64_t value)
{
	const attr::attribute *const what = attr::find_attribute(attribute.c_str());
	if (!what || what->kind == attr::unit::gid)
		return "";
	ibv_qp_attr holder{};
	attr::store_number(holder, *what, static_cast<std::uint32_t>(value));
	attr::text_of<128> text;
	attr::add_meaning(text, *what, holder);
	return text.c_str();
}

std::string time_of_day(std::uint64_t time_ns)
{
	const auto seconds = static_cast<std::time_t>(time_ns / 1000000000);
	std::tm local{};
	::localtime_r(&seconds, &local);
	return fmt::format("{:02}:{:02}:{:02}.{:06}", local.tm_hour, local.tm_min, local.tm_sec,
			   time_ns % 1000000000 / 1000);
}

std::string duration_text(std::uint64_t ns)
{
	attr::text_of<64> text;
	attr::add_time(text, ns);
	return text.c_str();
}

std::string error_text(const call_record &of)
{
	const auto number = static_cast<int>(of.error_number);
	const std::string name = of.error.empty() ? fmt::format("errno {}", number) : of.error;
	return number ? fmt::format("{}: {}", name, std::strerror(number)) : name;
}

std::string way_text(const call_record &of)
{
	if (!of.src && !of.dst)
		return "";
	return fmt::format("{} {} {}", harmless(of.src.value_or("?")), arrow(),
			   harmless(of.dst.value_or("?")));
}

std::string text_writer::lines_of(const record &each)
{
	if (const auto *const call = std::get_if<call_record>(&each))
		return call_lines(*call);
	if (const auto *const process = std::get_if<process_record>(&each)) {
		silent_[process->pid] = *process;
		return "";
	}
	if (const auto *const notice = std::get_if<notice_record>(&each))
		return flow_words(on_,
				  fmt::format("{}  {}: ", time_of_day(notice->time_ns),
					      name_of(*notice)),
				  harmless(notice->text), colour::yellow, wrapped_indent);
	if (const auto *const end = std::get_if<end_record>(&each)) {
		silent_.erase(end->pid);
		if (end->lost)
			return fmt::format("{}  {}\n", time_of_day(end->time_ns),
					   on_.paint(colour::red,
						     fmt::format("{}: {} of its {} records lost",
								 name_of(*end), end->lost,
								 end->calls)));
	}
	return "";
}

std::string text_writer::call_lines(const call_record &call)
{
	std::string out;
	if (const auto first = silent_.find(call.pid); first != silent_.end()) {
		const process_record &is = first->second;
		std::string line = fmt::format("{}: {}, started by {}", name_of(is),
					       harmless(is.exe), is.ppid);
		if (is.overrides)
			line += ", overrides: " + harmless(*is.overrides);
		out += flow_words(on_, time_of_day(is.time_ns) + "  ", line, colour::dim,
				  wrapped_indent);
		silent_.erase(first);
	}
	out += head(call);
	if (!call.failed())
		out += rows(call);
	return out + refusals(call) + "\n";
}

std::string text_writer::head(const call_record &call)
{
	const std::string before = harmless(connections_.of(call).before);
	const std::string way = way_text(call);
	std::vector<part> parts{{name_of(call), colour::bold}};
	const std::string asked = harmless(call.asked);
	parts.push_back({before.empty() ? fmt::format("{} {}", arrow(), asked)
					: fmt::format("{} {} {}", before, arrow(), asked),
			 colour::bold});
	if (call.failed())
		parts.push_back({error_text(call), colour::red});
	if (!way.empty())
		parts.push_back({way, colour::bold});
	std::string out = flow(on_, time_of_day(call.time_ns) + "  ", parts, wrapped_indent);

	parts.clear();
	std::string qp = harmless(call.qp_type) + " QP";
	// In rdma_create_qp the id has it not yet; that of a program's own, never.
	qp += call.qp_num ? fmt::format(" {}", *call.qp_num) : " (number not known)";
	parts.push_back({qp});
	if (call.device)
		parts.push_back({call.port ? fmt::format("{} port {}", harmless(*call.device),
							 *call.port)
					   : harmless(*call.device)});
	parts.push_back({"id " + harmless(call.id)});
	if (call.tid != call.pid)
		parts.push_back({fmt::format("thread {}", call.tid)});
	parts.push_back({duration_text(call.duration_ns)});
	if (call.served_by == "stock")
		parts.push_back({"answered by stock librdmacm", colour::dim});
	out += flow(on_, "  ", parts, wrapped_indent);
	if (call.failed())
		return out + "  " +
		       on_.paint(colour::dim, fmt::format("what may be wrong: qpattr explain {} {}",
							  harmless(call.error), asked)) +
		       "\n";

	parts.clear();
	for (std::size_t i = 0; i < call.mask_names.size(); ++i)
		parts.push_back({harmless(call.mask_names[i]) +
				 (i + 1 < call.mask_names.size() ? "|" : "")});
	return out + flow(on_, fmt::format("  mask {:#x} = ", call.mask), parts, wrapped_indent, "");
}

std::string text_writer::rows(const call_record &call) const
{
	std::size_t wide = 0, silent = 0;
	for (const attribute_value &each : call.attributes)
		if (!says_nothing(call, each))
			wide = std::max(wide, columns(each.name));
	std::string out;
	for (const attribute_value &each : call.attributes) {
		if (says_nothing(call, each))
			++silent;
		else
			out += row(call, each, wide);
	}
	if (silent)
		out += "  " +
		       on_.paint(colour::dim, fmt::format("0: {} more of the address", silent)) +
		       "\n";
	return out;
}

std::string text_writer::row(const call_record &call, const attribute_value &each,
			     std::size_t name_width) const
{
	const std::optional<change> changed = change_of(call, each.name);
	std::string value = harmless(each.value);
	std::string meaning = harmless(each.meaning);
	if (changed) {
		value = fmt::format("{} {} {}", changed->before, arrow(), changed->last->after);
		const std::string before = meaning_of(each.name, changed->before);
		if (!meaning.empty() || !before.empty())
			meaning = fmt::format("{} {} {}", before, arrow(), meaning);
		meaning += fmt::format("{}(rule {})", meaning.empty() ? "" : " ",
				       changed->last->rule);
	}
	std::string out = fmt::format("  {}  ", padded(harmless(each.name), name_width));
	const std::size_t used = columns(out) + std::max(columns(value), value_width) + 2;
	if (on_.width())
		meaning = used < on_.width() ? cut(meaning, on_.width() - used) : "";
	out += meaning.empty() ? value : padded(value, value_width) + "  " + meaning;
	return on_.paint(changed ? colour::yellow : colour::plain, out) + "\n";
}

std::string text_writer::refusals(const call_record &call) const
{
	std::string out;
	for (const override_refused &each : call.refused) {
		std::string line = fmt::format("rule {} not applied: {} {}, {}", each.rule,
					       harmless(each.attribute),
					       with_meaning(each.attribute, each.wanted),
					       harmless(each.why));
		if (each.limit)
			line += fmt::format(", limit {}",
					    with_meaning(each.attribute, *each.limit));
		out += flow_words(on_, "  ", line, colour::yellow, 4);
	}
	return out;
}

} // namespace qpattr::tool
