// SPDX-License-Identifier: MIT
#include "lib/cm/qp_moves.hpp"

#include "lib/cm/connection.hpp"
#include "lib/cm/device.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/uncancelled.hpp"
#include "lib/cm/verbs_error.hpp"
#include "lib/query.hpp"

namespace qpattr::cm {
namespace {

// Once the RoCE source MAC and VLAN; on InfiniBand stock clears them.
constexpr int ethernet_bits = 7 << 21;

// ibv_modify_qp() answers an errno, or -1 and sets it.
result<void> modify(ibv_qp &qp, ibv_qp_attr &attr, int mask) noexcept
{
	const uncancelled held;
	errno = 0;
	if (const int refused = ibv_modify_qp(&qp, &attr, mask))
		return verbs_failure(refused);
	return {};
}

result<void> ask(const identifier &id, ibv_qp_state state, ibv_qp_attr &attr, int &mask) noexcept
{
	if (const auto asked = query(id.channel->fd, id.handle, state, attr, mask); !asked)
		return explained(asked.why(), uapi::init_qp_attr::name);
	attr.qp_state = state;
	return {};
}

struct move_to {
	ibv_qp_attr attr;
	int mask;
};

// By way of INIT, whose answer is another one now than when the QP was made:
// access flags and P_Key follow the connection. Both may be given with RTR as
// well, which saves a call into the driver.
result<void> to_rtr(const identifier &id, ibv_qp &qp, move_to init, move_to rtr) noexcept
{
	constexpr int known = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;
	constexpr int carried = IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;
	if (qp.state == IBV_QPS_INIT && !(init.mask & ~known) &&
	    init.attr.port_num == id.port_num && (rtr.mask & IBV_QP_STATE)) {
		move_to both = rtr;
		both.attr.qp_access_flags = init.attr.qp_access_flags;
		both.attr.pkey_index = init.attr.pkey_index;
		both.mask |= init.mask & carried;
		if (modify(qp, both.attr, both.mask))
			return {};
		// A driver that does not like it together.
	}
	if (const auto moved = modify(qp, init.attr, init.mask); !moved)
		return moved;
	return modify(qp, rtr.attr, rtr.mask);
}

void keep_to_link_layer(const identifier &id, int &mask) noexcept
{
	if (!(mask & ethernet_bits))
		return;
	device *dev = device_of(id.verbs);
	if (dev && !is_ethernet(*dev, id.port_num))
		mask &= ~ethernet_bits;
}

} // namespace

result<void> to_init(const identifier &id, ibv_qp &qp) noexcept
{
	ibv_qp_attr attr{};
	int mask;
	if (const auto asked = ask(id, IBV_QPS_INIT, attr, mask); !asked)
		return asked;
	return modify(qp, attr, mask);
}

result<void> to_ready(const identifier &id, ibv_qp &qp, int responder_resources,
		      int initiator_depth) noexcept
{
	ibv_qp_attr init{};
	ibv_qp_attr attr{};
	int init_mask;
	int mask;
	if (const auto asked = ask(id, IBV_QPS_INIT, init, init_mask); !asked)
		return asked;
	if (const auto asked = ask(id, IBV_QPS_RTR, attr, mask); !asked)
		return asked;
	if (responder_resources != kernels_own)
		attr.max_dest_rd_atomic = static_cast<std::uint8_t>(responder_resources);
	keep_to_link_layer(id, mask);
	if (const auto moved = to_rtr(id, qp, {init, init_mask}, {attr, mask}); !moved)
		return moved;
	if (const auto asked = ask(id, IBV_QPS_RTS, attr, mask); !asked)
		return asked;
	if (initiator_depth != kernels_own)
		attr.max_rd_atomic = static_cast<std::uint8_t>(initiator_depth);
	return modify(qp, attr, mask);
}

result<void> to_datagram_ready(const identifier &id, ibv_qp &qp) noexcept
{
	if (const auto moved = to_init(id, qp); !moved)
		return moved;
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTR;
	if (const auto moved = modify(qp, attr, IBV_QP_STATE); !moved)
		return moved;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0; // nobody checks it on datagrams, but the state needs one
	return modify(qp, attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

result<void> to_error(ibv_qp &qp) noexcept
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_ERR;
	return modify(qp, attr, IBV_QP_STATE);
}

result<void> complete_active(identifier &id) noexcept
{
	set_ece(*id.qp, id.remote_ece);
	auto done = to_ready(id, *id.qp, kernels_own, kernels_own);
	if (done) {
		id.local_ece = ece_of(*id.qp);
		done = send_establish(id);
	}
	if (!done) {
		(void)to_error(*id.qp);
		// So that the peer does not wait for its time to run out.
		(void)send_reject(id, nullptr, 0, reject_reason::consumer);
	}
	return done;
}

bool still_connecting(const identifier &id) noexcept
{
	ibv_qp_attr attr;
	int mask;
	if (is_datagram(id))
		return false;
	const auto asked = query(id.channel->fd, id.handle, IBV_QPS_INIT, attr, mask);
	return asked.ok();
}

rdma_ucm_ece ece_of(ibv_qp &qp) noexcept
{
	ibv_ece ece{};
	if (ibv_query_ece(&qp, &ece) != 0)
		return {};
	return {ece.vendor_id, ece.options};
}

void set_ece(ibv_qp &qp, const rdma_ucm_ece &peer) noexcept
{
	ibv_ece ece{};
	ece.vendor_id = peer.vendor_id;
	ece.options = peer.attr_mod;
	(void)ibv_set_ece(&qp, &ece); // ENOTSUP where the device has none
}

} // namespace qpattr::cm
