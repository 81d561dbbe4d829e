// SPDX-License-Identifier: MIT
#include "test/conformance/standing.hpp"

#include <cerrno>
#include <infiniband/verbs.h>

namespace conformance {
namespace {

constexpr known_answer refused{0, EINVAL};

known_answer connected_answer(int state) noexcept
{
	switch (state) {
	case IBV_QPS_INIT:
		return {mask_init, 0};
	case IBV_QPS_RTR:
		return {mask_rtr, 0};
	case IBV_QPS_RTS:
		return {mask_rts, 0};
	default:
		return refused;
	}
}

} // namespace

known_answer known(standing where, int state) noexcept
{
	// The kernel looks at the state before it looks for the id.
	if (state < IBV_QPS_RESET || state > IBV_QPS_ERR)
		return refused;
	switch (where) {
	case standing::simple:
		return {mask_init, 0};
	case standing::datagram:
		return {mask_datagram, 0};
	case standing::connected:
		return connected_answer(state);
	case standing::requested:
		return state == IBV_QPS_INIT ? known_answer{mask_init, 0} : refused;
	case standing::destroyed:
		return {0, ENOENT};
	case standing::no_device:
	case standing::closed:
	case standing::foreign:
		return refused;
	}
	return refused;
}

} // namespace conformance
