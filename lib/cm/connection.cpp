// SPDX-License-Identifier: MIT
// What both sides of a connection do: parameters, refusing, disconnecting.
#include "lib/cm/connection.hpp"

#include <algorithm>
#include <cstring>

#include "lib/cm/complete.hpp"
#include "lib/cm/device.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/qp_moves.hpp"

namespace qpattr::cm {
namespace {

// Both counts have three bits on the wire; 7 RNR retries are "for ever".
constexpr std::uint8_t most_retries = 7;

constexpr std::uint8_t any_value = 0xff; // RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH

result<std::uint8_t> one_within(const std::uint8_t *given, std::uint8_t otherwise,
				std::uint8_t limit, bool checks) noexcept
{
	if (!given || *given == any_value)
		return std::min(otherwise, limit);
	if (*given > limit && checks)
		return wrong(EINVAL);
	return *given;
}

} // namespace

result<connection_values> within_limits(const identifier &id, const rdma_conn_param *param,
					connection_values otherwise) noexcept
{
	if (is_datagram(id))
		return param ? connection_values{param->responder_resources, param->initiator_depth}
			     : connection_values{};
	const device *dev = device_of(id.verbs);
	if (!dev)
		return wrong(EINVAL);
	// As stock: other port spaces may be given what the device has not.
	const bool checks = id.ps == RDMA_PS_TCP;
	const auto responder = one_within(param ? &param->responder_resources : nullptr,
					  otherwise.responder_resources,
					  dev->max_responder_resources, checks);
	const auto initiator = one_within(param ? &param->initiator_depth : nullptr,
					  otherwise.initiator_depth, dev->max_initiator_depth,
					  checks);
	if (!responder || !initiator)
		return wrong(EINVAL);
	return connection_values{responder.value(), initiator.value()};
}

void fill(rdma_ucm_conn_param &to, const identifier &id, const rdma_conn_param *param,
	  connection_values values) noexcept
{
	to.valid = 1;
	to.responder_resources = values.responder_resources;
	to.initiator_depth = values.initiator_depth;
	to.retry_count = most_retries;
	to.rnr_retry_count = most_retries;
	if (param) {
		// No data, whatever the length says.
		if (param->private_data && param->private_data_len) {
			std::memcpy(to.private_data, param->private_data, param->private_data_len);
			to.private_data_len = param->private_data_len;
		}
		to.flow_control = param->flow_control;
		to.retry_count = param->retry_count;
		to.rnr_retry_count = param->rnr_retry_count;
		to.qp_num = param->qp_num;
		to.srq = param->srq;
	}
	if (id.qp) {
		to.qp_num = id.qp->qp_num;
		to.srq = id.qp->srq != nullptr;
	}
}

result<void> send_establish(const identifier &id) noexcept
{
	ucma::frame<uapi::accept> command;
	command.body.id = id.handle;
	command.body.ece = id.local_ece;
	return tell(id, command);
}

result<void> send_reject(const identifier &id, const void *private_data, std::uint8_t len,
			 reject_reason reason) noexcept
{
	ucma::frame<uapi::reject> command;
	command.body.id = id.handle;
	command.body.reason = static_cast<std::uint8_t>(reason);
	// No data, whatever the length says.
	if (private_data && len) {
		std::memcpy(command.body.private_data, private_data, len);
		command.body.private_data_len = len;
	}
	return tell(id, command);
}

namespace {

// Refusing is for a request, and for an answer. Between ACCEPT or CONNECT and
// the peer's word the kernel takes it and then lets DESTROY_ID wait, unkillably, for
// a minute or more; that is not sent.
result<void> reject(identifier &id, const void *private_data, std::uint8_t len,
		    reject_reason reason) noexcept
{
	const stage before = stage_of(id);
	if (!is_datagram(id) && (before == stage::connecting || before == stage::accepted)) {
		say("rdma_reject: the id %u waits for its peer; destroy it instead", id.handle);
		return wrong(EINVAL);
	}
	const bool answers = before == stage::requested || before == stage::responded;
	if (answers && !advance(id, before, stage::ended))
		return wrong(EINVAL); // another thread was first
	const auto sent = send_reject(id, private_data, len, reason);
	if (!sent && answers)
		advance(id, stage::ended, before); // too much private data: may be tried again
	return sent;
}

// A synchronous id waits for the event; where none can come it would for ever.
result<void> disconnect(identifier &id) noexcept
{
	const stage before = stage_of(id);
	const bool waits = id.has(identifier::synchronous);
	const bool datagram = is_datagram(id);
	if (waits && !datagram && before != stage::established &&
	    before != stage::accepted && before != stage::disconnected)
		return wrong(EINVAL);
	if (id.qp)
		if (const auto moved = to_error(*id.qp); !moved)
			return moved;
	ucma::frame<uapi::disconnect> command;
	command.body.id = id.handle;
	if (const auto told = tell(id, command); !told)
		return told;
	return complete(id, waits && !datagram && before != stage::disconnected);
}

// Path migrated: there is nothing to migrate without an alternate path, and the
// kernel then destroys what it knows of the path (5.10 also itself). Not sent.
result<void> notify(identifier &id, std::uint32_t what) noexcept
{
	if (what == IBV_EVENT_PATH_MIG && id.route.num_paths < 2) {
		say("rdma_notify: the id %u has no alternate path that could have migrated",
		    id.handle);
		return wrong(EINVAL);
	}
	ucma::frame<uapi::notify> command;
	command.body.id = id.handle;
	command.body.event = what;
	return tell(id, command);
}

} // namespace
} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_reject(rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(reject(*own(id), private_data, private_data_len, reject_reason::consumer));
}

int rdma_reject_ece(rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(
		reject(*own(id), private_data, private_data_len, reject_reason::vendor_option));
}

int rdma_disconnect(rdma_cm_id *id)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(disconnect(*own(id)));
}

int rdma_notify(rdma_cm_id *id, enum ibv_event_type event)
{
	const call made;
	if (!usable(id))
		return refuse(EINVAL);
	return made.finish(notify(*own(id), static_cast<std::uint32_t>(event)));
}
