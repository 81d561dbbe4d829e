// SPDX-License-Identifier: MIT
// Calls during which another thread destroys the id: it was given the id, or an event of
// it, by the very command of the call. And what such calls have noted on the id before
// the command, and take back where it is refused.
#include "test/support/fake_cm_rig.hpp"

using namespace qpattr;
using namespace qpattr::test;

namespace {

// Destroys the id in a thread of its own when the command has succeeded and the call that
// sent it has not returned: then the id has to be whole still.
class destroyer {
public:
	destroyer(rig &on, rdma_cm_id *id, std::uint32_t command) : on_{on}
	{
		on.kernel.between = [this, id, command](std::uint32_t sent) {
			if (sent != command || thread_)
				return;
			thread_ = std::make_unique<sleeper>([id] { return rdma_destroy_id(id); });
			// The kernel has forgotten it.
			(void)becomes([this] { return on_.kernel.count(uapi::destroy_id::number) == 1; });
			std::this_thread::sleep_for(std::chrono::milliseconds{20});
			whole_ = !thread_->done() && cm::ids.holds(id);
		};
	}
	void check(const rdma_cm_id *id)
	{
		REQUIRE(thread_);
		CHECK(whole_);
		CHECK(becomes([this] { return thread_->done(); }));
		CHECK(thread_->answer() == 0);
		CHECK_FALSE(cm::ids.holds(id));
		on_.kernel.between = nullptr;
	}

private:
	rig &on_;
	std::unique_ptr<sleeper> thread_;
	bool whole_ = false;
};

const cm::identifier &inner(const rdma_cm_id *id)
{
	return *static_cast<const cm::identifier *>(id);
}

} // namespace

TEST_CASE("kept: rdma_bind_addr")
{
	rig on;
	auto *id = on.id();
	on.kernel.routes[handle_of(id)] = rig::on_device();
	destroyer other{on, id, uapi::bind::number};
	// Its query comes too late.
	CHECK(rdma_bind_addr(id, rig::address()) == -1);
	CHECK(errno == ENOENT);
	other.check(id);
}

TEST_CASE("kept: rdma_listen")
{
	rig on;
	auto *id = on.id();
	destroyer other{on, id, uapi::listen::number};
	CHECK(rdma_listen(id, 8) == -1); // not bound before: it asks for the port
	CHECK(errno == ENOENT);
	other.check(id);
}

TEST_CASE("kept: rdma_join_multicast")
{
	rig on;
	auto *id = on.addr_resolved(RDMA_PS_UDP);
	destroyer other{on, id, uapi::join_mcast::number};
	CHECK(rdma_join_multicast(id, rig::address(), nullptr) == 0);
	other.check(id);
}

TEST_CASE("kept: rdma_migrate_id")
{
	rig on;
	auto *to = rdma_create_event_channel();
	auto *id = on.id();
	{
		destroyer other{on, id, uapi::migrate_id::number};
		CHECK(rdma_migrate_id(id, to) == 0);
		other.check(id);
	}
	// While it waits, too: for an event that was read on the channel that it leaves.
	id = on.id();
	on.kernel.forget_writes();
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	auto *read = on.event();
	destroyer other{on, id, uapi::migrate_id::number};
	sleeper mover{[id, to] { return rdma_migrate_id(id, to); }};
	REQUIRE(becomes([&on] { return on.kernel.count(uapi::destroy_id::number) == 1; }));
	std::this_thread::sleep_for(std::chrono::milliseconds{50});
	CHECK_FALSE(mover.done());
	CHECK(cm::ids.holds(id));
	CHECK(rdma_ack_cm_event(read) == 0);
	CHECK(becomes([&mover] { return mover.done(); }));
	CHECK(mover.answer() == 0);
	other.check(id);
	rdma_destroy_event_channel(to);
}

TEST_CASE("kept: nobody waits, and the count is as before, where nobody destroys")
{
	rig on;
	auto *id = on.id();
	auto *to = rdma_create_event_channel();
	CHECK(rdma_bind_addr(id, rig::address()) == 0);
	CHECK(rdma_listen(id, 8) == 0);
	CHECK(rdma_migrate_id(id, to) == 0);
	CHECK(inner(id).acked == 0);
	on.kernel.refuse(uapi::migrate_id::number, EINVAL);
	CHECK(rdma_migrate_id(id, on.channel) == -1);
	CHECK(inner(id).acked == 0);
	CHECK(rdma_destroy_id(id) == 0);
	rdma_destroy_event_channel(to);
}

