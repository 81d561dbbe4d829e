// SPDX-License-Identifier: MIT
// A fresh fake device, a channel on it, and ids brought to a stage by the events
// and calls that lead there in a program. For tests of lib/cm.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

#include <netinet/in.h>

#include "lib/cm/live.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_cm_kernel.hpp"
#include "test/support/fake_cm_verbs.hpp"

namespace qpattr::test {

inline std::uint32_t handle_of(const rdma_cm_id *id)
{
	return static_cast<const cm::identifier *>(id)->handle;
}

inline cm::stage stage_of(const rdma_cm_id *id)
{
	return cm::stage_of(*static_cast<const cm::identifier *>(id));
}

class rig {
public:
	rig()
	{
		kernel.reset();
		verbs.reset();
		channel = rdma_create_event_channel();
		REQUIRE(channel != nullptr);
	}
	~rig() { rdma_destroy_event_channel(channel); }
	rig(const rig &) = delete;
	rig &operator=(const rig &) = delete;

	fake_cm_kernel &kernel = fake_cm_kernel::get();
	fake_cm_verbs &verbs = fake_cm_verbs::get();
	rdma_event_channel *channel;

	[[nodiscard]] rdma_cm_id *id(rdma_port_space ps = RDMA_PS_TCP)
	{
		rdma_cm_id *made = nullptr;
		REQUIRE(rdma_create_id(channel, &made, this, ps) == 0);
		return made;
	}

	// The next event, which must be there.
	[[nodiscard]] rdma_cm_event *event(rdma_event_channel *from = nullptr)
	{
		rdma_cm_event *read = nullptr;
		REQUIRE(rdma_get_cm_event(from ? from : channel, &read) == 0);
		return read;
	}

	// Raises an event, reads it and acknowledges it; returns what was shown.
	rdma_cm_event_type happens(const rdma_cm_id *to, std::uint32_t number, int status = 0)
	{
		kernel.raise(handle_of(to), number, status);
		auto *read = event();
		const auto shown = read->event;
		CHECK(rdma_ack_cm_event(read) == 0);
		return shown;
	}

	// What the kernel tells of an id on the device: one path.
	[[nodiscard]] static rdma_ucm_query_route_resp on_device()
	{
		rdma_ucm_query_route_resp reply{};
		reply.node_guid = fake_cm_verbs::guid;
		reply.ibdev_index = fake_cm_verbs::index;
		reply.port_num = 1;
		reply.num_paths = 1;
		return reply;
	}

	static sockaddr *address()
	{
		static sockaddr_in to{};
		to.sin_family = AF_INET;
		to.sin_port = htons(7471);
		to.sin_addr.s_addr = htonl(0x0a4d0001);
		return reinterpret_cast<sockaddr *>(&to);
	}

	[[nodiscard]] rdma_cm_id *addr_resolved(rdma_port_space ps = RDMA_PS_TCP)
	{
		auto *made = id(ps);
		kernel.routes[handle_of(made)] = on_device();
		REQUIRE(rdma_resolve_addr(made, nullptr, address(), 1000) == 0);
		REQUIRE(happens(made, RDMA_CM_EVENT_ADDR_RESOLVED) == RDMA_CM_EVENT_ADDR_RESOLVED);
		return made;
	}

	[[nodiscard]] rdma_cm_id *route_resolved(rdma_port_space ps = RDMA_PS_TCP)
	{
		auto *made = addr_resolved(ps);
		REQUIRE(rdma_resolve_route(made, 1000) == 0);
		REQUIRE(happens(made, RDMA_CM_EVENT_ROUTE_RESOLVED) == RDMA_CM_EVENT_ROUTE_RESOLVED);
		return made;
	}

	[[nodiscard]] rdma_cm_id *listening(rdma_port_space ps = RDMA_PS_TCP)
	{
		auto *made = id(ps);
		REQUIRE(rdma_listen(made, 8) == 0);
		return made;
	}

	// A request that was read, of a listener.
	[[nodiscard]] rdma_cm_id *requested(const rdma_cm_id *listener,
					    const rdma_ucm_conn_param &param = {},
					    const rdma_ucm_ece &ece = {})
	{
		const auto made = kernel.request(handle_of(listener), param, ece);
		kernel.routes[made] = on_device();
		auto *read = event();
		REQUIRE(read->event == RDMA_CM_EVENT_CONNECT_REQUEST);
		auto *fresh = read->id;
		REQUIRE(rdma_ack_cm_event(read) == 0);
		return fresh;
	}
};

// A call that may sleep, in a thread of its own. One that never returns fails the
// test, and is left behind.
class sleeper {
public:
	explicit sleeper(std::function<int()> call) : state_{std::make_shared<state>()}
	{
		thread_ = std::thread{[call, state = state_] {
			state->answer = call();
			state->done = true;
		}};
	}
	~sleeper()
	{
		if (state_->done)
			thread_.join();
		else
			thread_.detach();
	}
	[[nodiscard]] bool done() const { return state_->done; }
	[[nodiscard]] int answer() const { return state_->answer; }
	[[nodiscard]] std::thread::native_handle_type handle() { return thread_.native_handle(); }

private:
	struct state {
		std::atomic<bool> done{false};
		std::atomic<int> answer{-2};
	};
	std::shared_ptr<state> state_;
	std::thread thread_;
};

// Whether it comes to be so in five seconds; at once, if it is.
template <class F> [[nodiscard]] bool becomes(F so)
{
	for (int tries = 0; tries < 5000; ++tries) {
		if (so())
			return true;
		std::this_thread::sleep_for(std::chrono::milliseconds{1});
	}
	return so();
}

} // namespace qpattr::test
