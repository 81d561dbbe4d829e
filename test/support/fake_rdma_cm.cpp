// SPDX-License-Identifier: MIT
#include "test/support/fake_rdma_cm.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>

using qpattr::test::fake_rdma_cm;

namespace qpattr::test {

fake_rdma_cm &fake_rdma_cm::get()
{
	static fake_rdma_cm one;
	return one;
}

void fake_rdma_cm::reset()
{
	*this = fake_rdma_cm{};
}

std::size_t fake_rdma_cm::count(const std::string &function) const
{
	return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), function));
}

bool fake_rdma_cm::fails(const char *function)
{
	calls.emplace_back(function);
	const auto found = failing.find(function);
	if (found == failing.end())
		return false;
	errno = found->second;
	failing.erase(found);
	return true;
}

rdma_cm_id *fake_rdma_cm::make_id(rdma_event_channel *on, void *context, rdma_port_space space)
{
	auto *const made = new rdma_cm_id{};
	made->channel = on;
	made->context = context;
	made->ps = space;
	made->qp_type = space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	ids.insert(made);
	return made;
}

rdma_cm_event *fake_rdma_cm::put(rdma_event_channel *on, rdma_cm_event_type type, rdma_cm_id *id,
				 int status)
{
	auto *const made = new rdma_cm_event{};
	made->event = type;
	made->status = status;
	made->id = id;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		made->listen_id = id;
		made->id = make_id(on, id->context, id->ps);
	}
	queues[on].push_back(made);
	const std::uint64_t one = 1;
	if (::write(on->fd, &one, sizeof one) != sizeof one)
		complain("the fake's own descriptor");
	return made;
}

} // namespace qpattr::test

namespace {

fake_rdma_cm &fake = fake_rdma_cm::get();

// -1 where it shall fail, or where the id is none.
int simple(const char *function, const rdma_cm_id *id)
{
	if (fake.fails(function))
		return -1;
	if (!fake.ids.contains(const_cast<rdma_cm_id *>(id)))
		fake.complain("a call on an id that is none");
	return 0;
}

const rdma_cm_id *counted_on(const rdma_cm_event *event)
{
	return event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->listen_id : event->id;
}

// What the real one would wait for.
void would_wait(const rdma_cm_id *id, const char *what)
{
	if (std::any_of(fake.held.begin(), fake.held.end(),
			[&](const rdma_cm_event *each) { return counted_on(each) == id; }))
		fake.complain(what);
}

void remember(const rdma_conn_param *given)
{
	fake.last.conn_is_null = !given;
	if (!given)
		return;
	fake.last.conn = *given;
	fake.last.private_data.assign(given->private_data_len ? static_cast<const char *>(given->private_data) : "",
				      given->private_data_len);
}

} // namespace

rdma_event_channel *rdma_create_event_channel()
{
	if (fake.fails("rdma_create_event_channel"))
		return nullptr;
	auto *const made = new rdma_event_channel{::eventfd(0, EFD_SEMAPHORE)};
	fake.channels.insert(made);
	fake.queues[made];
	return made;
}

void rdma_destroy_event_channel(rdma_event_channel *channel)
{
	fake.fails("rdma_destroy_event_channel");
	if (!fake.channels.erase(channel))
		return fake.complain("a channel destroyed twice");
	if (std::any_of(fake.ids.begin(), fake.ids.end(), [&](auto *id) { return id->channel == channel; }))
		fake.complain("a channel destroyed before its ids");
	fake.queues.erase(channel);
	::close(channel->fd);
	delete channel;
}

int rdma_create_id(rdma_event_channel *channel, rdma_cm_id **id, void *context, rdma_port_space space)
{
	fake.last.channel = channel;
	fake.last.space = space;
	if (fake.fails("rdma_create_id"))
		return -1;
	*id = fake.make_id(channel, context, space);
	return 0;
}

int rdma_destroy_id(rdma_cm_id *id)
{
	const bool fails = fake.fails("rdma_destroy_id");
	if (!fake.ids.erase(id)) {
		fake.complain("an id destroyed twice");
		return -1;
	}
	would_wait(id, "an id destroyed with a live event");
	if (id->qp)
		fake.complain("an id destroyed with a QP");
	delete id;
	return fails ? -1 : 0;
}

int rdma_get_cm_event(rdma_event_channel *channel, rdma_cm_event **event)
{
	if (fake.fails("rdma_get_cm_event"))
		return -1;
	std::uint64_t one;
	if (::read(channel->fd, &one, sizeof one) != sizeof one)
		return -1;
	*event = fake.queues[channel].front();
	fake.queues[channel].pop_front();
	fake.held.insert(*event);
	return 0;
}

int rdma_ack_cm_event(rdma_cm_event *event)
{
	fake.fails("rdma_ack_cm_event");
	if (!fake.held.erase(event)) {
		fake.complain("an event acknowledged twice");
		return -1;
	}
	delete event;
	return 0;
}

int rdma_bind_addr(rdma_cm_id *id, sockaddr *address)
{
	fake.last.source = address;
	return simple("rdma_bind_addr", id);
}

