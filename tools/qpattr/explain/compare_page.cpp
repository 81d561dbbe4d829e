// SPDX-License-Identifier: MIT
#include "tools/qpattr/explain/compare_page.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/explain/compare_checks.hpp"

namespace qpattr::tool {
namespace {

using json = nlohmann::ordered_json;

json json_of_end(const connection_end &end)
{
	const auto maybe = [](const auto &value) { return value ? json(*value) : json{}; };
	return {{"number", end.number},	 {"program", end.program},	{"pid", end.pid},
		{"id", end.id},		 {"qp_num", maybe(end.qp_num)}, {"src", maybe(end.src)},
		{"dst", maybe(end.dst)}, {"device", maybe(end.device)}};
}

json json_of_pair(const end_pair &pair, const comparison &result)
{
	json out{{"client", json_of_end(*pair.client)},
		 {"server", json_of_end(*pair.server)},
		 {"fits", result.all_fit()},
		 {"fitting", result.fits}};
	json &list = out["differs"] = json::array();
	for (const remark &each : result.differs)
		list.push_back({{"id", each.id},
				{"severity", attr::severity_name(each.how)},
				{"attribute", each.about.empty() ? json{} : json(each.about)},
				{"reason", each.reason},
				{"advice", each.advice}});
	return out;
}

std::string joined(const std::vector<std::string> &words)
{
	std::string out;
	for (const std::string &each : words)
		out += (out.empty() ? "" : ", ") + each;
	return out;
}

section section_of(const end_pair &pair, const comparison &result, std::size_t number)
{
	section out;
	out.title = fmt::format("{}. {} {} {}: {}", number, name_of(*pair.client), arrow(),
				name_of(*pair.server), addresses_of(*pair.client));
	out.facts.push_back({"client", qp_of(*pair.client)});
	out.facts.push_back({"server", qp_of(*pair.server)});
	if (!result.fits.empty())
		out.facts.push_back({"fits", joined(result.fits)});
	out.remarks = result.differs;
	return out;
}

// Of a pair without what is its own in any case: the same findings are said once.
std::string likeness_of(const end_pair &pair, const comparison &result)
{
	std::string out = pair.client->program + " " + pair.server->program;
	for (const remark &each : result.differs)
		out += each.id + (each.id == "psn-differs" || each.id == "flow-label-differs" ||
						  each.id == "qp-number-differs"
					  ? ""
					  : each.reason);
	return out;
}

} // namespace

page compare_page(const pairing &found, const std::string &client, const std::string &server)
{
	page out;
	out.data["kind"] = "comparison";
	bool fits = !found.pairs.empty();
	json pairs = json::array(), alone = json::array();
	std::map<std::string, std::size_t> first_of;
	std::map<std::size_t, std::vector<std::size_t>> alike;
	std::size_t misfits = 0;

	std::vector<section> sections;
	for (std::size_t i = 0; i < found.pairs.size(); ++i) {
		const comparison result = compare(found.pairs[i]);
		fits = fits && result.all_fit();
		misfits += !result.all_fit();
		pairs.push_back(json_of_pair(found.pairs[i], result));
		const auto [at, inserted] =
			first_of.try_emplace(likeness_of(found.pairs[i], result), sections.size());
		if (inserted)
			sections.push_back(section_of(found.pairs[i], result, i + 1));
		else
			alike[at->second].push_back(i + 1);
	}
	for (const auto &[at, numbers] : alike)
		sections[at].facts.push_back({"the same for", listed(numbers)});

	std::set<std::string> told;
	for (section &each : sections)
		for (remark &said : each.remarks)
			said.told = !told.insert(said.id + said.advice).second;

	section head;
	const std::string files =
		client == server ? harmless(client) : harmless(client) + ", " + harmless(server);
	if (found.pairs.empty())
		head.title = files + ": no two ends belong together";
	else if (misfits)
		head.title = fmt::format("{}: {} of {} connections do not fit", files, misfits,
					 found.pairs.size());
	else
		head.title = fmt::format("{}: {} {}, all fits", files, found.pairs.size(),
					 found.pairs.size() == 1 ? "connection" : "connections");
	if (found.pairs.empty())
		head.facts.push_back(
			{"", client == server
				     ? "each connection has one end only in it: trace the other "
				       "program too, and give both traces"
				     : "PSNs, QP numbers and addresses of the two traces have nothing "
				       "in common: are they of the same run?"});
	out.sections.push_back(std::move(head));
	for (section &each : sections)
		out.sections.push_back(std::move(each));

	if (!found.alone.empty()) {
		section rest;
		rest.title = fmt::format("without their other end: {}", found.alone.size());
		constexpr std::size_t shown = 20;
		for (std::size_t i = 0; i < found.alone.size(); ++i) {
			const connection_end &end = *found.alone[i];
			alone.push_back(json_of_end(end));
			if (i < shown)
				rest.facts.push_back(
					{name_of(end), addresses_of(end) + ", " + qp_of(end)});
		}
		if (found.alone.size() > shown)
			rest.facts.push_back(
				{"", fmt::format("and {} more", found.alone.size() - shown)});
		out.sections.push_back(std::move(rest));
	}
	out.data["fits"] = fits;
	out.data["connections"] = std::move(pairs);
	out.data["alone"] = std::move(alone);
	return out;
}

} // namespace qpattr::tool
