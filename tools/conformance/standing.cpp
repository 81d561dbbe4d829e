// SPDX-License-Identifier: MIT
#include "tools/conformance/standing.hpp"

#include <cerrno>

namespace conformance {
namespace {

constexpr known_answer refused{0, EINVAL};

constexpr int mask_iwarp_init = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT;
constexpr int mask_iwarp_rts = IBV_QP_PORT;

// The transition to RTR of what has no READs to answer for: no RNR timer, no depth.
constexpr int mask_rtr_one_way =
	mask_rtr & ~(IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_DEST_RD_ATOMIC);
constexpr int mask_rts_unreliable = IBV_QP_STATE | IBV_QP_SQ_PSN;
// A target's sends are the other end's: acknowledgements only.
constexpr int mask_rts_target = mask_rts_unreliable | IBV_QP_TIMEOUT;

int rtr_of(ibv_qp_type type) noexcept
{
	return type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND ? mask_rtr_one_way : mask_rtr;
}

int rts_of(ibv_qp_type type) noexcept
{
	switch (type) {
	case IBV_QPT_UC:
		return mask_rts_unreliable;
	case IBV_QPT_XRC_RECV:
		return mask_rts_target;
	default:
		return mask_rts;
	}
}

known_answer connected_answer(int state, ibv_qp_type type) noexcept
{
	switch (state) {
	case IBV_QPS_INIT:
		return {mask_init, 0};
	case IBV_QPS_RTR:
		return {rtr_of(type), 0};
	case IBV_QPS_RTS:
		return {rts_of(type), 0};
	default:
		return refused;
	}
}

known_answer iwarp_answer(int state) noexcept
{
	switch (state) {
	case IBV_QPS_INIT:
	case IBV_QPS_RTR:
		return {mask_iwarp_init, 0};
	case IBV_QPS_RTS:
		return {mask_iwarp_rts, 0};
	default:
		return refused;
	}
}

} // namespace

const char *side_name(side which) noexcept
{
	switch (which) {
	case side::active:
		return "active";
	case side::passive:
		return "passive";
	case side::listener:
		return "listener";
	case side::member:
		return "member";
	}
	return "unknown";
}

const char *manager_name(manager which) noexcept
{
	return which == manager::iwarp ? "iWARP" : "InfiniBand";
}

std::optional<known_answer> known(standing where, int state, side who, const subject &what) noexcept
{
	const bool iwarp = what.by == manager::iwarp;
	if (where == standing::any)
		return std::nullopt;
	// The kernel looks at the state before it looks for the id.
	if (state < IBV_QPS_RESET || state > IBV_QPS_ERR)
		return refused;
	switch (where) {
	case standing::simple:
		return known_answer{iwarp ? mask_iwarp_init : mask_init, 0};
	case standing::datagram:
		return known_answer{mask_datagram, 0};
	case standing::connected:
		if (iwarp)
			return iwarp_answer(state);
		// Either end may be asked for by either type's id.
		return connected_answer(state, what.type == IBV_QPT_XRC_SEND && who == side::passive
						       ? IBV_QPT_XRC_RECV
						       : what.type);
	case standing::requested:
		if (iwarp)
			return iwarp_answer(state);
		return state == IBV_QPS_INIT ? known_answer{mask_init, 0} : refused;
	case standing::destroyed:
		return known_answer{0, ENOENT};
	case standing::removed:
		return known_answer{0, ENXIO};
	case standing::closed:
		// While it closes iWARP's refuses, then it answers as before.
		if (iwarp)
			return std::nullopt;
		return refused;
	case standing::no_device:
	case standing::listening:
	case standing::foreign:
		return refused;
	case standing::any:
		break;
	}
	return std::nullopt;
}

} // namespace conformance
