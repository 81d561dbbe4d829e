// SPDX-License-Identifier: MIT
// The connection manager's events: whatever a kernel may deliver, for ids that live, that
// are gone or that never were, between the calls of a program. Input: a script of bytes,
// an operation and what it takes. The device is the unit tests' (fake_cm_kernel).
#include <algorithm>
#include <array>
#include <netinet/in.h>
#include <vector>

#include "lib/cm/live.hpp"
#include "test/fuzz/fuzz.hpp"
#include "test/support/fake_cm_kernel.hpp"
#include "test/support/fake_cm_verbs.hpp"

using namespace qpattr;
using namespace qpattr::test;

namespace {

constexpr std::size_t ids_max = 12, events_max = 12;

class program {
public:
	explicit program(fuzz::input &script) : script_{script}
	{
		kernel_.reset();
		fake_cm_verbs::get().reset();
		for (rdma_event_channel *&each : channels_) {
			each = ::rdma_create_event_channel();
			fuzz::must(each != nullptr, "a channel is made");
		}
	}
	~program()
	{
		while (!events_.empty())
			acknowledge(0);
		while (!ids_.empty())
			destroy(0);
		for (rdma_event_channel *each : channels_)
			::rdma_destroy_event_channel(each);
		kernel_.forget_writes();
	}
	program(const program &) = delete;
	program &operator=(const program &) = delete;

	void step()
	{
		switch (script_.take<std::uint8_t>() % 16) {
		case 0: create(); break;
		case 1: with_id([&](std::size_t i) { destroy(i); }); break;
		case 2: with_id([&](std::size_t i) { raise(i); }); break;
		case 3: raise_forged(); break;
		case 4: read(channel()); break;
		case 5: with_event([&](std::size_t i) { acknowledge(i); }); break;
		case 6: with_id([&](std::size_t i) { (void)::rdma_listen(ids_[i], 8); }); break;
		case 7: with_id([&](std::size_t i) { request(i); }); break;
		case 8: with_id([&](std::size_t i) { resolve(i); }); break;
		case 9: with_id([&](std::size_t i) { migrate(i); }); break;
		case 10: refuse(); break;
		case 11: with_id([&](std::size_t i) { connect(i); }); break;
		case 12: with_id([&](std::size_t i) { (void)::rdma_disconnect(ids_[i]); }); break;
		case 13: with_id([&](std::size_t i) { (void)::rdma_reject(ids_[i], "no", 2); }); break;
		case 14: with_event([&](std::size_t i) { look_at(*events_[i]); }); break;
		case 15: with_id([&](std::size_t i) { attributes(i); }); break;
		}
	}

private:
	template <class Do> void with_id(Do act)
	{
		if (const auto which = script_.take<std::uint8_t>(); !ids_.empty())
			act(which % ids_.size());
	}
	template <class Do> void with_event(Do act)
	{
		if (const auto which = script_.take<std::uint8_t>(); !events_.empty())
			act(which % events_.size());
	}
	rdma_event_channel *channel() { return channels_[script_.take<std::uint8_t>() & 1]; }
	static std::uint32_t handle_of(const rdma_cm_id *id)
	{
		return static_cast<const cm::identifier *>(id)->handle;
	}

	void create()
	{
		constexpr std::array spaces{RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, RDMA_PS_IPOIB};
		rdma_cm_id *made = nullptr;
		if (ids_.size() < ids_max &&
		    ::rdma_create_id(channel(), &made, nullptr,
				     spaces[script_.take<std::uint8_t>() % spaces.size()]) == 0)
			ids_.push_back(made);
	}

	// Who destroys or migrates an id waits for them.
	void acknowledge_of(const rdma_cm_id *id)
	{
		for (std::size_t k = events_.size(); k-- > 0;)
			if (events_[k]->id == id || events_[k]->listen_id == id)
				acknowledge(k);
	}

	void destroy(std::size_t i)
	{
		rdma_cm_id *const id = ids_[i];
		acknowledge_of(id);
		// That of a forged request is none of the kernel's.
		const bool there = known(i);
		ids_.erase(ids_.begin() + static_cast<std::ptrdiff_t>(i));
		const int result = ::rdma_destroy_id(id);
		fuzz::must(there ? result == 0 : result == -1 && errno == ENOENT,
			   "an id that is there is destroyed, another is ENOENT");
	}

	rdma_ucm_event_resp filled(std::uint32_t handle)
	{
		auto number = script_.take<std::uint8_t>() % 24U;
		// Of groups the kernel tells under their own numbers, and a request brings a number
		// that is new: of an id's these would be counted for another, or for nobody.
		if (number == RDMA_CM_EVENT_MULTICAST_JOIN || number == RDMA_CM_EVENT_MULTICAST_ERROR ||
		    number == RDMA_CM_EVENT_CONNECT_REQUEST)
			number = RDMA_CM_EVENT_ESTABLISHED;
		rdma_ucm_event_resp out = kernel_.event_of(handle, number);
		out.status = script_.take<std::uint8_t>() & 1 ? -script_.take<std::uint8_t>() : 0;
		script_.take_bytes(&out.param, script_.take<std::uint8_t>() % (sizeof out.param + 1));
		return out;
	}