TEST_CASE("kept: a listener listens before its first request can be read")
{
	rig on;
	auto *id = on.id();
	on.kernel.refuse(uapi::listen::number, EADDRINUSE);
	CHECK(rdma_listen(id, 8) == -1);
	CHECK(stage_of(id) == cm::stage::idle);
	CHECK(rdma_bind_addr(id, rig::address()) == 0);
	on.kernel.refuse(uapi::listen::number, EADDRINUSE);
	CHECK(rdma_listen(id, 8) == -1);
	CHECK(stage_of(id) == cm::stage::bound);
	auto at_once = cm::stage::idle;
	on.kernel.between = [&](std::uint32_t sent) {
		if (sent == uapi::listen::number)
			at_once = stage_of(id);
	};
	CHECK(rdma_listen(id, 8) == 0);
	CHECK(at_once == cm::stage::listening);
	// A second one is the kernel's to refuse, and changes nothing.
	on.kernel.refuse(uapi::listen::number, EINVAL);
	CHECK(rdma_listen(id, 8) == -1);
	CHECK(stage_of(id) == cm::stage::listening);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("kept: a synchronous id that moves is an ordinary one where its events are read")
{
	rig on;
	rdma_cm_id *id = nullptr;
	REQUIRE(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0);
	auto *const own = id->channel;
	on.kernel.routes[handle_of(id)] = rig::on_device();
	on.kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_RESOLVED);
	REQUIRE(rdma_resolve_addr(id, nullptr, rig::address(), 1000) == 0);
	auto *const last = id->event;
	REQUIRE(last != nullptr);
	// Its own channel would be closed under it.
	on.kernel.forget_writes();
	CHECK(rdma_migrate_id(id, own) == -1);
	CHECK(errno == EINVAL);
	CHECK(rdma_migrate_id(id, nullptr) == -1);
	CHECK(errno == EINVAL);
	CHECK(on.kernel.writes().empty());
	CHECK(on.kernel.closed.empty());

	on.kernel.refuse(uapi::migrate_id::number, EINVAL);
	CHECK(rdma_migrate_id(id, on.channel) == -1);
	CHECK(id->channel == own);
	CHECK(id->event == last);
	CHECK(inner(id).has(cm::identifier::synchronous));
	CHECK(on.kernel.closed.empty());

	bool ready = false;
	on.kernel.between = [&](std::uint32_t sent) {
		if (sent == uapi::migrate_id::number)
			ready = id->channel == on.channel && !id->event &&
				!inner(id).has(cm::identifier::synchronous);
	};
	const int fd = own->fd;
	CHECK(rdma_migrate_id(id, on.channel) == 0);
	CHECK(ready);
	CHECK_FALSE(cm::events.holds(last));
	CHECK(on.kernel.closed == std::vector<int>{fd});
	CHECK(rdma_destroy_id(id) == 0);
}

// With the channel the kernel would refuse what waits there unread.
TEST_CASE("kept: the channel of a synchronous listener that moves, until it moves again or goes")
{
	rig on;
	rdma_cm_id *id = nullptr;
	REQUIRE(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0);
	REQUIRE(rdma_bind_addr(id, rig::address()) == 0);
	REQUIRE(rdma_listen(id, 8) == 0);
	const int fd = id->channel->fd;
	CHECK(rdma_migrate_id(id, on.channel) == 0);
	CHECK(on.kernel.closed.empty());

	SECTION("it goes")
	{
		CHECK(rdma_destroy_id(id) == 0);
		CHECK(on.kernel.closed == std::vector<int>{fd});
	}
	SECTION("it moves again")
	{
		on.kernel.refuse(uapi::migrate_id::number, EINVAL);
		auto *to = rdma_create_event_channel();
		CHECK(rdma_migrate_id(id, to) == -1);
		CHECK(on.kernel.closed.empty());
		CHECK(rdma_migrate_id(id, to) == 0);
		CHECK(on.kernel.closed == std::vector<int>{fd});
		CHECK(rdma_destroy_id(id) == 0);
		rdma_destroy_event_channel(to);
	}
}