int rdma_resolve_addr(rdma_cm_id *id, sockaddr *source, sockaddr *destination, int timeout_ms)
{
	fake.last.source = source;
	fake.last.destination = destination;
	fake.last.timeout_ms = timeout_ms;
	return simple("rdma_resolve_addr", id);
}

int rdma_resolve_route(rdma_cm_id *id, int timeout_ms)
{
	fake.last.timeout_ms = timeout_ms;
	return simple("rdma_resolve_route", id);
}

int rdma_create_qp(rdma_cm_id *id, ibv_pd *pd, ibv_qp_init_attr *)
{
	static ibv_qp qp;
	if (simple("rdma_create_qp", id))
		return -1;
	id->qp = &qp;
	id->pd = pd;
	return 0;
}

int rdma_create_qp_ex(rdma_cm_id *id, ibv_qp_init_attr_ex *)
{
	static ibv_qp qp;
	id->qp = &qp;
	return simple("rdma_create_qp_ex", id);
}

void rdma_destroy_qp(rdma_cm_id *id)
{
	fake.fails("rdma_destroy_qp");
	if (!id->qp)
		fake.complain("a QP destroyed twice");
	id->qp = nullptr;
}

int rdma_connect(rdma_cm_id *id, rdma_conn_param *param)
{
	remember(param);
	return simple("rdma_connect", id);
}

int rdma_accept(rdma_cm_id *id, rdma_conn_param *param)
{
	remember(param);
	return simple("rdma_accept", id);
}

int rdma_reject(rdma_cm_id *id, const void *data, std::uint8_t len)
{
	fake.last.private_data.assign(len ? static_cast<const char *>(data) : "", len);
	return simple("rdma_reject", id);
}

int rdma_reject_ece(rdma_cm_id *id, const void *data, std::uint8_t len)
{
	fake.last.private_data.assign(len ? static_cast<const char *>(data) : "", len);
	return simple("rdma_reject_ece", id);
}

int rdma_listen(rdma_cm_id *id, int backlog)
{
	fake.last.backlog = backlog;
	return simple("rdma_listen", id);
}

int rdma_get_request(rdma_cm_id *listener, rdma_cm_id **id)
{
	if (simple("rdma_get_request", listener))
		return -1;
	*id = fake.make_id(nullptr, nullptr, listener->ps);
	return 0;
}

int rdma_establish(rdma_cm_id *id) { return simple("rdma_establish", id); }
int rdma_disconnect(rdma_cm_id *id) { return simple("rdma_disconnect", id); }

int rdma_notify(rdma_cm_id *id, ibv_event_type event)
{
	fake.last.notified = event;
	return simple("rdma_notify", id);
}

int rdma_set_option(rdma_cm_id *id, int level, int option, void *value, std::size_t len)
{
	fake.last.level = level;
	fake.last.option = option;
	fake.last.option_value.assign(static_cast<const char *>(value), len);
	return simple("rdma_set_option", id);
}

int rdma_set_local_ece(rdma_cm_id *id, ibv_ece *ece)
{
	fake.last.ece = *ece;
	return simple("rdma_set_local_ece", id);
}

int rdma_get_remote_ece(rdma_cm_id *id, ibv_ece *ece)
{
	ece->vendor_id = 0x15b3;
	return simple("rdma_get_remote_ece", id);
}

int rdma_migrate_id(rdma_cm_id *id, rdma_event_channel *channel)
{
	would_wait(id, "an id migrated with a live event");
	id->channel = channel;
	return simple("rdma_migrate_id", id);
}

int rdma_join_multicast_ex(rdma_cm_id *id, rdma_cm_join_mc_attr_ex *attr, void *context)
{
	fake.last.join = *attr;
	fake.last.context = context;
	return simple("rdma_join_multicast_ex", id);
}

int rdma_leave_multicast(rdma_cm_id *id, sockaddr *address)
{
	would_wait(id, "a group left with a live event");
	fake.last.destination = address;
	return simple("rdma_leave_multicast", id);
}

int rdma_init_qp_attr(rdma_cm_id *id, ibv_qp_attr *attr, int *mask)
{
	if (simple("rdma_init_qp_attr", id))
		return -1;
	fake.last.state = attr->qp_state;
	*attr = fake.attr;
	attr->qp_state = fake.last.state; // which stock leaves alone
	*mask = fake.mask;
	return 0;
}

// Verbs', which answer with the errno; of some providers with -1 and errno, or -1 alone.
int ibv_modify_qp(ibv_qp *, ibv_qp_attr *attr, int mask)
{
	fake.last.modified = *attr;
	fake.last.modified_mask = mask;
	if (!fake.fails("ibv_modify_qp"))
		return 0;
	if (errno > 0)
		return errno;
	errno = -errno;
	return -1;
}

std::uint16_t rdma_get_src_port(rdma_cm_id *id)
{
	return reinterpret_cast<const sockaddr_in *>(rdma_get_local_addr(id))->sin_port;
}

std::uint16_t rdma_get_dst_port(rdma_cm_id *id)
{
	return reinterpret_cast<const sockaddr_in *>(rdma_get_peer_addr(id))->sin_port;
}

const char *rdma_event_str(rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_REJECTED ? "RDMA_CM_EVENT_REJECTED" : "RDMA_CM_EVENT_OTHER";
}
