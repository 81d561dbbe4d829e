// SPDX-License-Identifier: MIT
// lib/cm/channel.cpp: opening the device, what can go wrong with it, the module
// loaded anew, and closing.
#include <fcntl.h>

#include "test/support/fake_cm_memory.hpp"
#include "test/support/fake_cm_rig.hpp"

using namespace qpattr;
using namespace qpattr::test;

namespace {

const std::string node = "/dev/infiniband/rdma_cm";
const std::string sysfs_dev = "/sys/class/misc/rdma_cm/dev";

fake_cm_kernel &booted()
{
	auto &kernel = fake_cm_kernel::get();
	kernel.reset();
	return kernel;
}

// That creating a channel fails so, and leaves nothing open.
void check_refused(int code)
{
	auto &kernel = fake_cm_kernel::get();
	kernel.opened.clear();
	kernel.closed.clear();
	errno = 0;
	CHECK(rdma_create_event_channel() == nullptr);
	CHECK(errno == code);
	if (kernel.open_errno == 0)
		CHECK(kernel.count_opened(node) == kernel.closed.size());
}

// The memory of the next channel, which is the one given back last.
void *next_memory()
{
	auto *next = cm::channels.take();
	cm::channels.give(next);
	return next;
}

} // namespace

// Before the others, of which each opens channels.
TEST_CASE("channel: the first one has libibverbs find its drivers, while it can")
{
	booted();
	auto &verbs = fake_cm_verbs::get();
	verbs.reset();
	const auto open = [] {
		errno = 77;
		auto *channel = rdma_create_event_channel();
		CHECK(channel != nullptr);
		CHECK(errno == 77);
		rdma_destroy_event_channel(channel);
	};
	verbs.list_errno = EMFILE;
	open();
	CHECK(verbs.lists == 1);
	verbs.list_errno = 0;
	open(); // tried again
	CHECK(verbs.lists == 2);
	open();
	CHECK(verbs.lists == 2);
}

TEST_CASE("channel: the device is identified, opened for both, and closed on exec")
{
	auto &kernel = booted();
	errno = 77;
	auto *channel = rdma_create_event_channel();
	REQUIRE(channel != nullptr);
	CHECK(errno == 77);
	CHECK(channel->fd >= fake_cm_kernel::first_fd);
	CHECK(cm::channels.holds(channel));
	CHECK(kernel.count_opened(sysfs_dev) == 1);
	REQUIRE(kernel.open_flags.size() == 1);
	CHECK((kernel.open_flags[0] & O_ACCMODE) == O_RDWR);
	CHECK((kernel.open_flags[0] & O_CLOEXEC) != 0);
	CHECK((kernel.open_flags[0] & O_NONBLOCK) == 0);
	CHECK(kernel.writes().empty());
	const int fd = channel->fd;
	rdma_destroy_event_channel(channel);
	CHECK(kernel.closed == std::vector<int>{fd});
	CHECK_FALSE(cm::channels.holds(channel));
}

TEST_CASE("channel: the second one does not ask sysfs, and has a descriptor of its own")
{
	auto &kernel = booted();
	auto *first = rdma_create_event_channel();
	REQUIRE(first != nullptr);
	kernel.opened.clear();
	auto *second = rdma_create_event_channel();
	REQUIRE(second != nullptr);
	CHECK(kernel.opened == std::vector<std::string>{node});
	REQUIRE(kernel.open_flags.size() == 2);
	CHECK((kernel.open_flags[1] & O_ACCMODE) == O_RDWR);
	CHECK((kernel.open_flags[1] & O_CLOEXEC) != 0);
	CHECK(first != second);
	CHECK(first->fd != second->fd);
	CHECK(kernel.closed.empty());
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
}

TEST_CASE("channel: a module that is not loaded is asked for")
{
	auto &kernel = booted();
	kernel.loads_module = true;
	kernel.stat_errno = kernel.sysfs_errno = ENOENT; // neither node nor sysfs
	auto *channel = rdma_create_event_channel();
	REQUIRE(channel != nullptr);
	CHECK(kernel.module_wanted == 1);
	rdma_destroy_event_channel(channel);
}

