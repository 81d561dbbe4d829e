// SPDX-License-Identifier: MIT
// Reading and acknowledging events.
#include "lib/cm/event.hpp"

#include <atomic>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

#include "lib/cm/acks.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/uncancelled.hpp"
#include "lib/cm/groups.hpp"
#include "lib/cm/lifetime.hpp"
#include "lib/cm/live.hpp"

namespace qpattr::cm {
namespace {

// Events that a thread had taken from the kernel when it was cancelled: libc may
// act on a cancellation when the system call is already done. They are for the
// channel's next reader.
constinit std::atomic<unsigned> left_count{0};
pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER; // taken where there are some only
event_record *left_events = nullptr;

void leave(void *record) noexcept
{
	auto *left = static_cast<event_record *>(record);
	if (!left->reply.uid) {
		events.give(left); // the kernel has written nothing
		return;
	}
	pthread_mutex_lock(&left_lock);
	event_record **end = &left_events;
	while (*end)
		end = &(*end)->next;
	*end = left;
	left_count.fetch_add(1, std::memory_order_relaxed);
	pthread_mutex_unlock(&left_lock);
}

// The first that `is_wanted`, out of the list.
template <class Wanted> event_record *take_left(Wanted is_wanted) noexcept
{
	if (!left_count.load(std::memory_order_relaxed))
		return nullptr;
	const uncancelled held;
	event_record *found = nullptr;
	pthread_mutex_lock(&left_lock);
	for (event_record **at = &left_events; *at; at = &(*at)->next)
		if (is_wanted(**at)) {
			found = *at;
			*at = found->next;
			left_count.fetch_sub(1, std::memory_order_relaxed);
			break;
		}
	pthread_mutex_unlock(&left_lock);
	return found;
}

event_record *take_left(int fd) noexcept
{
	return take_left([fd](const event_record &left) { return left.fd == fd; });
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

ibv_ah_attr address_of(const ib_uverbs_ah_attr &from) noexcept
{
	ibv_ah_attr to{};
	std::memcpy(&to.grh.dgid, from.grh.dgid, sizeof to.grh.dgid);
	to.grh.flow_label = from.grh.flow_label;
	to.grh.sgid_index = from.grh.sgid_index;
	to.grh.hop_limit = from.grh.hop_limit;
	to.grh.traffic_class = from.grh.traffic_class;
	to.dlid = from.dlid;
	to.sl = from.sl;
	to.src_path_bits = from.src_path_bits;
	to.static_rate = from.static_rate;
	to.is_global = from.is_global;
	to.port_num = from.port_num;
	return to;
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
	ud.ah_attr = address_of(from.ah_attr);
	ud.qp_num = from.qp_num;
	ud.qkey = from.qkey;
}

// Finds whose event it is. False: nobody's that lives.
bool take_owner(event_record &happened) noexcept
{
	const auto &reply = happened.reply;
	const auto number = static_cast<rdma_cm_event_type>(reply.event);
	happened.event = number;
	happened.status = static_cast<int>(reply.status);
	if (number == RDMA_CM_EVENT_MULTICAST_JOIN || number == RDMA_CM_EVENT_MULTICAST_ERROR) {
		auto *joined = groups.find(reply.uid);
		if (!joined)
			return false;
		happened.counted_too = joined;
		happened.counted = joined->member;
	} else {
		happened.counted = ids.find(reply.uid);
	}
	happened.id = happened.counted;
	return happened.id;
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

} // namespace

namespace {

void forget(event_record &left) noexcept
{
	if (left.reply.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		(void)destroy_in_kernel(left.fd, left.reply.id);
	if (take_owner(left))
		rdma_ack_cm_event(&left);
	else
		events.give(&left);
}

bool is_of(const identifier &id, const event_record &left) noexcept
{
	event_record copy = left;
	return take_owner(copy) && copy.counted == &id;
}

} // namespace

void forget_left_events(int fd) noexcept
{
	while (event_record *left = take_left(fd))
		forget(*left);
}

void forget_left_events(const identifier &id) noexcept
{
	while (event_record *left =
		       take_left([&id](const event_record &one) { return is_of(id, one); }))
		forget(*left);
}

void forget_left_events(const group &of) noexcept
{
	while (event_record *left = take_left(
		       [&of](const event_record &one) { return groups.find(one.reply.uid) == &of; }))
		forget(*left);
}

std::uint32_t move_left_events(const identifier &id, int fd) noexcept
{
	if (!left_count.load(std::memory_order_relaxed))
		return 0;
	const uncancelled held;
	std::uint32_t moved = 0;
	pthread_mutex_lock(&left_lock);
	for (event_record *one = left_events; one; one = one->next)
		if (is_of(id, *one)) {
			one->fd = fd;
			++moved;
		}
	pthread_mutex_unlock(&left_lock);
	return moved;
}

namespace {

// The next event that the program is to see.
result<event_record *> next_event(rdma_event_channel &channel) noexcept
{
	for (;;) {
		event_record *happened = take_left(channel.fd);
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
} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_get_cm_event(rdma_event_channel *channel, rdma_cm_event **event)
{
	if (!channel || !event)
		return refuse(EINVAL);
	const int saved = errno;
	const auto next = next_event(*channel);
	if (!next)
		return refuse(next.why().code);
	errno = saved;
	*event = next.value();
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