	// An id of a forged request is none of the kernel's.
	[[nodiscard]] bool known(std::size_t i) { return kernel_.ids.count(handle_of(ids_[i])) > 0; }

	void raise(std::size_t i)
	{
		if (!known(i))
			return;
		kernel_.raise(handle_of(ids_[i]), filled(handle_of(ids_[i])));
	}

	void raise_forged()
	{
		rdma_ucm_event_resp out{};
		script_.take_bytes(&out, script_.take<std::uint16_t>() % (sizeof out + 1));
		// The kernel gives no two ids a number: each would be destroyed, and accepted, as
		// the other.
		if (kernel_.ids.count(out.id) > 0)
			out.id = ~0U;
		kernel_.raise_raw(channel()->fd, out);
	}

	void read(rdma_event_channel *from)
	{
		rdma_cm_event *got = nullptr;
		if (events_.size() == events_max || ::rdma_get_cm_event(from, &got) != 0) {
			fuzz::must(got == nullptr, "without an event there is none");
			return;
		}
		look_at(*got);
		events_.push_back(got);
		if (got->event == RDMA_CM_EVENT_CONNECT_REQUEST && got->id != got->listen_id)
			ids_.push_back(got->id);
	}

	// All that a program may look at.
	void look_at(const rdma_cm_event &what)
	{
		fuzz::must(what.id != nullptr, "an event has an id");
		const void *data = what.param.conn.private_data;
		std::size_t len = what.param.conn.private_data_len;
		if (what.id->ps == RDMA_PS_UDP || what.id->ps == RDMA_PS_IPOIB) {
			data = what.param.ud.private_data;
			len = what.param.ud.private_data_len;
		}
		unsigned sum = 0;
		for (std::size_t i = 0; data && i < len; ++i)
			sum += static_cast<const unsigned char *>(data)[i];
		sum_ = sum_ + sum;
		fuzz::must(::rdma_event_str(what.event) != nullptr, "an event has a name");
	}

	void acknowledge(std::size_t i)
	{
		rdma_cm_event *const what = events_[i];
		events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
		fuzz::must(::rdma_ack_cm_event(what) == 0, "an event is acknowledged");
	}

	void request(std::size_t i)
	{
		if (!known(i))
			return;
		rdma_ucm_conn_param param{};
		script_.take_bytes(&param, script_.take<std::uint8_t>() % (sizeof param + 1));
		const std::uint32_t made = kernel_.request(handle_of(ids_[i]), param);
		script_.take_bytes(&kernel_.routes[made],
				   script_.take<std::uint8_t>() %
					   (sizeof(rdma_ucm_query_route_resp) + 1));
	}

	void resolve(std::size_t i)
	{
		sockaddr_in to{};
		to.sin_family = AF_INET;
		to.sin_addr.s_addr = htonl(0x0a4d0001);
		auto &route = kernel_.routes[handle_of(ids_[i])];
		route.node_guid = fake_cm_verbs::guid;
		route.ibdev_index = fake_cm_verbs::index;
		route.port_num = 1;
		route.num_paths = script_.take<std::uint8_t>() & 3;
		if (::rdma_resolve_addr(ids_[i], nullptr, reinterpret_cast<sockaddr *>(&to), 1))
			return;
		(void)::rdma_resolve_route(ids_[i], 1);
	}

	void migrate(std::size_t i)
	{
		acknowledge_of(ids_[i]);
		(void)::rdma_migrate_id(ids_[i], channel());
	}

	void refuse()
	{
		const auto command = script_.take<std::uint8_t>() % 24U;
		const int code = script_.take<std::uint8_t>() % 100 + 1;
		// A program whose destroy is refused keeps its id; the end here would not.
		if (command != uapi::destroy_id::number)
			kernel_.refuse(command, code);
	}

	void connect(std::size_t i)
	{
		rdma_conn_param param{};
		param.retry_count = script_.take<std::uint8_t>();
		param.rnr_retry_count = script_.take<std::uint8_t>();
		if (script_.take<std::uint8_t>() & 1)
			(void)::rdma_accept(ids_[i], &param);
		else
			(void)::rdma_connect(ids_[i], &param);
	}

	void attributes(std::size_t i)
	{
		ibv_qp_attr attr{};
		int mask = 0;
		attr.qp_state = static_cast<ibv_qp_state>(script_.take<std::uint8_t>());
		script_.take_bytes(&kernel_.attributes[handle_of(ids_[i])],
				   script_.take<std::uint8_t>() % (sizeof(ib_uverbs_qp_attr) + 1));
		(void)::rdma_init_qp_attr(ids_[i], &attr, &mask);
	}

	fuzz::input &script_;
	fake_cm_kernel &kernel_ = fake_cm_kernel::get();
	rdma_event_channel *channels_[2];
	std::vector<rdma_cm_id *> ids_;
	std::vector<rdma_cm_event *> events_;
	volatile unsigned sum_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	fuzz::input script{data, size};
	program one{script};
	for (int steps = 0; !script.empty() && steps < 500; ++steps)
		one.step();
	return 0;
}
