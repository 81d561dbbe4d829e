// SPDX-License-Identifier: MIT
#include "lib/attr/lint.hpp"

#include <cstring>

#include "lib/attr/linter.hpp"
#include "lib/attr/names.hpp"
#include "lib/attr/units.hpp"

namespace qpattr::attr {
namespace {

void range(const linter &here, const char *id, const attribute *what, std::uint32_t most,
	   const char *advice) noexcept
{
	if (!in_mask(*what, here.mask))
		return;
	const std::uint32_t value = value_number(*what, here.attr);
	if (value > most)
		here.problem(id, what, advice)
			.reason.addf("%s is %u; at most %u can be said on the wire", what->name,
				     value, most);
}

void lint_mask(const linter &here) noexcept
{
	if (const std::uint32_t bits = here.mask & mask_reserved) {
		text &reason = here.problem("mask-reserved", nullptr,
					    "clear these bits before ibv_modify_qp(): the kernel "
					    "finds MAC address and VLAN by the GID")
				       .reason;
		reason.add("the mask has ");
		add_mask(reason, bits);
		reason.add(", which ibv_modify_qp() refuses with EOPNOTSUPP");
	}
	// Only INIT's attributes, whatever was asked: the id has no connection yet.
	const std::uint32_t init =
		IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	const std::uint32_t asked = value_number(*row("qp_state"), here.attr);
	if (here.mask == init && asked != IBV_QPS_INIT)
		here.problem("asked-too-early", row("qp_state"),
			     "ask after CONNECT_RESPONSE (active side) or CONNECT_REQUEST (passive "
			     "side), and look for IBV_QP_AV in the mask before moving to RTR")
			.reason.addf("asked for %s, the kernel gave INIT's attributes: there is no "
				     "connection yet",
				     qp_state_name(asked) ? qp_state_name(asked) : "a state");
}

} // namespace

const char *severity_name(severity how) noexcept
{
	switch (how) {
	case severity::note:
		return "note";
	case severity::warning:
		return "warning";
	case severity::problem:
		return "problem";
	}
	return "?";
}

finding &findings::add(const char *id, severity how, const attribute *about,
		       const char *advice) noexcept
{
	finding &place = all_[size_];
	place.id = id;
	place.how = how;
	place.about = about;
	place.advice = advice;
	place.reason.clear();
	if (size_ < capacity) {
		order_[size_] = static_cast<std::uint8_t>(size_);
		++size_;
	}
	return place;
}

// By insertion: there are few, and equal ones keep their order.
void findings::sort() noexcept
{
	for (std::size_t i = 1; i < size_; ++i) {
		const std::uint8_t moved = order_[i];
		std::size_t to = i;
		for (; to > 0 && all_[order_[to - 1]].how < all_[moved].how; --to)
			order_[to] = order_[to - 1];
		order_[to] = moved;
	}
}

const finding *findings::find(const char *id) const noexcept
{
	for (std::size_t i = 0; i < size_; ++i)
		if (std::strcmp(all_[i].id, id) == 0)
			return &all_[i];
	return nullptr;
}

void gathered::add(const ibv_qp_attr &from, std::uint32_t from_mask) noexcept
{
	for (const attribute &each : attributes)
		if (in_mask(each, from_mask))
			std::memcpy(reinterpret_cast<unsigned char *>(&attr) + each.offset,
				    reinterpret_cast<const unsigned char *>(&from) + each.offset,
				    each.len);
	mask |= from_mask;
}

bool is_roce(const ibv_qp_attr &attr, std::uint32_t mask, const surroundings &at) noexcept
{
	if (at.link_layer != IBV_LINK_LAYER_UNSPECIFIED)
		return at.link_layer == IBV_LINK_LAYER_ETHERNET;
	return (mask & IBV_QP_AV) && attr.ah_attr.is_global && attr.ah_attr.dlid == 0;
}

std::uint32_t mtu_of_interface(unsigned bytes) noexcept
{
	constexpr unsigned headers = 96;
	for (std::uint32_t mtu = IBV_MTU_4096; mtu >= IBV_MTU_256; --mtu)
		if (bytes >= mtu_bytes(mtu) + headers)
			return mtu;
	return 0;
}

void lint_ranges(const linter &here) noexcept
{
	range(here, "timeout-range", row("timeout"), timeout_max,
	      "timeout is an exponent, 4.096 us * 2^timeout: 14 is 67.1 ms");
	range(here, "rnr-timer-range", row("min_rnr_timer"), rnr_timer_max,
	      "min_rnr_timer is a code, not a time: 12 is 0.64 ms");
	range(here, "retry-range", row("retry_cnt"), retry_max, "0 to 7, in 3 bits");
	range(here, "rnr-retry-range", row("rnr_retry"), retry_max, "0 to 6, or 7 for ever");
	const char *const psn = "take the lower 24 bits, at both ends";
	range(here, "psn-range", row("rq_psn"), number_max, psn);
	range(here, "psn-range", row("sq_psn"), number_max, psn);
	range(here, "qpn-range", row("dest_qp_num"), number_max, "a QP number has 24 bits");
	range(here, "flow-label-range", row("ah_attr.grh.flow_label"), 0xfffff,
	      "a flow label has 20 bits");
	range(here, "service-level-range", row("ah_attr.sl"),
	      is_roce(here.attr, here.mask, here.at) ? 7 : 15,
	      "a service level is 0 to 15; on RoCE it is the VLAN priority, 0 to 7");
	if (here.has(IBV_QP_DEST_QPN) && here.attr.dest_qp_num <= 1)
		here.problem("peer-qp-special", row("dest_qp_num"),
			     "give the QP number of the peer's connection request or response")
			.reason.addf("dest_qp_num is %u, and no program's connected QP has that "
				     "number: it was not filled in",
				     here.attr.dest_qp_num);
	if (here.has(IBV_QP_PORT) && here.attr.port_num == 0)
		here.problem("port-0", row("port_num"), "ports are counted from 1")
			.reason.add("port_num is 0: there is no such port");
}

void lint(const ibv_qp_attr &attr, std::uint32_t mask, const surroundings &at,
	  findings &to) noexcept
{
	const linter here{attr, mask, at, to};
	lint_mask(here);
	lint_ranges(here);
	lint_timers(here);
	lint_path(here);
	lint_access(here);
	to.sort();
}

} // namespace qpattr::attr
