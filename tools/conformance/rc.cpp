// SPDX-License-Identifier: MIT
// RC from the first id to the end of timewait.
#include "tools/conformance/party.hpp"
#include "tools/conformance/values.hpp"

namespace conformance {
namespace {

using enum side;
using enum standing;

std::vector<stop> stops(manager by)
{
	std::vector<stop> out{
		{"created", active, no_device},
		{"bound", active, simple},
		{"address resolved", active, simple},
		{"route resolved", active, simple},
		{"QP made", active, simple},
		{"connecting", active, requested},
		{"request received", passive, connected},
		{"QP made", passive, connected},
		{"response sent", passive, connected},
		{"response received", active, connected},
		{"established", active, connected},
		{"established", passive, connected},
		{"disconnect sent", active, closed},
		{"disconnect received", passive, closed},
		{"disconnected", active, closed},
		{"disconnected", passive, closed},
	};
	// iWARP has no timewait.
	if (by == manager::infiniband) {
		out.push_back({"timewait over", active, closed});
		out.push_back({"timewait over", passive, closed});
	}
	return out;
}

void disconnect(report &to, const place &at, const channel_ptr &near, const channel_ptr &far,
		const party &a, const party &p)
{
	const bool iwarp = at.by == manager::iwarp;
	must(::rdma_disconnect(a.id.get()), "rdma_disconnect, active");
	// It refuses as long as it closes, which ends in its own time.
	if (iwarp)
		await_event(near);
	to.visit("disconnect sent", active, a.id.get());
	await_event(far);
	to.visit("disconnect received", passive, p.id.get());
	(void)take_event(far, RDMA_CM_EVENT_DISCONNECTED);
	// iWARP's closes both ways at once.
	if (::rdma_disconnect(p.id.get()) != 0 && !iwarp)
		must(-1, "rdma_disconnect, passive");
	(void)take_event(near, RDMA_CM_EVENT_DISCONNECTED);
	to.visit("disconnected", active, a.id.get());
	to.visit("disconnected", passive, p.id.get());

	if (iwarp)
		return;
	(void)take_event(near, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	(void)take_event(far, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	to.visit("timewait over", active, a.id.get());
	to.visit("timewait over", passive, p.id.get());
}

void walk(report &to, const place &at, qp_kind kind)
{
	if (!to.begin(stops(at.by), {IBV_QPT_RC, at.by}))
		return;
	const address &where = at.where;
	const channel_ptr near = make_channel(), far = make_channel();
	const id_ptr listener = make_listener(far, RDMA_PS_TCP, where);

	party a{make_id(near, RDMA_PS_TCP)};
	to.visit("created", active, a.id.get());
	bind_to(a.id, where);
	to.visit("bound", active, a.id.get());
	resolve_address(near, a.id, where.with_port(port_of(listener)));
	to.visit("address resolved", active, a.id.get());
	resolve_route(near, a.id);
	to.visit("route resolved", active, a.id.get());
	a.make(kind);
	to.visit("QP made", active, a.id.get());

	rdma_conn_param offer = a.with_qp(offered());
	must(::rdma_connect(a.id.get(), &offer), "rdma_connect");
	await_event(far); // the request has arrived, and waits to be read
	to.visit("connecting", active, a.id.get());
	party p{take_request(far)};
	to.visit("request received", passive, p.id.get());
	p.make(kind);
	to.visit("QP made", passive, p.id.get());

	rdma_conn_param reply = p.with_qp(accepted());
	must(::rdma_accept(p.id.get(), &reply), "rdma_accept");
	await_event(near); // the response has arrived
	to.visit("response sent", passive, p.id.get());
	to.visit("response received", active, a.id.get());
	if (kind == qp_kind::own) {
		(void)take_event(near, RDMA_CM_EVENT_CONNECT_RESPONSE);
		must(::rdma_establish(a.id.get()), "rdma_establish");
	} else {
		(void)take_event(near, RDMA_CM_EVENT_ESTABLISHED);
	}
	(void)take_event(far, RDMA_CM_EVENT_ESTABLISHED);
	to.visit("established", active, a.id.get());
	to.visit("established", passive, p.id.get());
	if (at.by == manager::infiniband)
		check_values(to, {a.id.get(), a.qp_number()}, {p.id.get(), p.qp_number()});

	disconnect(to, at, near, far, a, p);
}

} // namespace

void walk_rc(report &to, const place &at)
{
	walk(to, at, qp_kind::librdmacm);
}

void walk_rc_own_qp(report &to, const place &at)
{
	if (at.by == manager::iwarp)
		throw unavailable("iWARP has no response that a program could wait for");
	walk(to, at, qp_kind::own);
}

} // namespace conformance
