// SPDX-License-Identifier: MIT
// Synchronous endpoints: rdma_create_ep(), rdma_get_request(), rdma_destroy_ep().
#include <cstring>

#include "lib/cm/acks.hpp"
#include "lib/cm/complete.hpp"
#include "lib/cm/channel.hpp"
#include "lib/cm/edge.hpp"
#include "lib/cm/extras.hpp"
#include "lib/cm/lifetime.hpp"
#include "lib/cm/option.hpp"
#include "lib/cm/qp.hpp"
#include "lib/cm/resolve.hpp"

#include <rdma/rdma_verbs.h>

namespace qpattr::cm {
namespace {

constexpr int resolve_timeout_ms = 2000;

result<void> make_passive(identifier &id, const rdma_addrinfo &what, ibv_pd *pd,
			  const ibv_qp_init_attr *init) noexcept
{
	if (const auto bound = bind(id, what.ai_src_addr, what.ai_src_len); !bound)
		return bound;
	if (!init)
		return {};
	// For the QPs of the requests to come.
	extras *more = make_extras(id);
	if (!more)
		return wrong(ENOMEM);
	more->qp_init = *init;
	more->qp_init.qp_type = static_cast<ibv_qp_type>(what.ai_qp_type);
	more->has_qp_init = true;
	if (pd)
		id.pd = pd;
	return {};
}

result<void> find_route(identifier &id, const rdma_addrinfo &what) noexcept
{
	if (!what.ai_route_len)
		return resolve_route(id, resolve_timeout_ms);
	if (const auto set = set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, what.ai_route,
					what.ai_route_len);
	    !set)
		return set;
	return complete(id, true);
}

result<void> keep_connect_data(identifier &id, const rdma_addrinfo &what) noexcept
{
	if (!what.ai_connect_len)
		return {};
	extras *more = make_extras(id);
	if (!more)
		return wrong(ENOMEM);
	if (!what.ai_connect || what.ai_connect_len > sizeof more->connect_data)
		return wrong(EINVAL);
	std::memcpy(more->connect_data, what.ai_connect, what.ai_connect_len);
	more->connect_len = static_cast<std::uint8_t>(what.ai_connect_len);
	return {};
}

result<void> make_active(identifier &id, const rdma_addrinfo &what, ibv_pd *pd,
			 ibv_qp_init_attr *init) noexcept
{
	if (what.ai_connect_len && !what.ai_connect)
		return wrong(EINVAL);
	const resolution to{what.ai_src_addr, what.ai_dst_addr, what.ai_src_len, what.ai_dst_len,
			    resolve_timeout_ms};
	if (const auto resolved = resolve_address(id, to); !resolved)
		return resolved;
	if (const auto found = find_route(id, what); !found)
		return found;
	if (init) {
		init->qp_type = static_cast<ibv_qp_type>(what.ai_qp_type);
		if (const auto made = create_qp(id, pd, *init); !made)
			return made;
	}
	return keep_connect_data(id, what);
}

void destroy_all(rdma_cm_id *id) noexcept
{
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	// As far as it can be: nobody is told of a failure, so nobody else tries again.
	if (!destroy(own(id)))
		(void)destroy(own(id));
}

// The new id becomes synchronous, on a channel of its own, with the QP that the
// listener's endpoint asked for.
result<void> adopt(identifier &listener, identifier &id) noexcept
{
	const auto opened = open_channel();
	if (!opened)
		return opened.why();
	if (const auto moved = move(id, opened.value(), true); !moved) {
		close_channel(opened.value());
		return moved;
	}
	const extras *more = extras_of(listener);
	if (!more || !more->has_qp_init)
		return {};
	ibv_qp_init_attr init = more->qp_init;
	return create_qp(id, listener.pd, init);
}

result<event_record *> await_request(identifier &listener) noexcept
{
	for (;;) {
		rdma_cm_event *came;
		if (rdma_get_cm_event(listener.channel, &came) != 0)
			return failure{errno, QPATTR_STAGE_COMMAND};
		if (came->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			return static_cast<event_record *>(came);
		const bool gone = came->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
		rdma_ack_cm_event(came);
		if (gone)
			return wrong(ENODEV);
	}
}

result<identifier *> next_request(identifier &listener) noexcept
{
	if (!listener.has(identifier::synchronous) || stage_of(listener) != stage::listening)
		return wrong(EINVAL);
	drop_event(listener);
	// Not in listener.event: several threads may wait for requests.
	const auto came = await_request(listener);
	if (!came)
		return came.why();
	event_record *request = came.value();
	identifier &id = *own(request->id);
	if (const auto adopted = adopt(listener, id); !adopted) {
		// Nobody else will: the peer learns of it by a reject.
		destroy_all(&id);
		rdma_ack_cm_event(request);
		return adopted.why();
	}
	// Only a call on the new id acknowledges it: the listener does not wait for that.
	acknowledge(request->counted->acked);
	request->counted = nullptr;
	id.event = request;
	return &id;
}

} // namespace
} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_create_ep(rdma_cm_id **id, rdma_addrinfo *res, ibv_pd *pd, ibv_qp_init_attr *qp_init_attr)
{
	if (!id || !res)
		return refuse(EINVAL);
	const call done;
	const auto made = create_id(nullptr, {static_cast<rdma_port_space>(res->ai_port_space),
					      static_cast<ibv_qp_type>(res->ai_qp_type), nullptr});
	if (!made)
		return refuse(made.why().code);
	identifier *endpoint = made.value();
	const auto ready = res->ai_flags & RAI_PASSIVE
				   ? make_passive(*endpoint, *res, pd, qp_init_attr)
				   : make_active(*endpoint, *res, pd, qp_init_attr);
	if (!ready) {
		destroy_all(endpoint);
		return refuse(ready.why().code);
	}
	*id = endpoint;
	done.succeeded();
	return 0;
}

int rdma_get_request(rdma_cm_id *listen, rdma_cm_id **id)
{
	if (!usable(listen) || !id)
		return refuse(EINVAL);
	const call made;
	const auto next = next_request(*own(listen));
	if (!next)
		return refuse(next.why().code);
	*id = next.value();
	made.succeeded();
	return 0;
}

void rdma_destroy_ep(rdma_cm_id *id)
{
	if (usable(id))
		destroy_all(id);
}
