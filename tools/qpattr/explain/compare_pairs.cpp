// SPDX-License-Identifier: MIT
#include "tools/qpattr/explain/compare_pairs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

namespace qpattr::tool {
namespace {

constexpr int psn_weight = 4;
constexpr int address_weight = 2; // with its port; there are two
constexpr int qp_weight = 1;

int crosswise(const connection_end &a, const char *of_a, const connection_end &b, const char *of_b)
{
	return a.has(of_a) && b.has(of_b) && a.number_of(of_a) == b.number_of(of_b);
}

int addresses(const std::optional<std::string> &a, const std::optional<std::string> &b)
{
	return a && b && *a == *b;
}

int names(const connection_end &a, const connection_end &b)
{
	return a.has("dest_qp_num") && b.qp_num && a.number_of("dest_qp_num") == *b.qp_num;
}

bool opposite(const connection_end &a, const connection_end &b)
{
	using side = connection_end::side;
	return a.who == side::unknown || b.who == side::unknown || a.who != b.who;
}

// What an end has and its other end looks for; two ends that share none cannot be alike.
std::vector<std::string> keys(const connection_end &of, bool as_seen_by_peer)
{
	std::vector<std::string> out;
	const auto psn = [&](const char *mine, const char *peers, char kind) {
		const char *const name = as_seen_by_peer ? peers : mine;
		if (of.has(name))
			out.push_back(fmt::format("{} {}", kind, of.number_of(name)));
	};
	psn("rq_psn", "sq_psn", 'r');
	psn("sq_psn", "rq_psn", 's');
	if (of.src && of.dst)
		out.push_back(as_seen_by_peer ? *of.dst + " " + *of.src : *of.src + " " + *of.dst);
	if (of.qp_num && of.has("dest_qp_num")) {
		const std::uint64_t own = *of.qp_num, other = of.number_of("dest_qp_num");
		out.push_back(as_seen_by_peer ? fmt::format("q {} {}", other, own)
					      : fmt::format("q {} {}", own, other));
	}
	return out;
}

struct candidate {
	int likeness;
	std::uint64_t apart_ns;
	const connection_end *a;
	const connection_end *b;
};

std::uint64_t apart(const connection_end &a, const connection_end &b)
{
	return a.time_ns > b.time_ns ? a.time_ns - b.time_ns : b.time_ns - a.time_ns;
}

end_pair ordered(const connection_end *a, const connection_end *b)
{
	const bool swap =
		a->who == connection_end::side::passive || b->who == connection_end::side::active;
	return swap ? end_pair{b, a} : end_pair{a, b};
}

} // namespace

int likeness(const connection_end &a, const connection_end &b)
{
	const int psns = crosswise(a, "rq_psn", b, "sq_psn") + crosswise(a, "sq_psn", b, "rq_psn");
	if ((!psns && !opposite(a, b)) ||
	    (!a.qp_type.empty() && !b.qp_type.empty() && a.datagram() != b.datagram()))
		return 0;
	return psn_weight * psns +
	       address_weight * (addresses(a.src, b.dst) + addresses(a.dst, b.src)) +
	       qp_weight * (names(a, b) + names(b, a));
}

pairing pair_ends(const std::vector<connection_end> &firsts,
		  const std::vector<connection_end> &seconds)
{
	const std::vector<connection_end> &others = seconds.empty() ? firsts : seconds;
	std::map<std::string, std::vector<const connection_end *>> by_key;
	for (const connection_end &each : others)
		for (const std::string &key : keys(each, true))
			by_key[key].push_back(&each);

	std::vector<candidate> found;
	for (const connection_end &a : firsts) {
		std::set<const connection_end *> seen;
		for (const std::string &key : keys(a, false))
			for (const connection_end *b : by_key[key])
				if (b != &a && seen.insert(b).second)
					if (const int like = likeness(a, *b); like >= enough)
						found.push_back({like, apart(a, *b), &a, b});
	}
	std::stable_sort(found.begin(), found.end(), [](const candidate &a, const candidate &b) {
		return a.likeness != b.likeness ? a.likeness > b.likeness : a.apart_ns < b.apart_ns;
	});

	pairing out;
	std::set<const connection_end *> taken;
	for (const candidate &each : found) {
		if (taken.count(each.a) || taken.count(each.b))
			continue;
		taken.insert(each.a);
		taken.insert(each.b);
		out.pairs.push_back(ordered(each.a, each.b));
	}
	std::sort(out.pairs.begin(), out.pairs.end(), [](const end_pair &a, const end_pair &b) {
		return a.client->number < b.client->number;
	});
	for (const auto *list : {&firsts, &seconds})
		for (const connection_end &each : *list)
			if (!taken.count(&each))
				out.alone.push_back(&each);
	return out;
}

} // namespace qpattr::tool
