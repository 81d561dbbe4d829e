// SPDX-License-Identifier: MIT
#include "tools/qpattr/explain/connection_end.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "lib/attr/names.hpp"
#include "lib/attr/parse.hpp"
#include "tools/qpattr/common/connections.hpp"
#include "tools/qpattr/common/layout.hpp"

namespace qpattr::tool {
namespace {

void take(connection_end &end, const call_record &call)
{
	end.calls.push_back(&call);
	const auto fill = [](auto &known, const auto &now) {
		if (now)
			known = now;
	};
	fill(end.device, call.device);
	fill(end.port, call.port);
	fill(end.qp_num, call.qp_num);
	fill(end.src, call.src);
	fill(end.dst, call.dst);
	if (!call.qp_type.empty())
		end.qp_type = call.qp_type;
	if (!call.port_space.empty())
		end.port_space = call.port_space;
	if (call.failed())
		return;

	const ibv_qp_attr &attr = call.received.attr;
	const auto mask = static_cast<std::uint32_t>(call.received.mask);
	// Before rdma_connect() the access flags are 0, and a passive id is never before
	// it. So the first answer tells the side.
	if (end.who == connection_end::side::unknown && end.got.mask == 0 &&
	    (mask & IBV_QP_ACCESS_FLAGS))
		end.who = attr.qp_access_flags == 0 ? connection_end::side::active
						    : connection_end::side::passive;
	end.got.add(attr, mask | (static_cast<std::uint32_t>(call.mask) & attr::mask_reserved));
}

connection_end begun(const call_record &call, std::size_t number)
{
	connection_end out;
	out.number = number;
	out.program = call.program;
	out.pid = call.pid;
	out.id = call.id;
	out.time_ns = call.time_ns;
	return out;
}

bool continues(const connection_end &end, const call_record &call)
{
	const auto same = [](const auto &a, const auto &b) { return !a || !b || *a == *b; };
	return same(end.qp_num, call.qp_num) && same(end.src, call.src) && same(end.dst, call.dst);
}

} // namespace

bool connection_end::has(const char *attribute) const
{
	const attr::attribute *const what = attr::find_attribute(attribute);
	return what && attr::in_mask(*what, got.mask);
}

std::uint32_t connection_end::number_of(const char *attribute) const
{
	return has(attribute) ? attr::value_number(*attr::find_attribute(attribute), got.attr) : 0;
}

std::vector<connection_end> ends_of(const trace &from)
{
	std::vector<connection_end> out;
	std::vector<std::size_t> places; // in `out`, by the number of the connection
	std::map<std::pair<std::uint64_t, std::string>, std::size_t> last;
	connections known;
	for (const call_record *call : from.calls()) {
		const connections::place at = known.of(*call);
		const auto [before, inserted] = last.try_emplace({call->pid, call->id}, out.size());
		if (at.first) {
			// After the disconnect a program may ask about its id once more: a refusal
			// is no new connection.
			const bool again = !inserted && call->failed() &&
					   continues(out.at(before->second), *call);
			if (!again) {
				before->second = out.size();
				out.push_back(begun(*call, out.size() + 1));
			}
			places.push_back(before->second);
		}
		take(out.at(places.at(at.number)), *call);
	}
	return out;
}

std::string name_of(const connection_end &end)
{
	std::string out = fmt::format("{} {}", harmless(end.program), end.pid);
	if (end.who == connection_end::side::active)
		out += ", active side";
	else if (end.who == connection_end::side::passive)
		out += ", passive side";
	return out;
}

std::string addresses_of(const connection_end &end)
{
	if (!end.src && !end.dst)
		return "addresses not known";
	return fmt::format("{} {} {}", harmless(end.src.value_or("?")), arrow(),
			   harmless(end.dst.value_or("?")));
}

std::string qp_of(const connection_end &end)
{
	std::string out = harmless(end.qp_type.empty() ? "QP" : end.qp_type + " QP");
	out += end.qp_num ? fmt::format(" {}", *end.qp_num) : ", its number not known";
	if (end.device)
		out += " on " + harmless(*end.device);
	if (end.device && end.port)
		out += fmt::format(" port {}", *end.port);
	return out;
}

attr::surroundings surroundings_of(const connection_end &end)
{
	attr::surroundings out;
	for (std::uint32_t type = 1; type <= UINT8_MAX; ++type)
		if (const char *name = attr::qp_type_name(type); name && end.qp_type == name)
			out.qp_type = type;
	// By its usual name: a trace may be of another machine.
	out.soft_roce = end.device && end.device->rfind("rxe", 0) == 0;
	return out;
}

std::string host_of(const std::string &address)
{
	if (!address.empty() && address.front() == '[')
		return address.substr(1, address.find(']') - 1);
	return address.substr(0, address.rfind(':'));
}

std::string port_of(const std::string &address)
{
	const std::size_t colon = address.rfind(':');
	return colon == std::string::npos ? "" : address.substr(colon + 1);
}

} // namespace qpattr::tool