TEST_CASE("channel: what goes wrong at the first one is its errno")
{
	auto &kernel = booted();
	void *memory = next_memory();
	kernel.any_device = false; // nothing could come of it
	check_refused(ENODEV);
	CHECK(kernel.opened.empty());
	kernel.any_device = true;

	kernel.stat_errno = ENOENT;
	check_refused(ENOENT);
	CHECK(kernel.opened.empty());
	CHECK(kernel.module_wanted == 1);
	kernel.stat_errno = 0;

	kernel.sysfs_errno = ENOENT; // the module is gone
	check_refused(ENODEV);
	CHECK(kernel.module_wanted == 2);
	CHECK(kernel.count_opened(node) == 0);
	kernel.sysfs_errno = EMFILE;
	check_refused(EMFILE);
	kernel.sysfs_errno = 0;

	kernel.node_mode = S_IFREG | 0666;
	check_refused(ENODEV);
	CHECK(kernel.count_opened(node) == 0);
	kernel.node_mode = S_IFCHR | 0666;

	kernel.node_device = 5; // another device's node: never opened
	check_refused(ENODEV);
	CHECK(kernel.count_opened(node) == 0);
	kernel.node_device = kernel.device;

	kernel.opened_device = 5; // replaced in between
	check_refused(ENODEV);
	CHECK(kernel.closed.size() == 2); // it could be a module that is loaded just now
	kernel.opened_device = kernel.device;

	kernel.fstat_errno = EIO;
	check_refused(ENODEV);
	kernel.fstat_errno = 0;

	kernel.abi = "5\n";
	check_refused(EPROTONOSUPPORT);
	CHECK(kernel.count_opened(node) == 0);
	kernel.abi = "4\n";

	for (const int code : {EACCES, EMFILE, ENXIO}) {
		kernel.open_errno = code;
		check_refused(code);
	}
	kernel.open_errno = 0;
	// Whoever has a pointer from before is not led to a file.
	CHECK(static_cast<rdma_event_channel *>(memory)->fd == -1);
	CHECK(next_memory() == memory); // none was kept

	auto *channel = rdma_create_event_channel();
	CHECK(channel != nullptr);
	rdma_destroy_event_channel(channel);
}

TEST_CASE("channel: what goes wrong at a later one is its errno too")
{
	auto &kernel = booted();
	rdma_destroy_event_channel(rdma_create_event_channel());
	void *memory = next_memory();
	kernel.open_errno = EMFILE;
	check_refused(EMFILE);
	kernel.open_errno = 0;

	kernel.stat_errno = ENOENT;
	check_refused(ENOENT);
	kernel.stat_errno = 0;

	kernel.opened_device = 5;
	check_refused(ENODEV);
	CHECK_FALSE(kernel.closed.empty());
	kernel.opened_device = kernel.device;

	kernel.node_mode = S_IFBLK | 0666; // the number is not all
	check_refused(ENODEV);
	CHECK(kernel.count_opened(node) == 0);
	kernel.node_mode = S_IFCHR | 0666;
	CHECK(next_memory() == memory);
}

TEST_CASE("channel: after the module was loaded anew its new number counts")
{
	auto &kernel = booted();
	rdma_destroy_event_channel(rdma_create_event_channel());
	kernel.load_module_anew();
	kernel.opened.clear();
	auto *channel = rdma_create_event_channel();
	REQUIRE(channel != nullptr);
	CHECK(kernel.count_opened(sysfs_dev) == 1);
	// And is known from then on.
	kernel.opened.clear();
	auto *next = rdma_create_event_channel();
	REQUIRE(next != nullptr);
	CHECK(kernel.opened == std::vector<std::string>{node});
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(next);
}

TEST_CASE("channel: a node with the number that the module had before is not opened")
{
	auto &kernel = booted();
	rdma_destroy_event_channel(rdma_create_event_channel());
	const dev_t old = kernel.device;
	kernel.load_module_anew();
	rdma_destroy_event_channel(rdma_create_event_channel());
	kernel.node_device = old; // a stale node in a container
	check_refused(ENODEV);
	CHECK(kernel.count_opened(node) == 0);
}

