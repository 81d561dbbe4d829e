// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/report.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/attr/fields.hpp"
#include "lib/attr/lint.hpp"
#include "lib/attr/units.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/page.hpp"
#include "tools/qpattr/common/trace_file.hpp"
#include "tools/qpattr/common/trace_text.hpp"
#include "tools/qpattr/explain/compare_checks.hpp"
#include "tools/qpattr/explain/connection_end.hpp"
#include "tools/qpattr/probe/record.hpp"

namespace qpattr::tool::probe {
namespace {

// The last answer for a state, which is the one that the QP was moved by.
const call_record *last_of(const trace &from, const std::string &state)
{
	const call_record *out = nullptr;
	for (const call_record *each : from.calls())
		if (each->asked == state)
			out = each;
	return out;
}

struct row {
	std::string name, client, server, meaning;
	char mark = ' ';
};

// What must be the same at both ends. The rest is each end's own: its port, its PSN, its
// peer's address.
bool must_be_same(const std::string &name)
{
	constexpr std::array same{"qp_state", "path_mtu", "qkey", "ah_attr.grh.traffic_class",
				  "ah_attr.sl"};
	return std::find(same.begin(), same.end(), name) != same.end();
}

struct pair_of_attributes {
	const char *one, *other;
	bool may_be_less; // the first, than the other end's second
};

// What one end has and what the other must have for it.
constexpr pair_of_attributes pairs[] = {
	{"rq_psn", "sq_psn", false},
	{"sq_psn", "rq_psn", false},
	{"max_rd_atomic", "max_dest_rd_atomic", true},
};

const attribute_value *find_anywhere(const trace &in, const std::string &name)
{
	const attribute_value *out = nullptr;
	for (const call_record *each : in.calls())
		if (const attribute_value *const found = each->find(name))
			out = found;
	return out;
}

// Whether `mine` fits what the other end has.
bool fits(const attribute_value &mine, const trace &other)
{
	for (const pair_of_attributes &each : pairs) {
		if (mine.name != each.one)
			continue;
		const attribute_value *const theirs = find_anywhere(other, each.other);
		return !theirs || mine.number == theirs->number ||
		       (each.may_be_less && mine.number < theirs->number);
	}
	return true;
}

bool is_zero_of_address(const attribute_value *of)
{
	return !of || (of->number == std::uint64_t{0} && of->name.rfind("ah_attr.", 0) == 0);
}

row row_of(const char *name, const attribute_value *client, const attribute_value *server,
	   const trace &client_all, const trace &server_all)
{
	row out;
	out.name = name;
	out.client = client ? harmless(client->value) : "-";
	out.server = server ? harmless(server->value) : "-";
	const bool same = client && server && client->value == server->value;
	const bool well = (same || !must_be_same(name)) &&
			  (!client || fits(*client, server_all)) &&
			  (!server || fits(*server, client_all));
	out.mark = !well ? '!' : same ? '=' : ' ';
	const std::string first = client ? client->meaning : "";
	const std::string second = server ? server->meaning : "";
	out.meaning = harmless(first.empty() || first == second || !server ? (first.empty() ? second : first)
			       : second.empty()			     ? first
								     : first + "; " + second);
	return out;
}

std::vector<row> rows_of(const call_record *client, const call_record *server,
			 const trace &client_all, const trace &server_all)
{
	std::vector<row> out;
	for (const attr::attribute &each : attr::attributes) {
		const attribute_value *const a = client ? client->find(each.name) : nullptr;
		const attribute_value *const b = server ? server->find(each.name) : nullptr;
		// RoCE has no LID and no service level: 0 says nothing there.
		if ((!a && !b) || (is_zero_of_address(a) && is_zero_of_address(b)))
			continue;
		out.push_back(row_of(each.name, a, b, client_all, server_all));
	}
	return out;
}

struct widths {
	std::size_t name = 9, client = 6, server = 6;
};

std::string row_text(const row &of, const widths &wide, const terminal &on)
{
	const std::size_t width = on.width() ? on.width() : SIZE_MAX;
	const colour how = of.mark == '!' ? colour::red : colour::plain;
	std::string out = "  " + padded(of.name, wide.name);
	const std::string meaning = of.meaning.empty() ? "" : "  " + of.meaning;
	std::string line = fmt::format("  {} {} {}", padded(of.client, wide.client), of.mark,
				       padded(of.server, wide.server));
	const std::size_t indent = wide.name + 4;
	if (columns(out) + columns(line) + columns(meaning) <= width) {
		while (meaning.empty() && !line.empty() && line.back() == ' ')
			line.pop_back();
		return out + on.paint(how, line) + meaning + '\n';
	}
	// Too long for one line: the meaning, or each end, gets one of its own.
	if (columns(out) + columns(line) <= width) {
		while (!line.empty() && line.back() == ' ')
			line.pop_back();
		out += on.paint(how, line) + '\n';
	} else {
		out += on.paint(how, fmt::format("  client {} {}", of.client, of.mark)) + '\n' +
		       std::string(indent, ' ') +
		       on.paint(how, fmt::format("server {}", of.server)) + '\n';
	}
	if (!meaning.empty())
		out += wrapped(on, std::string(indent, ' '), of.meaning, indent);
	return out;
}

std::string mask_text(const call_record *of)
{
	return of ? fmt::format("0x{:x}", of->mask) : "none";
}

std::string table(const char *state, const char *before, const trace &client, const trace &server,
		  const terminal &on)
{
	const call_record *const a = last_of(client, state);
	const call_record *const b = last_of(server, state);
	if (!a && !b)
		return "";
	const std::string masks = mask_text(a) == mask_text(b)
					  ? fmt::format("mask {}", mask_text(a))
					  : fmt::format("masks {} and {}", mask_text(a), mask_text(b));
	std::string out = fmt::format("\n{}  {}\n",
				      on.paint(colour::bold,
					       fmt::format("{} {} {}", before, arrow(), state)),
				      masks);
	const std::vector<row> rows = rows_of(a, b, client, server);
	widths wide;
	// A GID that is longer than this gets lines of its own.
	constexpr std::size_t value_most = 17;
	for (const row &each : rows) {
		wide.name = std::max(wide.name, columns(each.name));
		wide.client = std::max(wide.client, std::min(columns(each.client), value_most));
		wide.server = std::max(wide.server, std::min(columns(each.server), value_most));
	}
	out += on.paint(colour::dim, fmt::format("  {}  {}   {}  reads as",
						 padded("attribute", wide.name),
						 padded("client", wide.client),
						 padded("server", wide.server))) +
	       '\n';
	for (const row &each : rows)
		out += row_text(each, wide, on);
	return out;
}

std::uint64_t median(std::vector<std::uint64_t> of)
{
	if (of.empty())
		return 0;
	std::sort(of.begin(), of.end());
	return of[of.size() / 2];
}

std::string round_trip_text(const report &of)
{
	const auto [least, most] =
		std::minmax_element(of.round_trips_ns.begin(), of.round_trips_ns.end());
	return fmt::format("{}, the median of {} ({} to {})", duration_text(median(of.round_trips_ns)),
			   of.round_trips_ns.size(), duration_text(*least), duration_text(*most));
}

std::string qp_text(const trace &of)
{
	const std::vector<const call_record *> calls = of.calls();
	if (calls.empty())
		return "nothing is told";
	const call_record &is = *calls.front();
	return fmt::format("{} QP {} on {} port {}", harmless(is.qp_type), is.qp_num.value_or(0),
			   harmless(is.device.value_or("?")), is.port.value_or(0));
}

std::vector<remark> lints(const connection_end &of)
{
	attr::findings found;
	attr::lint(of.got.attr, of.got.mask, surroundings_of(of), found);
	return remarks_of(found);
}

bool same(const remark &a, const remark &b)
{
	return a.id == b.id && a.about == b.about && a.reason == b.reason;
}

bool has(const std::vector<remark> &all, const std::string &id)
{
	return std::any_of(all.begin(), all.end(), [&](const remark &each) { return each.id == id; });
}

// What does not fit, and what is unwise at an end by itself. Both ends most often have
// the same of it, and what follows for the other end is in its reason: said once.
std::string remarks(const trace &client, const trace &server, const terminal &on)
{
	const std::vector<connection_end> clients = ends_of(client);
	const std::vector<connection_end> servers = ends_of(server);
	if (clients.empty() || servers.empty())
		return "";
	section out;
	const auto add = [&](const char *whose, remark what) {
		what.reason = fmt::format("{}: {}", whose, what.reason);
		out.remarks.push_back(std::move(what));
	};
	const std::vector<remark> of_client = lints(clients.front());
	std::vector<remark> of_server = lints(servers.front());
	for (const remark &each : compare({&clients.front(), &servers.front()}).differs)
		if (!has(of_client, each.id) && !has(of_server, each.id))
			add("between the ends", each);
	for (const remark &each : of_client) {
		const auto twin = std::find_if(of_server.begin(), of_server.end(), [&](const remark &b) {
			return same(each, b);
		});
		const bool both = twin != of_server.end();
		add(both ? "at both ends" : "at the client", each);
		if (both)
			of_server.erase(twin);
	}
	for (const remark &each : of_server)
		add("at the server", each);
	std::stable_sort(out.remarks.begin(), out.remarks.end(),
			 [](const remark &a, const remark &b) { return a.how > b.how; });
	page all;
	if (!out.remarks.empty())
		all.sections.push_back(std::move(out));
	return text_of(all, on);
}

} // namespace

std::string whole_text(const report &of, const terminal &on)
{
	const trace client = parse_trace(of.client, "client");
	const trace server = parse_trace(of.server, "server");
	const auto line = [](const char *label, const std::string &text) {
		return padded(label, 12) + text + '\n';
	};
	std::string out = line("connection", fmt::format("{} {} {}", of.from, arrow(), of.to));
	out += line("client", qp_text(client));
	out += line("server", qp_text(server));
	out += table("INIT", "RESET", client, server, on);
	out += table("RTR", "INIT", client, server, on);
	out += table("RTS", "RTR", client, server, on);
	if (const std::string said = remarks(client, server, on); !said.empty())
		out += '\n' + said;
	out += '\n' + line("messages", fmt::format("{} bytes to the server, {} to the client",
						   of.client_bytes, of.server_bytes));
	if (!of.round_trips_ns.empty()) {
		out += line("times", fmt::format("address {}, route {}, connection {}",
						 duration_text(of.address_ns), duration_text(of.route_ns),
						 duration_text(of.connect_ns)));
		out += line("round trip", round_trip_text(of));
	}
	return out;
}

std::string short_text(const report &of)
{
	const std::string out = fmt::format("{} {} {}", of.from, arrow(), of.to);
	if (of.round_trips_ns.empty())
		return out + fmt::format("  {} bytes, {} back\n", of.client_bytes, of.server_bytes);
	return out + fmt::format("  connection {}, round trip {}\n", duration_text(of.connect_ns),
				 duration_text(median(of.round_trips_ns)));
}

std::string as_json_lines(const report &of)
{
	nlohmann::ordered_json numbers{{"client", of.from},
				       {"server", of.to},
				       {"client_bytes", of.client_bytes},
				       {"server_bytes", of.server_bytes}};
	if (!of.round_trips_ns.empty()) {
		const auto [least, most] =
			std::minmax_element(of.round_trips_ns.begin(), of.round_trips_ns.end());
		numbers["address_ns"] = of.address_ns;
		numbers["route_ns"] = of.route_ns;
		numbers["connect_ns"] = of.connect_ns;
		numbers["round_trip_ns"] = {{"count", of.round_trips_ns.size()},
					    {"least", *least},
					    {"median", median(of.round_trips_ns)},
					    {"most", *most}};
	}
	return of.client + of.server +
	       notice_of(fmt::format("connected {} to {}", of.from, of.to), numbers.dump());
}

} // namespace qpattr::tool::probe
