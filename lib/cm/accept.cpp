// SPDX-License-Identifier: MIT
// The passive side: rdma_listen(), rdma_accept().
#include "lib/cm/acks.hpp"
#include "lib/cm/complete.hpp"
#include "lib/cm/connection.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/learn.hpp"
#include "lib/cm/live.hpp"
#include "lib/cm/qp_moves.hpp"

namespace qpattr::cm {
namespace {

// What the kernel takes as private data; more costs the connection (the kernel
// refuses the peer after its state check), so it is not sent.
constexpr std::uint8_t most_private_data = 196;
constexpr std::uint8_t most_datagram_private_data = 136;

result<void> listen(identifier &id, int backlog) noexcept
{
	ucma::frame<uapi::listen> command;
	command.body.id = id.handle;
	command.body.backlog = static_cast<std::uint32_t>(backlog);
	const kept alive{id.acked};
	// Before the command: who reads a request may move or destroy the listener at once.
	const stage before = stage_of(id);
	const bool early = before <= stage::bound && advance(id, before, stage::listening);
	if (const auto told = tell(id, command); !told) {
		if (early)
			advance(id, stage::listening, before);
		return told;
	}
	if (!early)
		set_stage(id, stage::listening);
	// The port was chosen when the id was bound; one that was not is bound now.
	if (id.route.addr.src_addr.sa_family != AF_UNSPEC)
		return {};
	return learn(id);
}

result<void> send_accept(identifier &id, const rdma_conn_param *param,
			 connection_values values) noexcept
{
	ucma::frame<uapi::accept> command;
	command.body.uid = ids.uid_of(&id);
	command.body.id = id.handle;
	// The vendor is the one that the peer asked for.
	command.body.ece = {id.remote_ece.vendor_id, id.local_ece.attr_mod};
	fill(command.body.conn_param, id, param, values);
	return tell(id, command);
}

// With the values of ACCEPT: before it the kernel answers with the peer's offer, which
// may be more than the device has.
result<void> move_qp(identifier &id, connection_values values) noexcept
{
	set_ece(*id.qp, id.remote_ece);
	const auto moved = to_ready(id, *id.qp, values.responder_resources, values.initiator_depth);
	if (moved)
		id.local_ece = ece_of(*id.qp);
	return moved;
}

// All that can be wrong with the call is found before the kernel is told: it answers a second
// ACCEPT, one on the active side, or one that is too long, by refusing the peer.
result<void> accept(identifier &id, const rdma_conn_param *param) noexcept
{
	if (!id.verbs)
		return wrong(EINVAL);
	const bool datagram = is_datagram(id);
	const stage before = stage_of(id);
	if (before != stage::requested) {
		say("rdma_accept: the id %u has no connection request to accept", id.handle);
		return wrong(EINVAL);
	}
	// Whose QP is it then?
	if (!param && !id.qp)
		return wrong(EINVAL);
	const std::uint8_t most = datagram ? most_datagram_private_data : most_private_data;
	if (param && param->private_data && param->private_data_len > most)
		return wrong(EINVAL);
	const auto limited =
		within_limits(id, param, {id.responder_resources, id.initiator_depth});
	if (!limited)
		return limited.why();
	const connection_values values = limited.value();
	const bool waits = id.has(identifier::synchronous);
	if (!advance(id, stage::requested, stage::accepted))
		return wrong(EINVAL); // another thread was first
	if (id.qp && !datagram)
		if (const auto moved = move_qp(id, values); !moved) {
			advance(id, stage::accepted, stage::requested);
			return moved;
		}
	if (const auto sent = send_accept(id, param, values); !sent) {
		advance(id, stage::accepted, stage::ended);
		return sent;
	}
	return complete(id, waits && !datagram);
}

} // namespace
} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_listen(rdma_cm_id *id, int backlog)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(listen(*own(id), backlog));
}

int rdma_accept(rdma_cm_id *id, rdma_conn_param *conn_param)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(accept(*own(id), conn_param));
}