TEST_CASE("channel: no memory for one is ENOMEM, before anything is opened")
{
	auto &kernel = booted();
	std::vector<rdma_event_channel *> all;
	cm_out_of_memory = true;
	errno = 0;
	rdma_event_channel *one;
	while ((one = rdma_create_event_channel()) != nullptr)
		all.push_back(one);
	const int code = errno;
	cm_out_of_memory = false;
	CHECK(code == ENOMEM);
	CHECK(kernel.count_opened(node) == all.size());
	one = rdma_create_event_channel();
	CHECK(one != nullptr);
	rdma_destroy_event_channel(one);
	for (auto *each : all)
		rdma_destroy_event_channel(each);
	CHECK(kernel.closed.size() == all.size() + 1);
}

TEST_CASE("channel: closing one twice closes one descriptor and frees nothing")
{
	auto &kernel = booted();
	auto *channel = rdma_create_event_channel();
	REQUIRE(channel != nullptr);
	rdma_destroy_event_channel(channel);
	cm_freed = nullptr;
	rdma_destroy_event_channel(channel);
	CHECK(cm_freed != channel);
	CHECK(kernel.closed.size() == 1);
	// Nor does it lead to a file that got the number since.
	CHECK(channel->fd == -1);
	rdma_cm_event *read = nullptr;
	CHECK(rdma_get_cm_event(channel, &read) == -1);
	CHECK(errno == EBADF);
	// The next one is not hit by it.
	auto *next = rdma_create_event_channel();
	CHECK(next == channel);
	rdma_destroy_event_channel(next);
	rdma_destroy_event_channel(nullptr);
	CHECK(kernel.closed.size() == 2);
}

TEST_CASE("channel: one that the program made itself works, and is freed")
{
	auto &kernel = booted();
	auto *channel = static_cast<rdma_event_channel *>(std::malloc(sizeof(rdma_event_channel)));
	REQUIRE(channel != nullptr);
	channel->fd = kernel.open_file();
	rdma_cm_id *id = nullptr;
	REQUIRE(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP) == 0);
	CHECK(id->channel == channel);
	kernel.raise(handle_of(id), RDMA_CM_EVENT_ADDR_CHANGE);
	rdma_cm_event *read = nullptr;
	REQUIRE(rdma_get_cm_event(channel, &read) == 0);
	CHECK(read->id == id);
	CHECK(rdma_ack_cm_event(read) == 0);
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(kernel.closed.empty()); // it is the program's
	const int fd = channel->fd;
	cm_freed = nullptr;
	void *const was = channel;
	rdma_destroy_event_channel(channel);
	CHECK(cm_freed == was);
	CHECK(kernel.closed == std::vector<int>{fd});
}

TEST_CASE("channel: a synchronous id brings and closes its own")
{
	auto &kernel = booted();
	rdma_cm_id *id = nullptr;
	REQUIRE(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0);
	REQUIRE(id->channel != nullptr);
	CHECK(cm::channels.holds(id->channel));
	const int fd = id->channel->fd;
	CHECK(kernel.count(uapi::create_id::number) == 1);
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(kernel.closed == std::vector<int>{fd});

	// Nothing is left of one that the kernel refuses, or that has no channel.
	void *memory = next_memory();
	kernel.closed.clear();
	kernel.refuse(uapi::create_id::number, EINVAL);
	rdma_cm_id *none = nullptr;
	CHECK(rdma_create_id(nullptr, &none, nullptr, RDMA_PS_TCP) == -1);
	CHECK(errno == EINVAL);
	CHECK(none == nullptr);
	CHECK(kernel.closed.size() == 1);
	CHECK(next_memory() == memory);
	std::vector<cm::identifier *> all;
	cm_out_of_memory = true;
	while (auto *one = cm::ids.take())
		all.push_back(one);
	const int answer = rdma_create_id(nullptr, &none, nullptr, RDMA_PS_TCP);
	const int code = errno;
	cm_out_of_memory = false;
	for (auto *one : all)
		cm::ids.give(one);
	CHECK(answer == -1);
	CHECK(code == ENOMEM);
	CHECK(kernel.closed.size() == 2);
	CHECK(next_memory() == memory);
	kernel.open_errno = EMFILE;
	CHECK(rdma_create_id(nullptr, &none, nullptr, RDMA_PS_TCP) == -1);
	CHECK(errno == EMFILE);
	CHECK(none == nullptr);
}
