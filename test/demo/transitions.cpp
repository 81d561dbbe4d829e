// SPDX-License-Identifier: MIT
#include "test/demo/transitions.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>

namespace qpattr::demo {
namespace {

constexpr const char *our_object = "libqpattr-preload.so";

// An id's pointer is used again after the id was destroyed; the addresses and
// the order of the states tell the next connection from the last.
struct one_end {
	std::size_t number;
	std::uint32_t state;
	endpoint source;
	endpoint destination;
	side end;
};

bool same(const endpoint &a, const endpoint &b)
{
	return a.family == b.family && a.port == b.port &&
	       std::memcmp(a.address, b.address, sizeof a.address) == 0;
}

bool goes_on(const one_end &before, const record &now)
{
	const bool starts_over = now.state <= IBV_QPS_INIT && before.state > IBV_QPS_INIT;
	return !starts_over && same(before.source, now.source) &&
	       same(before.destination, now.destination);
}

// A connected QP's INIT without access flags is one before CONNECT, which only
// the active side has. Else it is the side whose port is not one that the kernel
// hands out, which it does from 32768 on.
side side_of(const record &what)
{
	if (what.qp_type != IBV_QPT_UD && what.state == IBV_QPS_INIT && what.ours.result == 0 &&
	    (what.ours.mask & IBV_QP_ACCESS_FLAGS) && what.ours.attr.qp_access_flags == 0)
		return side::active;
	constexpr unsigned handed_out = 32768;
	const unsigned own = ntohs(what.source.port);
	const unsigned peer = ntohs(what.destination.port);
	if (own >= handed_out && peer < handed_out && peer)
		return side::active;
	if (peer >= handed_out && own < handed_out && own)
		return side::passive;
	return side::unknown;
}

std::string field_text(const char *text, std::size_t len)
{
	return {text, ::strnlen(text, len)};
}

// Every process numbers its records; one that could not be written leaves a gap.
std::string gaps(const std::vector<record> &records)
{
	std::map<std::int32_t, std::set<std::uint32_t>> seen;
	for (const record &each : records)
		if (!seen[each.pid].insert(each.sequence).second)
			return "process " + std::to_string(each.pid) + " has two records " +
			       std::to_string(each.sequence);
	for (const auto &[pid, numbers] : seen)
		if (*numbers.rbegin() - *numbers.begin() + 1 != numbers.size())
			return "records of process " + std::to_string(pid) + " are missing";
	return {};
}

} // namespace

bool transition::equal() const
{
	const answer &a = what.ours;
	const answer &b = what.theirs;
	return what.stock_asked && a.result == b.result && a.error == b.error && a.mask == b.mask &&
	       attr::equal_fields(a.attr, b.attr);
}

bool transition::served() const
{
	return field_text(what.object, sizeof what.object) == our_object &&
	       what.ours.stock_commands == 0 && what.theirs.stock_commands == 1;
}

std::vector<std::string> history::runs() const
{
	std::vector<std::string> out;
	for (const transition &each : all)
		if (std::find(out.begin(), out.end(), each.run) == out.end())
			out.push_back(each.run);
	return out;
}

std::vector<std::size_t> history::first_connection(const std::string &run) const
{
	const auto first = std::find_if(all.begin(), all.end(),
					[&](const transition &each) { return each.run == run; });
	if (first == all.end())
		return {};
	std::vector<std::size_t> out{first->connection};
	for (const transition &each : all)
		if (each.run == run && same(each.what.source, first->what.destination) &&
		    same(each.what.destination, first->what.source) &&
		    each.connection != first->connection) {
			out.push_back(each.connection);
			break;
		}
	return out;
}

history make_history(std::vector<record> records)
{
	history out;
	out.trouble = gaps(records);
	std::stable_sort(records.begin(), records.end(),
			 [](const record &a, const record &b) { return a.time_ns < b.time_ns; });

	std::map<std::pair<std::int32_t, std::uint64_t>, one_end> ends;
	std::size_t numbers = 0;
	for (const record &each : records) {
		transition next;
		next.what = each;
		next.run = field_text(each.run, sizeof each.run);
		if (next.run.empty())
			next.run = field_text(each.program, sizeof each.program);
		const auto key = std::pair{each.pid, each.id};
		auto at = ends.find(key);
		if (at == ends.end() || !goes_on(at->second, each))
			at = ends.insert_or_assign(key,
						   one_end{++numbers, IBV_QPS_RESET, each.source,
							   each.destination, side_of(each)})
				     .first;
		one_end &end = at->second;
		next.connection = end.number;
		next.from = end.state;
		next.end = end.end;
		if (each.ours.result == 0)
			end.state = each.state;
		out.all.push_back(next);
	}
	return out;
}

history read_history(const char *path)
{
	const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file{std::fopen(path, "rb"),
								    &std::fclose};
	history none;
	if (!file) {
		none.trouble = std::string{path} + ": " + std::strerror(errno);
		return none;
	}
	std::vector<record> records;
	record next;
	for (;;) {
		const std::size_t got = std::fread(&next, 1, sizeof next, file.get());
		if (got == 0)
			break;
		if (got != sizeof next || next.magic != record_magic || next.len != sizeof next) {
			none.trouble = std::string{path} + ": record " +
				       std::to_string(records.size()) + " is damaged";
			return none;
		}
		records.push_back(next);
	}
	return make_history(std::move(records));
}

std::string written(const endpoint &where)
{
	char line[INET6_ADDRSTRLEN] = "?";
	const unsigned port = ntohs(where.port);
	switch (where.family) {
	case 0:
		return "-";
	case AF_INET:
		::inet_ntop(AF_INET, where.address, line, sizeof line);
		return line + (":" + std::to_string(port));
	case AF_INET6:
		::inet_ntop(AF_INET6, where.address, line, sizeof line);
		return "[" + std::string{line} + "]:" + std::to_string(port);
	}
	return "family " + std::to_string(where.family);
}

} // namespace qpattr::demo
