// SPDX-License-Identifier: MIT
// What client.c does with ids on a channel, by the C++ layer; the same marks.
//     client_cxx ADDRESS
#include <qpattr/qpattr.hpp>

#include <cstdio>
#include <cstdlib>

#include "test/bench/cm/common.h"
#include "test/bench/cm/listener.h"

using namespace std::chrono_literals;

namespace {

constexpr int connections = 2;

template <class T> T must(qpattr::result<T> outcome)
{
	if (!outcome) {
		char text[256];
		std::fprintf(stderr, "client_cxx: %s\n", outcome.why().message(text));
		std::exit(1);
	}
	return std::move(outcome).value();
}

void expect(qpattr::channel &channel, rdma_cm_event_type type)
{
	const auto event = must(channel.next_event());
	if (event.type() != type) {
		std::fprintf(stderr, "client_cxx: %s, expected %s\n", rdma_event_str(event.type()),
			     rdma_event_str(type));
		std::exit(1);
	}
}

void connect_once(qpattr::channel &channel, qpattr::address_view peer)
{
	static ibv_pd *pd;
	static ibv_cq *cq;

	mark("mark-create");
	{
		auto id = must(qpattr::id::create(channel));
		mark("mark-created");
		must(id.resolve_address(peer, 2s));
		expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
		must(id.resolve_route(2s));
		expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
		if (!pd && (!(pd = ibv_alloc_pd(id.verbs())) ||
			    !(cq = ibv_create_cq(id.verbs(), 16, nullptr, nullptr, 0))))
			die("queues");
		auto init = small_qp(cq);
		must(id.create_qp(init, pd));
		must(id.connect({.responder_resources = 1, .initiator_depth = 1}));
		expect(channel, RDMA_CM_EVENT_ESTABLISHED);
		must(id.disconnect());
		expect(channel, RDMA_CM_EVENT_DISCONNECTED);
	}
	mark("mark-destroyed");
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::fputs("usage: client_cxx ADDRESS\n", stderr);
		return 2;
	}
	sockaddr_in address = parse_address(argv[1]);
	address.sin_port = listener_start(address);

	mark("mark-main");
	{
		auto channel = must(qpattr::channel::create());
		for (int i = 0; i < connections; i++)
			connect_once(channel, address);
	}
	listener_stop();
	return 0;
}
