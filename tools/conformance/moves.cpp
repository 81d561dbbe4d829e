// SPDX-License-Identifier: MIT
// Ids that are synchronous, that move between channels, that lose their device.
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <poll.h>
#include <thread>

#include "tools/conformance/party.hpp"

namespace conformance {
namespace {

using enum side;
using enum standing;

// Does its work beside the caller; what it threw comes out of finish().
class beside {
public:
	template <class Work> explicit beside(Work work)
		: thread_{[this, work] {
			  try {
				  work();
			  } catch (...) {
				  thrown_ = std::current_exception();
			  }
		  }}
	{
	}
	~beside()
	{
		if (thread_.joinable())
			thread_.join();
	}
	beside(const beside &) = delete;
	beside &operator=(const beside &) = delete;
	void finish()
	{
		thread_.join();
		if (thrown_)
			std::rethrow_exception(thrown_);
	}

private:
	std::exception_ptr thrown_;
	std::thread thread_;
};

std::vector<stop> on_both(const char *stage)
{
	return {{stage, active, connected}, {stage, passive, connected}};
}

// Events that came are acknowledged, or the ids could not be destroyed.
void drop_events(const channel_ptr &channel)
{
	for (pollfd waiting{channel->fd, POLLIN, 0}; ::poll(&waiting, 1, 0) == 1;) {
		rdma_cm_event *event = nullptr;
		must(::rdma_get_cm_event(channel.get(), &event), "rdma_get_cm_event");
		::rdma_ack_cm_event(event);
	}
}

} // namespace

// Without a channel a call waits for its event, so each side has its thread.
void walk_synchronous(report &to, const place &at)
{
	if (!to.begin({{"created", active, no_device},
		       {"address resolved", active, simple},
		       {"route resolved", active, simple},
		       {"QP made", active, simple},
		       {"request received", passive, connected},
		       {"established", active, connected},
		       {"established", passive, connected},
		       {"disconnected", active, closed}},
		      {IBV_QPT_RC, at.by}))
		return;
	const channel_ptr none;
	const id_ptr listener = make_listener(none, RDMA_PS_TCP, at.where);
	const id_ptr a = make_id(none, RDMA_PS_TCP);
	to.visit("created", active, a.get());
	address goal = at.where.with_port(port_of(listener)).in(RDMA_PS_TCP);
	must(::rdma_resolve_addr(a.get(), nullptr, goal.get(), 5'000), "rdma_resolve_addr");
	to.visit("address resolved", active, a.get());
	must(::rdma_resolve_route(a.get(), 5'000), "rdma_resolve_route");
	to.visit("route resolved", active, a.get());
	make_qp(a);
	to.visit("QP made", active, a.get());

	beside connecting{[&a] {
		rdma_conn_param offer = offered();
		must(::rdma_connect(a.get(), &offer), "rdma_connect");
	}};
	rdma_cm_id *request = nullptr;
	must(::rdma_get_request(listener.get(), &request), "rdma_get_request");
	id_ptr p{request};
	to.visit("request received", passive, p.get());
	make_qp(p);
	rdma_conn_param reply = accepted();
	must(::rdma_accept(p.get(), &reply), "rdma_accept");
	connecting.finish();
	to.visit("established", active, a.get());
	to.visit("established", passive, p.get());
	p.reset();
	// Its event is there, and this call takes it.
	if (::rdma_disconnect(a.get()) != 0 && at.by == manager::infiniband)
		must(-1, "rdma_disconnect");
	to.visit("disconnected", active, a.get());
}

void walk_migrated(report &to, const place &at)
{
	if (!to.begin({{"created, then moved", active, no_device},
		       {"bound, then moved", active, simple},
		       {"established, then moved", active, connected},
		       {"established, then moved", passive, connected},
		       {"moved back", active, connected},
		       {"made synchronous", passive, connected}},
		      {IBV_QPT_RC, at.by}))
		return;
	const channel_ptr from = make_channel(), other = make_channel();
	const id_ptr id = make_id(from, RDMA_PS_TCP);
	must(::rdma_migrate_id(id.get(), other.get()), "rdma_migrate_id");
	to.visit("created, then moved", active, id.get());
	bind_to(id, at.where);
	must(::rdma_migrate_id(id.get(), from.get()), "rdma_migrate_id");
	to.visit("bound, then moved", active, id.get());

	const connection made = connect(at, {{}, {}, offered(), accepted()});
	must(::rdma_migrate_id(made.active.get(), other.get()), "rdma_migrate_id");
	must(::rdma_migrate_id(made.passive.get(), other.get()), "rdma_migrate_id");
	to.visit("established, then moved", active, made.active.get());
	to.visit("established, then moved", passive, made.passive.get());
	must(::rdma_migrate_id(made.active.get(), made.near.get()), "rdma_migrate_id");
	to.visit("moved back", active, made.active.get());
	must(::rdma_migrate_id(made.passive.get(), nullptr), "rdma_migrate_id");
	to.visit("made synchronous", passive, made.passive.get());
}

void walk_removed(report &to, const place &at)
{
	if (at.removable.empty())
		throw unavailable("no device was named that may be removed (--may-remove)");
	{
		const channel_ptr channel = make_channel();
		const id_ptr id = make_bound_id(channel, RDMA_PS_TCP, at.where);
		if (id->verbs->device->name != at.removable)
			throw unavailable("it is not " + at.removable + ", which may be removed, but " +
					  id->verbs->device->name);
	}
	std::vector<stop> stops = on_both("established");
	for (const side who : {active, passive, listener})
		stops.push_back({"device removed", who, removed});
	if (!to.begin(stops, {IBV_QPT_RC, at.by}))
		return;
	const connection made = connect(at, {{}, {}, offered(), accepted()});
	to.visit("established", active, made.active.get());
	to.visit("established", passive, made.passive.get());
	// The kernel removes it when this process has closed it; the events come before.
	if (std::system(("rdma link del '" + at.removable + "' >/dev/null 2>&1 &").c_str()) != 0)
		throw std::runtime_error("rdma link del could not be started");
	// Each id hears of it, beside whatever its peer does; the kernel lets go later.
	await_refusal(made.active, ENXIO);
	await_refusal(made.passive, ENXIO);
	await_refusal(made.listener, ENXIO);
	to.visit("device removed", active, made.active.get());
	to.visit("device removed", passive, made.passive.get());
	to.visit("device removed", listener, made.listener.get());
	drop_events(made.near);
	drop_events(made.far);
}

} // namespace conformance
