// SPDX-License-Identifier: MIT
// The active side: rdma_connect(), rdma_establish(), rdma_init_qp_attr().
#include <cstring>

#include "lib/cm/complete.hpp"
#include "lib/cm/connection.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/extras.hpp"
#include "lib/query.hpp"

namespace qpattr::cm {
namespace {

// What rdma_create_ep() was given goes before what rdma_connect() is given.
result<void> prepend(rdma_ucm_conn_param &to, const extras &more) noexcept
{
	const std::size_t whole = std::size_t{more.connect_len} + to.private_data_len;
	if (whole > 0xff)
		return wrong(EINVAL);
	std::memmove(to.private_data + more.connect_len, to.private_data, to.private_data_len);
	std::memcpy(to.private_data, more.connect_data, more.connect_len);
	to.private_data_len = static_cast<std::uint8_t>(whole);
	return {};
}

result<void> connect(identifier &id, const rdma_conn_param *param) noexcept
{
	if (!id.verbs)
		return wrong(EINVAL);
	// Whose QP is it then? Stock asks so of TCP's port space only.
	if (id.ps == RDMA_PS_TCP && !is_datagram(id) && !param && !id.qp)
		return wrong(EINVAL);
	const auto values = within_limits(id, param, {0xff, 0xff});
	if (!values)
		return values.why();
	ucma::frame<uapi::connect> command;
	command.body.id = id.handle;
	command.body.ece = id.local_ece;
	fill(command.body.conn_param, id, param, values.value());
	if (const extras *more = extras_of(id); more && more->connect_len)
		if (const auto put = prepend(command.body.conn_param, *more); !put)
			return put;
	// Before the command: the answer may be read by another thread at once. Events
	// of the way here may be unread: the stage is then behind the kernel.
	const bool waits = id.has(identifier::synchronous);
	const stage before = stage_of(id);
	const bool legal = before <= stage::route_resolved;
	if (legal)
		advance(id, before, stage::connecting);
	if (const auto told = tell(id, command); !told) {
		if (legal)
			advance(id, stage::connecting, before);
		return told;
	}
	return complete(id, waits);
}

// Sent only where the kernel can take it: otherwise it would refuse the peer, and
// the connection with it.
result<void> establish(identifier &id) noexcept
{
	// The library's own QP is established by the library.
	if (id.qp)
		return wrong(EINVAL);
	const stage before = stage_of(id);
	const stage from = is_datagram(id) ? stage::requested : stage::responded;
	const bool connecting = before >= stage::connecting && before <= stage::ended;
	if (connecting && (before != from || !advance(id, from, stage::established)))
		return wrong(EINVAL);
	const auto sent = send_establish(id);
	if (!sent && connecting)
		set_stage(id, stage::ended);
	return sent;
}

} // namespace
} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_connect(rdma_cm_id *id, rdma_conn_param *conn_param)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(connect(*own(id), conn_param));
}

int rdma_establish(rdma_cm_id *id)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(establish(*own(id)));
}

int rdma_init_qp_attr(rdma_cm_id *id, ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	if (!usable(id) || !qp_attr || !qp_attr_mask)
		return refuse(EINVAL);
	const auto asked = qpattr::query(id->channel->fd, own(id)->handle,
					 qpattr::state_asked(*qp_attr), *qp_attr, *qp_attr_mask);
	if (!asked) [[unlikely]]
		return refuse(explained(asked.why(), qpattr::uapi::init_qp_attr::name).code);
	return 0;
}
