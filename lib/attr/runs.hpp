// SPDX-License-Identifier: MIT
// Which bytes of ibv_qp_attr come from which bytes of the kernel's reply,
// computed when qpattr is compiled.
//
// The two structs hold the same fields, and over long stretches in the same
// order. fields[] pairs them one by one; merge() joins neighbours that lie at
// the same distance into runs, so that a whole run is one block copy. A layout
// that differs on another platform only makes more runs, never a wrong copy.
#pragma once

#include <array>
#include <cstddef>

#include <infiniband/verbs.h>

#include "uapi/command.hpp"

namespace qpattr::attr {

struct field {
	std::size_t to;	  // offset in ibv_qp_attr
	std::size_t from; // offset in ib_uverbs_qp_attr
	std::size_t len;
	bool copied = true;
};

struct run {
	std::size_t to;
	std::size_t from;
	std::size_t len;
};

#define PAIR_AS(verbs_field, kernel_field)                                                         \
	field                                                                                      \
	{                                                                                          \
		offsetof(ibv_qp_attr, verbs_field), offsetof(ib_uverbs_qp_attr, kernel_field),     \
			paired_len<sizeof(ibv_qp_attr::verbs_field),                               \
				   sizeof(ib_uverbs_qp_attr::kernel_field)>                        \
	}
#define PAIR(name) PAIR_AS(name, name)
#define PAIR_CAP(name)                                                                             \
	field                                                                                      \
	{                                                                                          \
		offsetof(ibv_qp_attr, cap) + offsetof(ibv_qp_cap, name),                           \
			offsetof(ib_uverbs_qp_attr, name),                                         \
			paired_len<sizeof(ibv_qp_cap::name), sizeof(ib_uverbs_qp_attr::name)>      \
	}
#define PAIR_AH(ah, name)                                                                          \
	field                                                                                      \
	{                                                                                          \
		offsetof(ibv_qp_attr, ah) + offsetof(ibv_ah_attr, name),                           \
			offsetof(ib_uverbs_qp_attr, ah) + offsetof(ib_uverbs_ah_attr, name),       \
			paired_len<sizeof(ibv_ah_attr::name), sizeof(ib_uverbs_ah_attr::name)>     \
	}
#define PAIR_GRH(ah, name)                                                                         \
	field                                                                                      \
	{                                                                                          \
		offsetof(ibv_qp_attr, ah) + offsetof(ibv_ah_attr, grh) +                           \
			offsetof(ibv_global_route, name),                                          \
			offsetof(ib_uverbs_qp_attr, ah) + offsetof(ib_uverbs_ah_attr, grh) +       \
				offsetof(ib_uverbs_global_route, name),                            \
			paired_len<sizeof(ibv_global_route::name),                                 \
				   sizeof(ib_uverbs_global_route::name)>                           \
	}
#define ADDRESS_VECTOR(ah)                                                                         \
	PAIR_GRH(ah, dgid), PAIR_GRH(ah, flow_label), PAIR_GRH(ah, sgid_index),                    \
		PAIR_GRH(ah, hop_limit), PAIR_GRH(ah, traffic_class), PAIR_AH(ah, dlid),           \
		PAIR_AH(ah, sl), PAIR_AH(ah, src_path_bits), PAIR_AH(ah, static_rate),             \
		PAIR_AH(ah, is_global), PAIR_AH(ah, port_num)
#define LEFT_ALONE(name)                                                                           \
	field                                                                                      \
	{                                                                                          \
		offsetof(ibv_qp_attr, name), 0, sizeof(ibv_qp_attr::name), false                   \
	}

// Fields that pair must be equally wide: an enum of verbs is the kernel's u32.
template <std::size_t Verbs, std::size_t Kernel>
	requires(Verbs == Kernel)
inline constexpr std::size_t paired_len = Verbs;

// Every field of ibv_qp_attr in the order of the struct. Two are left alone, as
// stock leaves them: qp_state is the caller's question, rate_limit has no
// counterpart in the reply.
inline constexpr std::array fields{
	LEFT_ALONE(qp_state),
	PAIR(cur_qp_state),
	PAIR(path_mtu),
	PAIR(path_mig_state),
	PAIR(qkey),
	PAIR(rq_psn),
	PAIR(sq_psn),
	PAIR(dest_qp_num),
	PAIR(qp_access_flags),
	PAIR_CAP(max_send_wr),
	PAIR_CAP(max_recv_wr),
	PAIR_CAP(max_send_sge),
	PAIR_CAP(max_recv_sge),
	PAIR_CAP(max_inline_data),
	ADDRESS_VECTOR(ah_attr),
	ADDRESS_VECTOR(alt_ah_attr),
	PAIR(pkey_index),
	PAIR(alt_pkey_index),
	PAIR(en_sqd_async_notify),
	PAIR(sq_draining),
	PAIR(max_rd_atomic),
	PAIR(max_dest_rd_atomic),
	PAIR(min_rnr_timer),
	PAIR(port_num),
	PAIR(timeout),
	PAIR(retry_cnt),
	PAIR(rnr_retry),
	PAIR(alt_port_num),
	PAIR(alt_timeout),
	LEFT_ALONE(rate_limit),
};

#undef PAIR_AS
#undef PAIR
#undef PAIR_CAP
#undef PAIR_AH
#undef PAIR_GRH
#undef ADDRESS_VECTOR
#undef LEFT_ALONE

// The table is the struct: in its order, nothing overlaps, and what lies
// between two fields is too small to be a field that somebody forgot.
consteval bool covers_whole_struct()
{
	std::size_t end = 0;
	for (const field &f : fields) {
		if (f.to < end || f.to - end > 1)
			return false;
		end = f.to + f.len;
	}
	return sizeof(ibv_qp_attr) - end <= 4;
}
static_assert(covers_whole_struct());

struct run_list {
	std::array<run, fields.size()> runs{};
	std::size_t count = 0;
};

// Joins fields into runs. The padding byte between two fields of a run is
// copied with them: the kernel keeps its reserved bytes 0. A run that ends
// before padding takes the padding too where that makes it a multiple of 16,
// the width of one vector move.
consteval run_list merge()
{
	run_list out;
	bool open = false;
	for (std::size_t i = 0; i < fields.size(); ++i) {
		const field &f = fields[i];
		if (!f.copied) {
			open = false;
			continue;
		}
		if (open) {
			run &last = out.runs[out.count - 1];
			if (f.to - last.to == f.from - last.from) {
				last.len = f.to + f.len - last.to;
				continue;
			}
		}
		out.runs[out.count++] = {f.to, f.from, f.len};
		open = true;
	}
	for (std::size_t r = 0; r < out.count; ++r) {
		run &each = out.runs[r];
		const std::size_t end = each.to + each.len;
		std::size_t next = sizeof(ibv_qp_attr);
		for (const field &f : fields)
			if (f.to >= end && f.to < next)
				next = f.to;
		const std::size_t rounded = (each.len + 15) / 16 * 16;
		if (each.to + rounded <= next &&
		    each.from + rounded <= sizeof(ib_uverbs_qp_attr))
			each.len = rounded;
	}
	return out;
}

inline constexpr run_list runs = merge();

// On every platform that verbs know, x86-64 and 64-bit ARM among them, four
// block copies do: 32, 20, 64 and 16 bytes.
static_assert(sizeof(void *) != 8 || runs.count == 4);

} // namespace qpattr::attr
