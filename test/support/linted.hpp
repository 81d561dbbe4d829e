// SPDX-License-Identifier: MIT
// A connection that has no finding of lint(), and what lint() says of one that is changed.
#pragma once

#include "lib/attr/lint.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <functional>
#include <set>
#include <string>

#include "lib/attr/waits.hpp"
#include "test/support/catch.hpp"

namespace qpattr::test {

using namespace qpattr::attr;

constexpr std::uint32_t init_mask = 0x39;
constexpr std::uint32_t rtr_mask = 0x129181;
constexpr std::uint32_t rts_mask = 0x12e01;
constexpr std::uint32_t all_mask = init_mask | rtr_mask | rts_mask;

// Of RC over RoCE, with nothing to find.
inline ibv_qp_attr healthy()
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.path_mtu = IBV_MTU_1024;
	attr.rq_psn = 0x123456;
	attr.sq_psn = 0x654321;
	attr.dest_qp_num = 17;
	attr.qp_access_flags = 0xe;
	REQUIRE(::inet_pton(AF_INET6, "::ffff:10.0.0.2", attr.ah_attr.grh.dgid.raw) == 1);
	attr.ah_attr.grh.flow_label = 0x1234;
	attr.ah_attr.grh.sgid_index = 3;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.grh.traffic_class = 104;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.max_rd_atomic = 16;
	attr.max_dest_rd_atomic = 16;
	attr.min_rnr_timer = 12;
	attr.port_num = 1;
	attr.timeout = 16;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	return attr;
}

struct said {
	std::set<std::string> ids;
	std::string reason; // of the one that was asked for
	std::string advice;
	std::string about;
	severity how{};
};

inline said lint_of(const ibv_qp_attr &attr, std::uint32_t mask, const surroundings &at,
	     const std::string &wanted = {})
{
	findings found;
	lint(attr, mask, at, found);
	said out;
	for (std::size_t i = 0; i < found.size(); ++i) {
		const finding &each = found[i];
		CAPTURE(each.id);
		CHECK_FALSE(each.reason.truncated());
		CHECK_FALSE(each.reason.empty());
		CHECK(each.advice);
		CHECK((i == 0 || found[i - 1].how >= each.how));
		out.ids.insert(each.id);
		if (wanted == each.id) {
			out.reason = each.reason.c_str();
			out.advice = each.advice;
			out.about = each.about ? each.about->name : "";
			out.how = each.how;
		}
	}
	return out;
}

using change = std::function<void(ibv_qp_attr &)>;
using place = std::function<void(surroundings &)>;

// The change raises this finding and no other, about that attribute, for this reason;
// outside the mask of `bit` it raises none.
inline void raises(const char *id, severity how, const char *about, const std::string &reason,
	    std::uint32_t bit, const change &to, const place &where = {})
{
	CAPTURE(id);
	ibv_qp_attr attr = healthy();
	surroundings at;
	if (where)
		where(at);
	to(attr);
	const said found = lint_of(attr, all_mask, at, id);
	CHECK(found.ids == std::set<std::string>{id});
	CHECK(found.reason.find(reason) != std::string::npos);
	CAPTURE(found.reason);
	CHECK(found.how == how);
	CHECK(found.about == about);
	CHECK(lint_of(attr, all_mask & ~bit, at).ids.count(id) == 0);
}

inline void raises_nothing(const change &to, const place &where = {})
{
	ibv_qp_attr attr = healthy();
	surroundings at;
	if (where)
		where(at);
	to(attr);
	CHECK(lint_of(attr, all_mask, at).ids.empty());
}

constexpr severity note = severity::note;
constexpr severity warning = severity::warning;
constexpr severity problem = severity::problem;

} // namespace qpattr::test
