// SPDX-License-Identifier: MIT
// Reading and acknowledging events.
#include "lib/cm/event.hpp"

#include <cstring>
#include <pthread.h>
#include <unistd.h>

#include "lib/attr/translate.hpp"
#include "lib/cm/acks.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/groups.hpp"
#include "lib/cm/left_events.hpp"
#include "lib/cm/live.hpp"
#include "lib/cm/uncancelled.hpp"

namespace qpattr::cm {
namespace {

void leave(void *in_hand) noexcept
{
	leave_event(static_cast<event_record *>(in_hand));
}

// The one call of ours that sleeps, and the one that is a cancellation point.
result<void> wait_for_event(int fd, event_record &into) noexcept
{
	const ucma::frame<uapi::get_event> command{&into.reply};
	long written = -1;
	int code = 0;
	pthread_cleanup_push(leave, &into);
	written = ::write(fd, &command, sizeof command);
	code = errno;
	pthread_cleanup_pop(0);
	if (written < 0)
		written = -code;
	if (const int why = ucma::write_error(written, sizeof command))
		return explained({why, QPATTR_STAGE_COMMAND}, uapi::get_event::name);
	return {};
}

void take_param(event_record &to, const rdma_ucm_conn_param &from) noexcept
{
	rdma_conn_param &conn = to.param.conn;
	if (from.private_data_len) {
		conn.private_data = from.private_data;
		conn.private_data_len = from.private_data_len;
	}
	conn.responder_resources = from.responder_resources;
	conn.initiator_depth = from.initiator_depth;
	conn.flow_control = from.flow_control;
	conn.retry_count = from.retry_count;
	conn.rnr_retry_count = from.rnr_retry_count;
	conn.srq = from.srq;
	conn.qp_num = from.qp_num;
}

void take_param(event_record &to, const rdma_ucm_ud_param &from) noexcept
{
	rdma_ud_param &ud = to.param.ud;
	if (from.private_data_len) {
		ud.private_data = from.private_data;
		ud.private_data_len = from.private_data_len;
	}
	ud.ah_attr = attr::address(from.ah_attr);
	ud.qp_num = from.qp_num;
	ud.qkey = from.qkey;
}

// False: it is nobody's that lives.
bool take_owner(event_record &happened) noexcept
{
	const owner whose = owner_of(happened.reply);
	happened.event = static_cast<rdma_cm_event_type>(happened.reply.event);
	happened.status = static_cast<int>(happened.reply.status);
	happened.counted = whose.id;
	happened.counted_too = whose.joined;
	happened.id = whose.id;
	return whose.id;
}

// 0 to 255 bytes at most are in a parameter's array of 256; a kernel that says
// otherwise cannot be: the length has 8 bits. The kind decides which of the two
// parameters the kernel wrote.
void take_parameters(event_record &happened) noexcept
{
	// What a program wrote (kernel 7.2): 8 bytes, unaligned, in the parameters' place.
	if (happened.event == RDMA_CM_EVENT_USER || happened.event == RDMA_CM_EVENT_INTERNAL)
		std::memcpy(&happened.param.arg, &happened.reply.param, sizeof happened.param.arg);
	else if (is_datagram(*happened.counted))
		take_param(happened, happened.reply.param.ud);
	else
		take_param(happened, happened.reply.param.conn);
}
static_assert(sizeof(rdma_ucm_conn_param::private_data) > 0xff);
static_assert(sizeof(rdma_ucm_ud_param::private_data) > 0xff);

// The next event that the program is to see.
result<event_record *> next_event(rdma_event_channel &channel) noexcept
{
	for (;;) {
		event_record *happened = take_left_event(channel.fd);
		result<void> read{};
		if (!happened) {
			happened = events.take();
			if (!happened)
				return failure{ENOMEM, QPATTR_STAGE_COMMAND};
			happened->fd = channel.fd;
			read = wait_for_event(channel.fd, *happened);
		}
		// No id of ours has uid 0: what answered is not the device.
		if (read && !happened->reply.uid)
			read = failure{EPROTO, QPATTR_STAGE_COMMAND};
		if (!read) {
			events.give(happened);
			return read.why();
		}
		// Nobody else would ever acknowledge it.
		const uncancelled held;
		if (!take_owner(*happened)) {
			events.give(happened);
			continue;
		}
		take_parameters(*happened);
		if (take_effect(*happened))
			return happened;
		rdma_ack_cm_event(happened);
	}
}

} // namespace

owner owner_of(const uapi::get_event::reply &reply) noexcept
{
	if (reply.event == RDMA_CM_EVENT_MULTICAST_JOIN ||
	    reply.event == RDMA_CM_EVENT_MULTICAST_ERROR) {
		group *joined = groups.find(reply.uid);
		return {joined ? joined->member : nullptr, joined};
	}
	return {ids.find(reply.uid), nullptr};
}

} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_get_cm_event(rdma_event_channel *channel, rdma_cm_event **event)
{
	if (!channel || !event)
		return refuse(EINVAL);
	const call made;
	const auto next = next_event(*channel);
	if (!next)
		return refuse(next.why().code);
	*event = next.value();
	made.succeeded();
	return 0;
}

int rdma_ack_cm_event(rdma_cm_event *public_event)
{
	// NULL, acknowledged before, or not from rdma_get_cm_event().
	if (!events.holds(public_event))
		return refuse(EINVAL);
	auto *done = static_cast<event_record *>(public_event);
	identifier *counted = done->counted;
	group *counted_too = done->counted_too;
	events.give(done);
	// The group first: its id's destroyer frees both.
	if (counted_too)
		acknowledge(counted_too->acked);
	if (counted)
		acknowledge(counted->acked);
	return 0;
}
