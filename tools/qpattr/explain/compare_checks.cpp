// SPDX-License-Identifier: MIT
#include "tools/qpattr/explain/compare_checks.hpp"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "lib/attr/units.hpp"
#include "lib/attr/waits.hpp"
#include "tools/qpattr/explain/follows.hpp"

namespace qpattr::tool {
namespace {

constexpr std::uint64_t ms = 1'000'000;

struct check {
	const connection_end &client;
	const connection_end &server;
	comparison &to;

	[[nodiscard]] bool both(const char *attribute) const
	{
		return client.has(attribute) && server.has(attribute);
	}
	void differ(attr::severity how, const char *id, const char *about, std::string reason,
		    std::string advice) const
	{
		to.differs.push_back({how, id, about, std::move(reason), std::move(advice), false});
	}
};

std::string meaning(const connection_end &of, const char *attribute)
{
	const attr::attribute *const what = attr::find_attribute(attribute);
	return spelled([&](attr::text &to) { attr::add_meaning(to, *what, of.got.attr); });
}

std::string value(const connection_end &of, const char *attribute)
{
	const attr::attribute *const what = attr::find_attribute(attribute);
	return spelled([&](attr::text &to) { attr::add_value(to, *what, of.got.attr); });
}

// Whether an override made the value: the first suspect where two differ.
std::string by_whom(const connection_end &of, const char *attribute)
{
	for (auto call = of.calls.rbegin(); call != of.calls.rend(); ++call)
		for (const override_made &each : (*call)->overrides)
			if (each.attribute == attribute)
				return fmt::format(" (overridden by rule {})", each.rule);
	return "";
}

std::string both_values(const check &at, const char *attribute)
{
	const auto said = [&](const connection_end &of) {
		const std::string means = meaning(of, attribute);
		return value(of, attribute) + (means.empty() ? "" : " (" + means + ")") +
		       by_whom(of, attribute);
	};
	return fmt::format("client {}, server {}", said(at.client), said(at.server));
}

// The same at both ends, or a difference with a reason.
void same(const check &at, const char *attribute, const char *shown, attr::severity how,
	  const char *id, const std::string &reason, const char *advice)
{
	if (!at.both(attribute))
		return;
	if (at.client.number_of(attribute) == at.server.number_of(attribute))
		at.to.fits.push_back(fmt::format("{} {}", shown, value(at.client, attribute)));
	else
		at.differ(how, id, attribute, both_values(at, attribute) + ": " + reason, advice);
}

void path_mtu(const check &at)
{
	if (!at.both("path_mtu"))
		return;
	const unsigned client = attr::mtu_bytes(at.client.number_of("path_mtu"));
	const unsigned server = attr::mtu_bytes(at.server.number_of("path_mtu"));
	if (client == server) {
		at.to.fits.push_back(fmt::format("path MTU {}", meaning(at.client, "path_mtu")));
		return;
	}
	at.differ(attr::severity::problem, "path-mtu-differs", "path_mtu",
		  fmt::format("{}: a message of more than {} bytes from the {} fails, shorter ones "
			      "arrive",
			      both_values(at, "path_mtu"), std::min(client, server),
			      client > server ? "client" : "server"),
		  fmt::format("the same at both ends: path_mtu={}B", std::min(client, server)));
}

void crosswise(const check &at)
{
	const auto cross = [&](const connection_end &from, const connection_end &to,
			       const char *way) {
		if (!from.has("sq_psn") || !to.has("rq_psn") ||
		    from.number_of("sq_psn") == to.number_of("rq_psn"))
			return true;
		at.differ(attr::severity::problem, "psn-differs", "sq_psn",
			  fmt::format(
				  "{}: sends from {}, expected from {}: every packet is taken for "
				  "a repetition or a loss, and the connection fails with "
				  "IBV_WC_RETRY_EXC_ERR",
				  way, value(from, "sq_psn"), value(to, "rq_psn")),
			  "both programs must take the PSNs of this connection's answers; or these "
			  "two are not one connection");
		return false;
	};
	const bool there = cross(at.client, at.server, "client to server");
	const bool back = cross(at.server, at.client, "server to client");
	if (there && back && at.both("sq_psn") && at.both("rq_psn"))
		at.to.fits.emplace_back("PSNs");

	const auto peer = [&](const connection_end &of, const connection_end &other,
			      const char *who) {
		if (!of.has("dest_qp_num") || !other.qp_num ||
		    of.number_of("dest_qp_num") == *other.qp_num)
			return true;
		at.differ(
			attr::severity::problem, "qp-number-differs", "dest_qp_num",
			fmt::format("the {} sends to QP {}, and its peer's is {}", who,
				    of.number_of("dest_qp_num"), *other.qp_num),
			"qp_num of rdma_conn_param, where the program makes its QP itself, must be "
			"that QP's; or these two are not one connection");
		return false;
	};
	const bool client = peer(at.client, at.server, "client");
	const bool server = peer(at.server, at.client, "server");
	if (client && server && at.both("dest_qp_num") && at.client.qp_num && at.server.qp_num)
		at.to.fits.emplace_back("QP numbers");
}

void reads(const check &at)
{
	bool fit = at.both("max_rd_atomic") && at.both("max_dest_rd_atomic");
	const auto depth = [&](const connection_end &from, const connection_end &to,
			       const char *who, const char *peer) {
		if (!from.has("max_rd_atomic") || !to.has("max_dest_rd_atomic"))
			return;
		const std::uint32_t sends = from.number_of("max_rd_atomic");
		const std::uint32_t takes = to.number_of("max_dest_rd_atomic");
		if (sends > takes) {
			fit = false;
			at.differ(
				attr::severity::warning, "read-depth-exceeds", "max_rd_atomic",
				fmt::format(
					"the {} may send {} READs at a time, the {} answers {}: "
					"READ number {} ends the connection "
					"(IBV_WC_REM_INV_REQ_ERR)",
					who, sends, peer, takes, takes + 1),
				fmt::format(
					"initiator_depth of the {} at most responder_resources of "
					"the {}; librdmacm puts the program's own values into its "
					"QPs after the trace has seen the kernel's",
					who, peer));
		}
		if (sends && to.has("qp_access_flags") &&
		    !(to.number_of("qp_access_flags") & IBV_ACCESS_REMOTE_READ)) {
			fit = false;
			at.differ(
				attr::severity::warning, "read-not-allowed", "qp_access_flags",
				fmt::format("the {} may READ, and the {}'s access flags ({}) lack "
					    "REMOTE_READ: IBV_WC_REM_ACCESS_ERR",
					    who, peer, meaning(to, "qp_access_flags")),
				fmt::format("responder_resources of the {} above 0, and its QP "
					    "modified with INIT's attributes once connected",
					    peer));
		}
	};
	depth(at.client, at.server, "client", "server");
	depth(at.server, at.client, "server", "client");
	if (fit)
		at.to.fits.push_back(fmt::format("read depths {} and {}",
						 at.client.number_of("max_rd_atomic"),
						 at.server.number_of("max_rd_atomic")));
}

// How a GID came to be: of an IPv4 address, of IPv6, or of the interface's MAC.
const char *family(const ibv_gid &gid)
{
	constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	if (std::memcmp(gid.raw, mapped, sizeof mapped) == 0)
		return "IPv4";
	return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80 ? "link-local" : "IPv6";
}

void gids(const check &at)
{
	const char *const name = "ah_attr.grh.dgid";
	if (!at.both(name))
		return;
	if (at.client.number_of("ah_attr.is_global") != at.server.number_of("ah_attr.is_global"))
		at.differ(attr::severity::problem, "grh-differs", "ah_attr.is_global",
			  both_values(at, "ah_attr.is_global") +
				  ": one end sends with a global route and the other without",
			  "is_global=1 at both ends");
	if (!at.client.number_of("ah_attr.is_global") || !at.server.number_of("ah_attr.is_global"))
		return;
	const attr::attribute *const what = attr::find_attribute(name);
	const ibv_gid to_server = attr::value_gid(*what, at.client.got.attr);
	const ibv_gid to_client = attr::value_gid(*what, at.server.got.attr);
	if (std::strcmp(family(to_server), family(to_client)) != 0)
		at.differ(
			attr::severity::problem, "gid-family-differs", name,
			fmt::format("the client sends to a GID of {} ({}), the server to one of {} "
				    "({}): the ends use entries of their GID tables of different "
				    "kinds, and drop each other's packets",
				    family(to_server), value(at.client, name), family(to_client),
				    value(at.server, name)),
			"sgid_index of each end: an entry of the same family and of RoCE v2 "
			"(qpattr "
			"doctor lists them)");
	else
		at.to.fits.push_back(fmt::format("GIDs of {}", family(to_server)));

	const auto reaches = [&](const connection_end &from, const connection_end &to,
				 const char *who) {
		if (!to.src || !from.src)
			return;
		std::string host = host_of(*to.src);
		host.resize(std::min(host.find('%'), host.size()));
		ibv_gid own;
		if (host.find(':') == std::string::npos)
			host.insert(0, "::ffff:");
		const ibv_gid goal = attr::value_gid(*what, from.got.attr);
		if (::inet_pton(AF_INET6, host.c_str(), own.raw) == 1 &&
		    std::memcmp(own.raw, goal.raw, sizeof own.raw) != 0)
			at.differ(attr::severity::note, "gid-not-peers-address", name,
				  fmt::format("the {} sends to {}, and its peer is bound to {}",
					      who, value(from, name), host_of(*to.src)),
				  "if addresses are translated between, RoCE packets must be too; "
				  "most "
				  "translators do not");
	};
	reaches(at.client, at.server, "client");
	reaches(at.server, at.client, "server");
}

void classes(const check &at)
{
	const char *const name = "ah_attr.grh.traffic_class";
	if (at.both(name)) {
		const std::uint32_t client = at.client.number_of(name);
		const std::uint32_t server = at.server.number_of(name);
		const bool one_way = client >> 2 == 0 || server >> 2 == 0;
		same(at, name, "traffic class", attr::severity::warning,
		     one_way ? "traffic-class-one-way" : "traffic-class-differs",
		     one_way ? fmt::format(
				       "data from the {} travels in the best-effort class and is "
				       "dropped first, and with it acknowledgements",
				       client >> 2 == 0 ? "client" : "server")
			     : "the two directions are queued apart",
		     "the same at both ends: the option TOS before rdma_resolve_route(), or "
		     "traffic_class=dscp:N for both");
	}
	same(at, "ah_attr.grh.flow_label", "flow label", attr::severity::note, "flow-label-differs",
	     "the two directions may take different ways through the network",
	     "nothing, unless only one direction is slow");
	same(at, "ah_attr.sl", "service level", attr::severity::warning, "service-level-differs",
	     "the two directions have different priorities",
	     "the same map of TOS to priority at both interfaces");
	const char *const hops = "ah_attr.grh.hop_limit";
	if (at.both(hops) && (at.client.number_of(hops) <= 1) != (at.server.number_of(hops) <= 1))
		at.differ(attr::severity::warning, "hop-limit-one-way", hops,
			  both_values(at, hops) + ": a router lets only one direction through",
			  "hop_limit=64 at both ends");
}

void receiver_not_ready(const check &at, const connection_end &from, const connection_end &to,
			const char *who, const char *peer)
{
	if (!from.has("rnr_retry") || !to.has("min_rnr_timer"))
		return;
	const std::uint32_t retries = from.number_of("rnr_retry");
	const std::uint32_t timer = to.number_of("min_rnr_timer");
	const attr::time_span lasts = attr::rnr_wait(timer, retries);
	const std::string each = meaning(to, "min_rnr_timer");
	// Shorter than a busy program may be late.
	constexpr std::uint64_t late = 10 * ms;
	if (!lasts.endless() && lasts.most_ns < late) {
		at.differ(
			attr::severity::warning, "rnr-retries-short", "rnr_retry",
			retries == 0
				? fmt::format("the {} has rnr_retry 0: one message that finds no "
					      "receive at the {} ends the connection",
					      who, peer)
				: fmt::format(
					  "the {} tries {} times after {}, the {}'s min_rnr_timer: "
					  "if no receive is posted for {} the connection ends",
					  who, retries, each, peer, span(lasts)),
			fmt::format(
				"rnr_retry_count 7 in the {}'s rdma_conn_param, or a longer timer "
				"there",
				peer));
		return;
	}
	if (timer == 0) {
		at.differ(attr::severity::note, "rnr-timer-655ms", "min_rnr_timer",
			  fmt::format(
				  "the {} waits {} for each message that finds no receive at the "
				  "{}, {}",
				  who, each, peer,
				  lasts.endless() ? "for ever" : "and fails after " + span(lasts)),
			  fmt::format("min_rnr_timer=0.64ms at the {}", peer));
		return;
	}
	at.to.fits.push_back(
		lasts.endless()
			? fmt::format("{} waits for the {}'s receives, {} each", who, peer, each)
			: fmt::format("{}'s RNR retries last {}", who, span(lasts)));
}

void timers(const check &at)
{
	receiver_not_ready(at, at.client, at.server, "client", "server");
	receiver_not_ready(at, at.server, at.client, "server", "client");
	if (at.both("timeout") && at.both("retry_cnt")) {
		const auto wait = [](const connection_end &of) {
			return attr::dead_peer_wait(of.number_of("timeout"),
						    of.number_of("retry_cnt"));
		};
		const attr::time_span client = wait(at.client), server = wait(at.server);
		const std::uint64_t shorter = std::min(client.least_ns, server.least_ns);
		const std::uint64_t longer = std::max(client.least_ns, server.least_ns);
		if (shorter == longer)
			at.to.fits.push_back("dead peer noticed after " + span(client));
		else
			at.differ(
				longer / 4 >= shorter ? attr::severity::warning
						      : attr::severity::note,
				"dead-peer-differs", "timeout",
				fmt::format("the client notices a dead peer after {}{}, the server "
					    "after {}{}",
					    span(client), by_whom(at.client, "timeout"),
					    span(server), by_whom(at.server, "timeout")),
				"the same timeout and retry_cnt at both ends");
	}
}

void reached(const check &at, const connection_end &of, const char *who)
{
	if (of.datagram() || (of.has("ah_attr.grh.dgid") && of.has("sq_psn")))
		return;
	const char *const lacks = of.has("sq_psn")	       ? "RTR"
				  : of.has("ah_attr.grh.dgid") ? "RTS"
							       : "RTR and RTS";
	at.differ(
		attr::severity::warning, "state-not-reached", "qp_state",
		fmt::format("the trace of the {} has no answer for {}: its QP was not moved there, "
			    "or its records are lost",
			    who, lacks),
		"look at its failed calls: qpattr explain on its trace");
}

} // namespace

bool comparison::all_fit() const
{
	return std::all_of(differs.begin(), differs.end(),
			   [](const remark &each) { return each.how == attr::severity::note; });
}

comparison compare(const end_pair &pair)
{
	comparison out;
	const check at{*pair.client, *pair.server, out};
	if (at.client.qp_type != at.server.qp_type && !at.client.qp_type.empty() &&
	    !at.server.qp_type.empty())
		at.differ(attr::severity::problem, "qp-type-differs", "",
			  fmt::format("the client's QP is {}, the server's {}", at.client.qp_type,
				      at.server.qp_type),
			  "the same type at both ends (XRC: initiator and target)");
	crosswise(at);
	path_mtu(at);
	gids(at);
	classes(at);
	reads(at);
	timers(at);
	same(at, "pkey_index", "P_Key index", attr::severity::note, "pkey-index-differs",
	     "entries of two tables, which may hold the same P_Key",
	     "compare the entries with qpattr "
	     "doctor");
	same(at, "qkey", "Q_Key", attr::severity::problem, "qkey-differs",
	     "datagrams are dropped without an error", "the same at both ends");
	reached(at, at.client, "client");
	reached(at, at.server, "server");
	std::stable_sort(out.differs.begin(), out.differs.end(),
			 [](const remark &a, const remark &b) { return a.how > b.how; });
	return out;
}

} // namespace qpattr::tool
