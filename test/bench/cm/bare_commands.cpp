// SPDX-License-Identifier: MIT
#include "test/bench/cm/bare_commands.h"

#include <cstring>

#include "lib/attr/translate.hpp"
#include "lib/ucma/command.hpp"

namespace {

using namespace qpattr;

template <class C> int run(int fd, const ucma::frame<C> &command)
{
	const ssize_t written = write(fd, &command, sizeof command);
	return written == static_cast<ssize_t>(sizeof command) ? 0 : -1;
}

// A query whose reply nobody reads.
template <class C> int query(int fd, std::uint32_t id, std::uint32_t option, typename C::reply &reply)
{
	ucma::frame<C> command{&reply};
	command.body.id = id;
	command.body.option = option;
	return run(fd, command);
}

void fill(rdma_ucm_conn_param &to, const bare_param &from)
{
	to.qp_num = from.qp_num;
	to.private_data_len = from.private_data_len;
	if (from.private_data_len)
		std::memcpy(to.private_data, from.private_data, from.private_data_len);
	to.responder_resources = from.responder_resources;
	to.initiator_depth = from.initiator_depth;
	to.retry_count = from.retry_count;
	to.valid = 1;
}

} // namespace

int bare_create_id(int fd, std::uint64_t uid, std::uint16_t port_space, std::uint32_t *id)
{
	rdma_ucm_create_id_resp reply{};
	ucma::frame<uapi::create_id> command{&reply};
	command.body.uid = uid;
	command.body.ps = port_space;
	const int result = run(fd, command);
	*id = reply.id;
	return result;
}

int bare_destroy_id(int fd, std::uint32_t id)
{
	rdma_ucm_destroy_id_resp reply;
	ucma::frame<uapi::destroy_id> command{&reply};
	command.body.id = id;
	return run(fd, command);
}

int bare_bind(int fd, std::uint32_t id, const sockaddr_in *address)
{
	ucma::frame<uapi::bind> command;
	command.body.id = id;
	command.body.addr_size = sizeof *address;
	std::memcpy(&command.body.addr, address, sizeof *address);
	return run(fd, command);
}

int bare_listen(int fd, std::uint32_t id, int backlog)
{
	ucma::frame<uapi::listen> command;
	command.body.id = id;
	command.body.backlog = static_cast<std::uint32_t>(backlog);
	return run(fd, command);
}

int bare_resolve_addr(int fd, std::uint32_t id, const sockaddr_in *to, std::uint32_t timeout_ms)
{
	ucma::frame<uapi::resolve_addr> command;
	command.body.id = id;
	command.body.timeout_ms = timeout_ms;
	command.body.dst_size = sizeof *to;
	std::memcpy(&command.body.dst_addr, to, sizeof *to);
	return run(fd, command);
}

int bare_resolve_route(int fd, std::uint32_t id, std::uint32_t timeout_ms)
{
	ucma::frame<uapi::resolve_route> command;
	command.body.id = id;
	command.body.timeout_ms = timeout_ms;
	return run(fd, command);
}

int bare_query_addr(int fd, std::uint32_t id, std::uint16_t *port)
{
	rdma_ucm_query_addr_resp reply{};
	const int result = query<uapi::query_addr>(fd, id, uapi::query_addr::option, reply);
	sockaddr_in own;
	std::memcpy(&own, &reply.src_addr, sizeof own);
	*port = own.sin_port;
	return result;
}

int bare_query_gid(int fd, std::uint32_t id)
{
	rdma_ucm_query_addr_resp reply;
	return query<uapi::query_gid>(fd, id, uapi::query_gid::option, reply);
}

int bare_query_path(int fd, std::uint32_t id)
{
	// Room for the six path records of an id; what stock asks for as well.
	alignas(rdma_ucm_query_path_resp) unsigned char reply[8 + 6 * 72];
	ucma::frame<uapi::query_path> command{reinterpret_cast<rdma_ucm_query_path_resp *>(reply)};
	command.header.out = sizeof reply;
	command.body.id = id;
	command.body.option = uapi::query_path::option;
	return run(fd, command);
}

int bare_query_route(int fd, std::uint32_t id)
{
	rdma_ucm_query_route_resp reply;
	return query<uapi::query_route>(fd, id, 0, reply);
}

int bare_get_event(int fd, bare_event *event)
{
	rdma_ucm_event_resp reply;
	ucma::frame<uapi::get_event> command{&reply};
	if (run(fd, command))
		return -1;
	event->uid = reply.uid;
	event->id = reply.id;
	event->event = reply.event;
	event->status = static_cast<int>(reply.status);
	event->private_data_len = reply.param.conn.private_data_len;
	if (event->private_data_len)
		std::memcpy(event->private_data, reply.param.conn.private_data,
			    event->private_data_len);
	return 0;
}

int bare_connect(int fd, std::uint32_t id, const bare_param *param)
{
	ucma::frame<uapi::connect> command;
	fill(command.body.conn_param, *param);
	command.body.id = id;
	return run(fd, command);
}

int bare_accept(int fd, std::uint32_t id, std::uint64_t uid, const bare_param *param)
{
	ucma::frame<uapi::accept> command;
	if (param)
		fill(command.body.conn_param, *param);
	command.body.id = id;
	command.body.uid = uid;
	return run(fd, command);
}

int bare_disconnect(int fd, std::uint32_t id)
{
	ucma::frame<uapi::disconnect> command;
	command.body.id = id;
	return run(fd, command);
}

int bare_init_qp_attr(int fd, std::uint32_t id, ibv_qp_attr *attr, int *mask)
{
	ib_uverbs_qp_attr reply;
	ucma::frame<uapi::init_qp_attr> command{&reply};
	command.body.id = id;
	command.body.qp_state = attr->qp_state;
	if (run(fd, command))
		return -1;
	attr::translate(reply, *attr);
	*mask = static_cast<int>(reply.qp_attr_mask);
	return 0;
}
