// SPDX-License-Identifier: MIT
// Apart from the cells: the kernel's header and <rdma/rdma_cma.h> exclude each other.
#include "tools/conformance/script.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include <infiniband/verbs.h>

#include "tools/conformance/standing.hpp"
#include "tools/conformance/trap.hpp"
#include "uapi/command.hpp"

namespace conformance {
namespace {

using reply = qpattr::uapi::init_qp_attr::reply;
static_assert(sizeof(reply) == sizeof(scripted_answer::reply));

constexpr unsigned rtr = mask_rtr, rts = mask_rts, init = mask_init;

ib_uverbs_ah_attr by_lid(std::uint16_t lid)
{
	ib_uverbs_ah_attr out{};
	out.dlid = lid;
	out.sl = 5;
	out.src_path_bits = 3;
	out.static_rate = 6;
	out.port_num = 2;
	return out;
}

// A subnet's prefix, then what stands for the interface.
ib_uverbs_ah_attr by_gid(std::uint64_t prefix, std::uint64_t interface)
{
	ib_uverbs_ah_attr out = by_lid(0xc001);
	for (unsigned at = 0; at < 8; ++at) {
		out.grh.dgid[at] = static_cast<std::uint8_t>(prefix >> (56 - 8 * at));
		out.grh.dgid[8 + at] = static_cast<std::uint8_t>(interface >> (56 - 8 * at));
	}
	out.grh.flow_label = 0xabcde;
	out.grh.sgid_index = 7;
	out.grh.hop_limit = 63;
	out.grh.traffic_class = 0x68;
	out.is_global = 1;
	return out;
}

reply to_rtr(const ib_uverbs_ah_attr &vector, unsigned mask)
{
	reply out{};
	out.qp_attr_mask = mask;
	out.qp_state = IBV_QPS_RTR;
	out.path_mtu = IBV_MTU_4096;
	out.rq_psn = 0x123456;
	out.dest_qp_num = 0xabcdef;
	out.ah_attr = vector;
	out.max_dest_rd_atomic = 16;
	out.min_rnr_timer = 12;
	return out;
}

reply to_rts(unsigned mask)
{
	reply out{};
	out.qp_attr_mask = mask;
	out.qp_state = IBV_QPS_RTS;
	out.sq_psn = 0xfedcba;
	out.max_rd_atomic = 8;
	out.timeout = 18;
	out.retry_cnt = 6;
	out.rnr_retry = 5;
	return out;
}

reply with_alternate(reply to, const ib_uverbs_ah_attr &vector)
{
	to.alt_ah_attr = vector;
	to.alt_ah_attr.dlid = 0x0017;
	to.alt_pkey_index = 4;
	to.alt_port_num = 2;
	to.alt_timeout = 20;
	return to;
}

reply with_state(reply to, unsigned state)
{
	to.path_mig_state = state;
	return to;
}

// What is reserved is 0 in each answer of each kernel.
reply but_reserved(reply what)
{
	for (ib_uverbs_ah_attr *each : {&what.ah_attr, &what.alt_ah_attr})
		each->reserved = each->grh.reserved = 0;
	std::memset(what.reserved, 0, sizeof what.reserved);
	return what;
}

// Each byte of its own, so that two fields that change places show.
reply every_byte(unsigned first)
{
	unsigned char bytes[sizeof(reply)];
	for (std::size_t at = 0; at < sizeof bytes; ++at)
		bytes[at] = static_cast<unsigned char>(first + at);
	reply out;
	std::memcpy(&out, bytes, sizeof out);
	return but_reserved(out);
}

reply every_bit()
{
	reply out;
	std::memset(&out, 0xff, sizeof out);
	return but_reserved(out);
}

scripted_answer answer(const char *name, const reply &what, long result = trap::whole)
{
	scripted_answer out{name, {}, result};
	std::memcpy(out.reply.data(), &what, sizeof what);
	return out;
}

std::vector<scripted_answer> answers()
{
	constexpr std::uint64_t link_local = 0xfe80000000000000, guid = 0x0002c90300a1b2c3;
	// OPA: the LID of 32 bits stands in a GID that begins with Intel's number.
	constexpr std::uint64_t opa = 0x0011750000000000;
	reply ud{};
	ud.qp_attr_mask = mask_datagram;
	ud.qkey = 0x0b1b1b1b;
	ud.pkey_index = 11;
	ud.port_num = 2;
	reply first{};
	first.qp_attr_mask = init;
	first.pkey_index = 0xfffe;
	first.port_num = 2;
	first.qp_access_flags = 0x8000030e;
	return {
		answer("INIT, the 65535th P_Key, flags beyond verbs'", first),
		answer("RTR by LID, no GRH", to_rtr(by_lid(0xbfff), rtr)),
		answer("RTR by LID 0", to_rtr(by_lid(0), rtr)),
		answer("RTR by GID and LID", to_rtr(by_gid(link_local, guid), rtr)),
		answer("RTR, GRH bytes though is_global is 0", [] {
			reply out = to_rtr(by_gid(link_local, guid), rtr);
			out.ah_attr.is_global = 0;
			return out;
		}()),
		answer("RTR, OPA LID 0x10000", to_rtr(by_gid(link_local, opa | 0x10000), rtr)),
		answer("RTR, OPA LID 0xffffffff", to_rtr(by_gid(link_local, opa | 0xffffffff), rtr)),
		answer("RTR with an alternate path",
		       with_alternate(to_rtr(by_lid(0x0016), rtr | IBV_QP_ALT_PATH), by_lid(0x17))),
		answer("RTR with an alternate path by GID",
		       with_alternate(to_rtr(by_lid(0x0016), rtr | IBV_QP_ALT_PATH),
				      by_gid(link_local, guid + 1))),
		answer("RTR with mask bit 21", to_rtr(by_lid(0x16), rtr | 1U << 21)),
		answer("RTR with mask bit 22", to_rtr(by_lid(0x16), rtr | 1U << 22)),
		answer("RTR with mask bit 23", to_rtr(by_lid(0x16), rtr | 1U << 23)),
		answer("RTR with mask bit 24", to_rtr(by_lid(0x16), rtr | 1U << 24)),
		answer("RTS", to_rts(rts)),
		answer("RTS, path armed",
		       with_state(to_rts(rts | IBV_QP_PATH_MIG_STATE), IBV_MIG_REARM)),
		answer("RTS after a migration: the alternate path alone",
		       with_state(with_alternate(to_rts(IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE),
						 by_lid(0x18)),
				  IBV_MIG_REARM)),
		answer("UD on IPoIB, its Q_Key", ud),
		answer("every byte its own", every_byte(1)),
		answer("every byte its own, high", every_byte(0x80)),
		answer("every bit", every_bit()),
		answer("mask 0", reply{}),
		answer("no such P_Key", reply{}, -ENOENT),
		answer("no broadcast group", reply{}, -EADDRNOTAVAIL),
		answer("neither manager", reply{}, -ENOSYS),
		answer("device gone", reply{}, -ENXIO),
		answer("an error of 133 or more", reply{}, -524),
		answer("half a write", to_rts(rts), 8),
		answer("nothing written", to_rts(rts), 0),
	};
}

} // namespace

std::span<const scripted_answer> script()
{
	static const std::vector<scripted_answer> all = answers();
	return all;
}

} // namespace conformance
