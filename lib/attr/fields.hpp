// SPDX-License-Identifier: MIT
// Every field of ibv_qp_attr as a row that a person reads, and the comparison of
// two structs field by field.
//
// The rows are the fields of runs.hpp, in the order of the struct: fields.cpp
// asserts it. This header needs verbs only, so that it can be used beside
// <rdma/rdma_cma.h>.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <infiniband/verbs.h>

#include "lib/attr/text.hpp"

namespace qpattr::attr {

// How the number in a field is to be read.
enum class unit : std::uint8_t {
	count, // a plain number
	flag,
	qp_state,
	path_mtu,
	mig_state,
	qkey,
	number24, // PSN, QP number
	access_flags,
	gid, // the only one that is not a number
	flow_label,
	gid_index,
	hop_limit,
	traffic_class,
	lid,
	static_rate,
	grh_flag,
	pkey_index,
	rd_atomic,
	rnr_timer,
	timeout,
	retry_cnt,
	rnr_retry,
	rate_limit,
};

struct attribute {
	const char *name;	// "ah_attr.grh.dgid"
	std::uint32_t mask_bit; // the bit that makes ibv_modify_qp() read it; 0: none does
	unit kind;
	std::size_t offset; // in ibv_qp_attr
	std::size_t len;
};

#define ROW(name, mask_bit, kind)                                                                  \
	attribute                                                                                  \
	{                                                                                          \
		#name, mask_bit, unit::kind, offsetof(ibv_qp_attr, name),                          \
			sizeof(ibv_qp_attr::name)                                                  \
	}
#define ROW_IN(outer, type, name, mask_bit, kind)                                                  \
	attribute                                                                                  \
	{                                                                                          \
		#outer "." #name, mask_bit, unit::kind,                                            \
			offsetof(ibv_qp_attr, outer) + offsetof(type, name), sizeof(type::name)    \
	}
#define ROW_GRH(ah, name, mask_bit, kind)                                                          \
	attribute                                                                                  \
	{                                                                                          \
		#ah ".grh." #name, mask_bit, unit::kind,                                           \
			offsetof(ibv_qp_attr, ah) + offsetof(ibv_ah_attr, grh) +                   \
				offsetof(ibv_global_route, name),                                  \
			sizeof(ibv_global_route::name)                                             \
	}
#define ROWS_OF_ADDRESS(ah, bit)                                                                   \
	ROW_GRH(ah, dgid, bit, gid), ROW_GRH(ah, flow_label, bit, flow_label),                     \
		ROW_GRH(ah, sgid_index, bit, gid_index), ROW_GRH(ah, hop_limit, bit, hop_limit),   \
		ROW_GRH(ah, traffic_class, bit, traffic_class),                                    \
		ROW_IN(ah, ibv_ah_attr, dlid, bit, lid), ROW_IN(ah, ibv_ah_attr, sl, bit, count),  \
		ROW_IN(ah, ibv_ah_attr, src_path_bits, bit, count),                                \
		ROW_IN(ah, ibv_ah_attr, static_rate, bit, static_rate),                            \
		ROW_IN(ah, ibv_ah_attr, is_global, bit, grh_flag),                                 \
		ROW_IN(ah, ibv_ah_attr, port_num, bit, count)

inline constexpr std::array attributes{
	ROW(qp_state, IBV_QP_STATE, qp_state),
	ROW(cur_qp_state, IBV_QP_CUR_STATE, qp_state),
	ROW(path_mtu, IBV_QP_PATH_MTU, path_mtu),
	ROW(path_mig_state, IBV_QP_PATH_MIG_STATE, mig_state),
	ROW(qkey, IBV_QP_QKEY, qkey),
	ROW(rq_psn, IBV_QP_RQ_PSN, number24),
	ROW(sq_psn, IBV_QP_SQ_PSN, number24),
	ROW(dest_qp_num, IBV_QP_DEST_QPN, number24),
	ROW(qp_access_flags, IBV_QP_ACCESS_FLAGS, access_flags),
	ROW_IN(cap, ibv_qp_cap, max_send_wr, IBV_QP_CAP, count),
	ROW_IN(cap, ibv_qp_cap, max_recv_wr, IBV_QP_CAP, count),
	ROW_IN(cap, ibv_qp_cap, max_send_sge, IBV_QP_CAP, count),
	ROW_IN(cap, ibv_qp_cap, max_recv_sge, IBV_QP_CAP, count),
	ROW_IN(cap, ibv_qp_cap, max_inline_data, IBV_QP_CAP, count),
	ROWS_OF_ADDRESS(ah_attr, IBV_QP_AV),
	ROWS_OF_ADDRESS(alt_ah_attr, IBV_QP_ALT_PATH),
	ROW(pkey_index, IBV_QP_PKEY_INDEX, pkey_index),
	ROW(alt_pkey_index, IBV_QP_ALT_PATH, pkey_index),
	ROW(en_sqd_async_notify, IBV_QP_EN_SQD_ASYNC_NOTIFY, flag),
	ROW(sq_draining, 0, flag), // only ibv_query_qp() fills it
	ROW(max_rd_atomic, IBV_QP_MAX_QP_RD_ATOMIC, rd_atomic),
	ROW(max_dest_rd_atomic, IBV_QP_MAX_DEST_RD_ATOMIC, rd_atomic),
	ROW(min_rnr_timer, IBV_QP_MIN_RNR_TIMER, rnr_timer),
	ROW(port_num, IBV_QP_PORT, count),
	ROW(timeout, IBV_QP_TIMEOUT, timeout),
	ROW(retry_cnt, IBV_QP_RETRY_CNT, retry_cnt),
	ROW(rnr_retry, IBV_QP_RNR_RETRY, rnr_retry),
	ROW(alt_port_num, IBV_QP_ALT_PATH, count),
	ROW(alt_timeout, IBV_QP_ALT_PATH, timeout),
	ROW(rate_limit, IBV_QP_RATE_LIMIT, rate_limit),
};

#undef ROW
#undef ROW_IN
#undef ROW_GRH
#undef ROWS_OF_ADDRESS

// nullptr where there is none of that name.
[[nodiscard]] const attribute *find_attribute(const char *name) noexcept;

// The field as it stands: a name, a number or a GID. "RTR", "14", "0x00002a".
void add_value(text &to, const attribute &what, const ibv_qp_attr &from) noexcept;

// What the value means: "67.1 ms". Adds nothing where the value says it all.
void add_meaning(text &to, const attribute &what, const ibv_qp_attr &from) noexcept;

// The field as a number; 0 for a GID, see value_gid().
[[nodiscard]] std::uint32_t value_number(const attribute &what, const ibv_qp_attr &from) noexcept;

// Of a field of unit::gid only.
[[nodiscard]] ibv_gid value_gid(const attribute &what, const ibv_qp_attr &from) noexcept;

[[nodiscard]] bool is_zero(const attribute &what, const ibv_qp_attr &from) noexcept;

// Whether ibv_modify_qp() with this mask reads the field.
[[nodiscard]] constexpr bool in_mask(const attribute &what, std::uint32_t mask) noexcept
{
	return (what.mask_bit & mask) != 0;
}

// Padding between fields does not count.
[[nodiscard]] bool equal_field(const attribute &what, const ibv_qp_attr &a,
			       const ibv_qp_attr &b) noexcept;
[[nodiscard]] bool equal_fields(const ibv_qp_attr &a, const ibv_qp_attr &b) noexcept;

// nullptr: all equal.
[[nodiscard]] const attribute *first_difference(const ibv_qp_attr &a,
						const ibv_qp_attr &b) noexcept;

} // namespace qpattr::attr
