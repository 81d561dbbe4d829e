// SPDX-License-Identifier: MIT
// The rdma_cm commands of the Linux kernel as types: one struct a command, with
// its number, what is written (request) and what the kernel answers (reply).
//
// Everything else takes the kernel's structs from here. Only kernel_header.hpp
// includes <rdma/rdma_user_cm.h>, whose enumerators <rdma/rdma_cma.h> defines
// too.
//
// layout.cpp asserts every size and offset. Source: <rdma/rdma_user_cm.h> from
// kernel 5.10 on; for commands 23 and 24, which came later, later.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <rdma/ib_user_verbs.h>
#include "uapi/kernel_header.hpp"

#include "uapi/later.hpp"

namespace qpattr::uapi {

// The reply of a command that has none.
struct no_reply {};

inline constexpr std::uint32_t abi_version = RDMA_USER_CM_ABI_VERSION;

template <class C>
concept command = requires {
	{ C::number } -> std::convertible_to<std::uint32_t>;
	{ C::name } -> std::convertible_to<const char *>;
	typename C::request;
	typename C::reply;
};

struct create_id {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_CREATE_ID;
	static constexpr const char *name = "CREATE_ID";
	using request = rdma_ucm_create_id;
	using reply = rdma_ucm_create_id_resp;
};

struct destroy_id {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_DESTROY_ID;
	static constexpr const char *name = "DESTROY_ID";
	using request = rdma_ucm_destroy_id;
	using reply = rdma_ucm_destroy_id_resp;
};

struct bind_ip {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_BIND_IP;
	static constexpr const char *name = "BIND_IP";
	using request = rdma_ucm_bind_ip;
	using reply = no_reply;
};

struct resolve_ip {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_RESOLVE_IP;
	static constexpr const char *name = "RESOLVE_IP";
	using request = rdma_ucm_resolve_ip;
	using reply = no_reply;
};

struct resolve_route {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_RESOLVE_ROUTE;
	static constexpr const char *name = "RESOLVE_ROUTE";
	using request = rdma_ucm_resolve_route;
	using reply = no_reply;
};

struct query_route {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_QUERY_ROUTE;
	static constexpr const char *name = "QUERY_ROUTE";
	using request = rdma_ucm_query;
	using reply = rdma_ucm_query_route_resp;
};

struct connect {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_CONNECT;
	static constexpr const char *name = "CONNECT";
	using request = rdma_ucm_connect;
	using reply = no_reply;
};

struct listen {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_LISTEN;
	static constexpr const char *name = "LISTEN";
	using request = rdma_ucm_listen;
	using reply = no_reply;
};

struct accept {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_ACCEPT;
	static constexpr const char *name = "ACCEPT";
	using request = rdma_ucm_accept;
	using reply = no_reply;
};

struct reject {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_REJECT;
	static constexpr const char *name = "REJECT";
	using request = rdma_ucm_reject;
	using reply = no_reply;
};

struct disconnect {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_DISCONNECT;
	static constexpr const char *name = "DISCONNECT";
	using request = rdma_ucm_disconnect;
	using reply = no_reply;
};

struct init_qp_attr {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_INIT_QP_ATTR;
	static constexpr const char *name = "INIT_QP_ATTR";
	using request = rdma_ucm_init_qp_attr;
	using reply = ib_uverbs_qp_attr;
};

struct get_event {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_GET_EVENT;
	static constexpr const char *name = "GET_EVENT";
	using request = rdma_ucm_get_event;
	using reply = rdma_ucm_event_resp;
};

// Number 13, GET_OPTION, has no structure: every kernel answers ENOSYS.
inline constexpr std::uint32_t get_option_number = RDMA_USER_CM_CMD_GET_OPTION;

struct set_option {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_SET_OPTION;
	static constexpr const char *name = "SET_OPTION";
	using request = rdma_ucm_set_option;
	using reply = no_reply;
};

struct notify {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_NOTIFY;
	static constexpr const char *name = "NOTIFY";
	using request = rdma_ucm_notify;
	using reply = no_reply;
};

struct join_ip_mcast {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_JOIN_IP_MCAST;
	static constexpr const char *name = "JOIN_IP_MCAST";
	using request = rdma_ucm_join_ip_mcast;
	using reply = rdma_ucm_create_id_resp;
};

struct leave_mcast {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_LEAVE_MCAST;
	static constexpr const char *name = "LEAVE_MCAST";
	using request = rdma_ucm_destroy_id;
	using reply = rdma_ucm_destroy_id_resp;
};

struct migrate_id {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_MIGRATE_ID;
	static constexpr const char *name = "MIGRATE_ID";
	using request = rdma_ucm_migrate_id;
	using reply = rdma_ucm_migrate_resp;
};

// QUERY is one number with an option that chooses the reply.
struct query_addr {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_QUERY;
	static constexpr std::uint32_t option = RDMA_USER_CM_QUERY_ADDR;
	static constexpr const char *name = "QUERY(ADDR)";
	using request = rdma_ucm_query;
	using reply = rdma_ucm_query_addr_resp;
};

struct query_gid {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_QUERY;
	static constexpr std::uint32_t option = RDMA_USER_CM_QUERY_GID;
	static constexpr const char *name = "QUERY(GID)";
	using request = rdma_ucm_query;
	using reply = rdma_ucm_query_addr_resp;
};

// The fixed head of the reply; path records of 72 bytes follow it.
struct query_path {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_QUERY;
	static constexpr std::uint32_t option = RDMA_USER_CM_QUERY_PATH;
	static constexpr const char *name = "QUERY(PATH)";
	using request = rdma_ucm_query;
	using reply = rdma_ucm_query_path_resp;
};

struct bind {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_BIND;
	static constexpr const char *name = "BIND";
	using request = rdma_ucm_bind;
	using reply = no_reply;
};

struct resolve_addr {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_RESOLVE_ADDR;
	static constexpr const char *name = "RESOLVE_ADDR";
	using request = rdma_ucm_resolve_addr;
	using reply = no_reply;
};

struct join_mcast {
	static constexpr std::uint32_t number = RDMA_USER_CM_CMD_JOIN_MCAST;
	static constexpr const char *name = "JOIN_MCAST";
	using request = rdma_ucm_join_mcast;
	using reply = rdma_ucm_create_id_resp;
};

// Kernels before 7.2 answer EINVAL to the next two.
struct resolve_ib_service {
	static constexpr std::uint32_t number = later::resolve_ib_service_number;
	static constexpr const char *name = "RESOLVE_IB_SERVICE";
	using request = later::resolve_ib_service;
	using reply = no_reply;
};

struct write_cm_event {
	static constexpr std::uint32_t number = later::write_cm_event_number;
	static constexpr const char *name = "WRITE_CM_EVENT";
	using request = later::write_cm_event;
	using reply = no_reply;
};

} // namespace qpattr::uapi
