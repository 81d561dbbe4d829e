// SPDX-License-Identifier: MIT
#include "lib/cm/channel.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cm/any_device.hpp"
#include "lib/cm/device.hpp"
#include "lib/cm/left_events.hpp"
#include "lib/cm/live.hpp"
#include "lib/cm/uncancelled.hpp"
#include "lib/cm/wanted_module.hpp"
#include "lib/say.hpp"
#include "lib/ucma/device.hpp"

namespace qpattr::cm {
namespace {

// The device number that sysfs told, once it did: synchronous ids open a channel
// each, and need not ask again. 0: not known yet.
constinit std::atomic<dev_t> known{0};

result<int> open_known(const char *path) noexcept
{
	const dev_t device = known.load(std::memory_order_relaxed);
	struct stat node;
	if (!device || ::stat(path, &node) != 0 || !ucma::is_device(node, device))
		return failure{ENODEV, QPATTR_STAGE_IDENTIFY};
	return ucma::open_node(path, device);
}

// No node; or one that outlived the module, as in a container.
bool is_not_loaded(const failure &why) noexcept
{
	return (why.stage == QPATTR_STAGE_NODE && why.code == ENOENT) ||
	       (why.stage == QPATTR_STAGE_IDENTIFY && why.code == ENODEV);
}

result<int> open_descriptor() noexcept
{
	const ucma::device_paths paths;
	if (const auto fd = open_known(paths.node); fd)
		return fd;
	// The first, or the module was loaded anew: the number changes then.
	auto fd = ucma::open_device(paths);
	if (!fd && is_not_loaded(fd.why())) {
		want_module();
		fd = ucma::open_device(paths);
	}
	struct stat node;
	if (fd && ::fstat(fd.value(), &node) == 0)
		known.store(node.st_rdev, std::memory_order_relaxed);
	return fd;
}

} // namespace

result<rdma_event_channel *> open_channel() noexcept
{
	const uncancelled held;
	// As stock: nothing can come of a channel then.
	if (!any_device()) {
		say("no event channel: there is no RDMA device (ibv_devices)");
		return failure{ENODEV, QPATTR_STAGE_OPEN};
	}
	rdma_event_channel *channel = channels.take();
	if (!channel)
		return failure{ENOMEM, QPATTR_STAGE_OPEN};
	const auto fd = open_descriptor();
	if (!fd) {
		// No file of whoever still holds a pointer to what was here.
		channel->fd = -1;
		channels.give(channel);
		say("no event channel: %s, stage %s (docs/errors.md)", QPATTR_DEVICE_PATH,
		    qpattr_stage_name(fd.why().stage));
		return fd.why();
	}
	channel->fd = fd.value();
	start_verbs();
	return channel;
}

void close_channel(rdma_event_channel *channel) noexcept
{
	const uncancelled held;
	forget_left_events(channel->fd);
	::close(channel->fd);
	// Whoever still holds the pointer gets EBADF, not another file.
	channel->fd = -1;
	channels.give(channel);
}

} // namespace qpattr::cm

using namespace qpattr;

rdma_event_channel *rdma_create_event_channel(void)
{
	const int saved = errno;
	const auto opened = cm::open_channel();
	errno = opened ? saved : opened.why().code;
	return opened.value();
}

void rdma_destroy_event_channel(rdma_event_channel *channel)
{
	const int saved = errno;
	if (cm::channels.holds(channel)) {
		cm::close_channel(channel);
	} else if (channel && !cm::channels.owns(channel)) {
		// One that the program made itself, with malloc().
		::close(channel->fd);
		std::free(channel);
	}
	errno = saved;
}
