// SPDX-License-Identifier: MIT
// Every size and offset of the rdma_cm interface, asserted when qpattr is
// built. A kernel header that disagrees stops the build here, not a program in
// production.
//
// The numbers are the kernel's ABI: equal on 5.10, 6.1, 6.12 and 7.2, for 64-bit
// and 32-bit programs. test/abi/headers.sh compiles this file against the
// headers of those kernels.
#include "uapi/command.hpp"

namespace qpattr::uapi {

// Sizes: the command's number, bytes that are written after the header, bytes
// of the reply (0: none).
#define COMMAND(type, num, in, out)                                                                \
	static_assert(command<type>);                                                              \
	static_assert(type::number == (num));                                                      \
	static_assert(sizeof(type::request) == (in));                                              \
	static_assert((out) == 0 ? std::is_same_v<type::reply, no_reply>                           \
				 : sizeof(type::reply) == (out))

COMMAND(create_id, 0, 24, 4);
COMMAND(destroy_id, 1, 16, 4);
COMMAND(bind_ip, 2, 40, 0);
COMMAND(resolve_ip, 3, 64, 0);
COMMAND(resolve_route, 4, 8, 0);
COMMAND(query_route, 5, 16, 208);
COMMAND(connect, 6, 288, 0);
COMMAND(listen, 7, 8, 0);
COMMAND(accept, 8, 296, 0);
COMMAND(reject, 9, 264, 0);
COMMAND(disconnect, 10, 4, 0);
COMMAND(init_qp_attr, 11, 16, 144);
COMMAND(get_event, 12, 8, 336);
COMMAND(set_option, 14, 24, 0);
COMMAND(notify, 15, 8, 0);
COMMAND(join_ip_mcast, 16, 48, 4);
COMMAND(leave_mcast, 17, 16, 4);
COMMAND(migrate_id, 18, 16, 4);
COMMAND(query_addr, 19, 16, 280);
COMMAND(query_gid, 19, 16, 280);
COMMAND(query_path, 19, 16, 8);
COMMAND(bind, 20, 136, 0);
COMMAND(resolve_addr, 21, 272, 0);
COMMAND(join_mcast, 22, 152, 4);
COMMAND(resolve_ib_service, 23, 88, 0);
COMMAND(write_cm_event, 24, 320, 0);
#undef COMMAND

static_assert(abi_version == 4);
static_assert(get_option_number == 13);
static_assert(query_addr::option == 0 && query_path::option == 1 && query_gid::option == 2);

// Offset and size of every field.
#define FIELD(type, field, offset, size)                                                           \
	static_assert(offsetof(type, field) == (offset));                                          \
	static_assert(sizeof(type::field) == (size))

static_assert(sizeof(rdma_ucm_cmd_hdr) == 8);
FIELD(rdma_ucm_cmd_hdr, cmd, 0, 4);
FIELD(rdma_ucm_cmd_hdr, in, 4, 2);
FIELD(rdma_ucm_cmd_hdr, out, 6, 2);

FIELD(rdma_ucm_create_id, uid, 0, 8);
FIELD(rdma_ucm_create_id, response, 8, 8);
FIELD(rdma_ucm_create_id, ps, 16, 2);
FIELD(rdma_ucm_create_id, qp_type, 18, 1);
FIELD(rdma_ucm_create_id, reserved, 19, 5);
FIELD(rdma_ucm_create_id_resp, id, 0, 4);

FIELD(rdma_ucm_destroy_id, response, 0, 8);
FIELD(rdma_ucm_destroy_id, id, 8, 4);
FIELD(rdma_ucm_destroy_id, reserved, 12, 4);
FIELD(rdma_ucm_destroy_id_resp, events_reported, 0, 4);

FIELD(rdma_ucm_bind_ip, response, 0, 8);
FIELD(rdma_ucm_bind_ip, addr, 8, 28);
FIELD(rdma_ucm_bind_ip, id, 36, 4);

FIELD(rdma_ucm_resolve_ip, src_addr, 0, 28);
FIELD(rdma_ucm_resolve_ip, dst_addr, 28, 28);
FIELD(rdma_ucm_resolve_ip, id, 56, 4);
FIELD(rdma_ucm_resolve_ip, timeout_ms, 60, 4);

FIELD(rdma_ucm_resolve_route, id, 0, 4);
FIELD(rdma_ucm_resolve_route, timeout_ms, 4, 4);

FIELD(rdma_ucm_query, response, 0, 8);
FIELD(rdma_ucm_query, id, 8, 4);
FIELD(rdma_ucm_query, option, 12, 4);

FIELD(rdma_ucm_query_route_resp, node_guid, 0, 8);
FIELD(rdma_ucm_query_route_resp, ib_route, 8, 128);
FIELD(rdma_ucm_query_route_resp, src_addr, 136, 28);
FIELD(rdma_ucm_query_route_resp, dst_addr, 164, 28);
FIELD(rdma_ucm_query_route_resp, num_paths, 192, 4);
FIELD(rdma_ucm_query_route_resp, port_num, 196, 1);
FIELD(rdma_ucm_query_route_resp, reserved, 197, 3);
FIELD(rdma_ucm_query_route_resp, ibdev_index, 200, 4);
FIELD(rdma_ucm_query_route_resp, reserved1, 204, 4);

FIELD(rdma_ucm_query_addr_resp, node_guid, 0, 8);
FIELD(rdma_ucm_query_addr_resp, port_num, 8, 1);
FIELD(rdma_ucm_query_addr_resp, reserved, 9, 1);
FIELD(rdma_ucm_query_addr_resp, pkey, 10, 2);
FIELD(rdma_ucm_query_addr_resp, src_size, 12, 2);
FIELD(rdma_ucm_query_addr_resp, dst_size, 14, 2);
FIELD(rdma_ucm_query_addr_resp, src_addr, 16, 128);
FIELD(rdma_ucm_query_addr_resp, dst_addr, 144, 128);
FIELD(rdma_ucm_query_addr_resp, ibdev_index, 272, 4);
FIELD(rdma_ucm_query_addr_resp, reserved1, 276, 4);

FIELD(rdma_ucm_query_path_resp, num_paths, 0, 4);
FIELD(rdma_ucm_query_path_resp, reserved, 4, 4);
static_assert(sizeof(ib_path_rec_data) == 72);
FIELD(ib_path_rec_data, flags, 0, 4);
FIELD(ib_path_rec_data, reserved, 4, 4);
FIELD(ib_path_rec_data, path_rec, 8, 64);

static_assert(sizeof(ib_user_path_rec) == 64);
FIELD(ib_user_path_rec, dgid, 0, 16);
FIELD(ib_user_path_rec, sgid, 16, 16);
FIELD(ib_user_path_rec, dlid, 32, 2);
FIELD(ib_user_path_rec, slid, 34, 2);
FIELD(ib_user_path_rec, raw_traffic, 36, 4);
FIELD(ib_user_path_rec, flow_label, 40, 4);
FIELD(ib_user_path_rec, reversible, 44, 4);
FIELD(ib_user_path_rec, mtu, 48, 4);
FIELD(ib_user_path_rec, pkey, 52, 2);
FIELD(ib_user_path_rec, hop_limit, 54, 1);
FIELD(ib_user_path_rec, traffic_class, 55, 1);
FIELD(ib_user_path_rec, numb_path, 56, 1);
FIELD(ib_user_path_rec, sl, 57, 1);
FIELD(ib_user_path_rec, mtu_selector, 58, 1);
FIELD(ib_user_path_rec, rate_selector, 59, 1);
FIELD(ib_user_path_rec, rate, 60, 1);
FIELD(ib_user_path_rec, packet_life_time_selector, 61, 1);
FIELD(ib_user_path_rec, packet_life_time, 62, 1);
FIELD(ib_user_path_rec, preference, 63, 1);

static_assert(sizeof(rdma_ucm_conn_param) == 272);
FIELD(rdma_ucm_conn_param, qp_num, 0, 4);
FIELD(rdma_ucm_conn_param, qkey, 4, 4);
FIELD(rdma_ucm_conn_param, private_data, 8, 256);
FIELD(rdma_ucm_conn_param, private_data_len, 264, 1);
FIELD(rdma_ucm_conn_param, srq, 265, 1);
FIELD(rdma_ucm_conn_param, responder_resources, 266, 1);
FIELD(rdma_ucm_conn_param, initiator_depth, 267, 1);
FIELD(rdma_ucm_conn_param, flow_control, 268, 1);
FIELD(rdma_ucm_conn_param, retry_count, 269, 1);
FIELD(rdma_ucm_conn_param, rnr_retry_count, 270, 1);
FIELD(rdma_ucm_conn_param, valid, 271, 1);

static_assert(sizeof(rdma_ucm_ud_param) == 304);
FIELD(rdma_ucm_ud_param, qp_num, 0, 4);
FIELD(rdma_ucm_ud_param, qkey, 4, 4);
FIELD(rdma_ucm_ud_param, ah_attr, 8, 32);
FIELD(rdma_ucm_ud_param, private_data, 40, 256);
FIELD(rdma_ucm_ud_param, private_data_len, 296, 1);
FIELD(rdma_ucm_ud_param, reserved, 297, 7);

static_assert(sizeof(rdma_ucm_ece) == 8);
FIELD(rdma_ucm_ece, vendor_id, 0, 4);
FIELD(rdma_ucm_ece, attr_mod, 4, 4);

FIELD(rdma_ucm_connect, conn_param, 0, 272);
FIELD(rdma_ucm_connect, id, 272, 4);
FIELD(rdma_ucm_connect, reserved, 276, 4);
FIELD(rdma_ucm_connect, ece, 280, 8);

FIELD(rdma_ucm_listen, id, 0, 4);
FIELD(rdma_ucm_listen, backlog, 4, 4);

FIELD(rdma_ucm_accept, uid, 0, 8);
FIELD(rdma_ucm_accept, conn_param, 8, 272);
FIELD(rdma_ucm_accept, id, 280, 4);
FIELD(rdma_ucm_accept, reserved, 284, 4);
FIELD(rdma_ucm_accept, ece, 288, 8);

FIELD(rdma_ucm_reject, id, 0, 4);
FIELD(rdma_ucm_reject, private_data_len, 4, 1);
FIELD(rdma_ucm_reject, reason, 5, 1);
FIELD(rdma_ucm_reject, reserved, 6, 2);
FIELD(rdma_ucm_reject, private_data, 8, 256);

FIELD(rdma_ucm_disconnect, id, 0, 4);

FIELD(rdma_ucm_init_qp_attr, response, 0, 8);
FIELD(rdma_ucm_init_qp_attr, id, 8, 4);
FIELD(rdma_ucm_init_qp_attr, qp_state, 12, 4);

FIELD(rdma_ucm_get_event, response, 0, 8);
FIELD(rdma_ucm_event_resp, uid, 0, 8);
FIELD(rdma_ucm_event_resp, id, 8, 4);
FIELD(rdma_ucm_event_resp, event, 12, 4);
FIELD(rdma_ucm_event_resp, status, 16, 4);
FIELD(rdma_ucm_event_resp, param, 20, 304);
FIELD(rdma_ucm_event_resp, reserved, 324, 4);
FIELD(rdma_ucm_event_resp, ece, 328, 8);

FIELD(rdma_ucm_set_option, optval, 0, 8);
FIELD(rdma_ucm_set_option, id, 8, 4);
FIELD(rdma_ucm_set_option, level, 12, 4);
FIELD(rdma_ucm_set_option, optname, 16, 4);
FIELD(rdma_ucm_set_option, optlen, 20, 4);

FIELD(rdma_ucm_notify, id, 0, 4);
FIELD(rdma_ucm_notify, event, 4, 4);

FIELD(rdma_ucm_join_ip_mcast, response, 0, 8);
FIELD(rdma_ucm_join_ip_mcast, uid, 8, 8);
FIELD(rdma_ucm_join_ip_mcast, addr, 16, 28);
FIELD(rdma_ucm_join_ip_mcast, id, 44, 4);

FIELD(rdma_ucm_migrate_id, response, 0, 8);
FIELD(rdma_ucm_migrate_id, id, 8, 4);
FIELD(rdma_ucm_migrate_id, fd, 12, 4);
FIELD(rdma_ucm_migrate_resp, events_reported, 0, 4);

FIELD(rdma_ucm_bind, id, 0, 4);
FIELD(rdma_ucm_bind, addr_size, 4, 2);
FIELD(rdma_ucm_bind, reserved, 6, 2);
FIELD(rdma_ucm_bind, addr, 8, 128);

FIELD(rdma_ucm_resolve_addr, id, 0, 4);
FIELD(rdma_ucm_resolve_addr, timeout_ms, 4, 4);
FIELD(rdma_ucm_resolve_addr, src_size, 8, 2);
FIELD(rdma_ucm_resolve_addr, dst_size, 10, 2);
FIELD(rdma_ucm_resolve_addr, reserved, 12, 4);
FIELD(rdma_ucm_resolve_addr, src_addr, 16, 128);
FIELD(rdma_ucm_resolve_addr, dst_addr, 144, 128);

FIELD(rdma_ucm_join_mcast, response, 0, 8);
FIELD(rdma_ucm_join_mcast, uid, 8, 8);
FIELD(rdma_ucm_join_mcast, id, 16, 4);
FIELD(rdma_ucm_join_mcast, addr_size, 20, 2);
FIELD(rdma_ucm_join_mcast, join_flags, 22, 2);
FIELD(rdma_ucm_join_mcast, addr, 24, 128);

FIELD(later::resolve_ib_service, id, 0, 4);
FIELD(later::resolve_ib_service, service_id, 8, 8);
FIELD(later::resolve_ib_service, service_name, 16, 64);
FIELD(later::resolve_ib_service, flags, 80, 4);
FIELD(later::resolve_ib_service, reserved_1, 84, 4);

FIELD(later::write_cm_event, id, 0, 4);
FIELD(later::write_cm_event, event, 8, 4);
FIELD(later::write_cm_event, status, 12, 4);
FIELD(later::write_cm_event, param, 16, 304);

// The reply to INIT_QP_ATTR, on which lib/attr builds.
static_assert(sizeof(ib_uverbs_global_route) == 24);
FIELD(ib_uverbs_global_route, dgid, 0, 16);
FIELD(ib_uverbs_global_route, flow_label, 16, 4);
FIELD(ib_uverbs_global_route, sgid_index, 20, 1);
FIELD(ib_uverbs_global_route, hop_limit, 21, 1);
FIELD(ib_uverbs_global_route, traffic_class, 22, 1);
FIELD(ib_uverbs_global_route, reserved, 23, 1);

static_assert(sizeof(ib_uverbs_ah_attr) == 32);
FIELD(ib_uverbs_ah_attr, grh, 0, 24);
FIELD(ib_uverbs_ah_attr, dlid, 24, 2);
FIELD(ib_uverbs_ah_attr, sl, 26, 1);
FIELD(ib_uverbs_ah_attr, src_path_bits, 27, 1);
FIELD(ib_uverbs_ah_attr, static_rate, 28, 1);
FIELD(ib_uverbs_ah_attr, is_global, 29, 1);
FIELD(ib_uverbs_ah_attr, port_num, 30, 1);
FIELD(ib_uverbs_ah_attr, reserved, 31, 1);

FIELD(ib_uverbs_qp_attr, qp_attr_mask, 0, 4);
FIELD(ib_uverbs_qp_attr, qp_state, 4, 4);
FIELD(ib_uverbs_qp_attr, cur_qp_state, 8, 4);
FIELD(ib_uverbs_qp_attr, path_mtu, 12, 4);
FIELD(ib_uverbs_qp_attr, path_mig_state, 16, 4);
FIELD(ib_uverbs_qp_attr, qkey, 20, 4);
FIELD(ib_uverbs_qp_attr, rq_psn, 24, 4);
FIELD(ib_uverbs_qp_attr, sq_psn, 28, 4);
FIELD(ib_uverbs_qp_attr, dest_qp_num, 32, 4);
FIELD(ib_uverbs_qp_attr, qp_access_flags, 36, 4);
FIELD(ib_uverbs_qp_attr, ah_attr, 40, 32);
FIELD(ib_uverbs_qp_attr, alt_ah_attr, 72, 32);
FIELD(ib_uverbs_qp_attr, max_send_wr, 104, 4);
FIELD(ib_uverbs_qp_attr, max_recv_wr, 108, 4);
FIELD(ib_uverbs_qp_attr, max_send_sge, 112, 4);
FIELD(ib_uverbs_qp_attr, max_recv_sge, 116, 4);
FIELD(ib_uverbs_qp_attr, max_inline_data, 120, 4);
FIELD(ib_uverbs_qp_attr, pkey_index, 124, 2);
FIELD(ib_uverbs_qp_attr, alt_pkey_index, 126, 2);
FIELD(ib_uverbs_qp_attr, en_sqd_async_notify, 128, 1);
FIELD(ib_uverbs_qp_attr, sq_draining, 129, 1);
FIELD(ib_uverbs_qp_attr, max_rd_atomic, 130, 1);
FIELD(ib_uverbs_qp_attr, max_dest_rd_atomic, 131, 1);
FIELD(ib_uverbs_qp_attr, min_rnr_timer, 132, 1);
FIELD(ib_uverbs_qp_attr, port_num, 133, 1);
FIELD(ib_uverbs_qp_attr, timeout, 134, 1);
FIELD(ib_uverbs_qp_attr, retry_cnt, 135, 1);
FIELD(ib_uverbs_qp_attr, rnr_retry, 136, 1);
FIELD(ib_uverbs_qp_attr, alt_port_num, 137, 1);
FIELD(ib_uverbs_qp_attr, alt_timeout, 138, 1);
FIELD(ib_uverbs_qp_attr, reserved, 139, 5);

// Kernel 7.2 published the two later commands: ours must be the same there.
#ifdef QPATTR_HEADER_HAS_WRITE_CM_EVENT
static_assert(later::write_cm_event_number == RDMA_USER_CM_CMD_WRITE_CM_EVENT);
static_assert(sizeof(later::write_cm_event) == sizeof(rdma_ucm_write_cm_event));
static_assert(offsetof(later::write_cm_event, event) == offsetof(rdma_ucm_write_cm_event, event));
static_assert(offsetof(later::write_cm_event, param) == offsetof(rdma_ucm_write_cm_event, param));
#endif
#ifdef QPATTR_HEADER_HAS_RESOLVE_IB_SERVICE
static_assert(later::resolve_ib_service_number == RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE);
static_assert(later::query_ib_service_option == RDMA_USER_CM_QUERY_IB_SERVICE);
static_assert(sizeof(later::resolve_ib_service) == sizeof(rdma_ucm_resolve_ib_service));
#endif
#undef FIELD

} // namespace qpattr::uapi
