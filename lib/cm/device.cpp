// SPDX-License-Identifier: MIT
#include "lib/cm/device.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <pthread.h>

#include "lib/cm/edge.hpp"
#include "lib/cm/locked.hpp"
#include "lib/cm/uncancelled.hpp"
#include "lib/cm/verbs_error.hpp"

#include <rdma/rdma_cma.h>

// Newer than the oldest libibverbs that we work with.
extern "C" int ibv_get_device_index(ibv_device *) __attribute__((weak));

namespace qpattr::cm {
namespace {

constinit std::atomic<device *> opened{nullptr};
// Never taken on the way of a connection once its device is open.
constinit pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
// Whether libibverbs has looked for its drivers.
constinit std::atomic<bool> started{false};

class opening_lock {
	uncancelled held_;
	locked lock_{fork_safe<opening>()};
};

constexpr std::uint32_t no_index = 0xffffffffU;

std::uint32_t index_of(ibv_device *dev) noexcept
{
	if (!&ibv_get_device_index)
		return no_index;
	const int index = ibv_get_device_index(dev);
	return index < 0 ? no_index : static_cast<std::uint32_t>(index);
}

bool is(std::uint64_t guid, std::uint32_t index, std::uint64_t wanted_guid,
	std::uint32_t wanted_index) noexcept
{
	return guid == wanted_guid &&
	       (index == wanted_index || index == no_index || wanted_index == no_index);
}

device *find_opened(std::uint64_t guid, std::uint32_t index) noexcept
{
	for (device *dev = opened.load(std::memory_order_acquire); dev; dev = dev->next)
		if (is(dev->guid, dev->index, guid, index))
			return dev;
	return nullptr;
}

std::uint8_t byte_of(int limit) noexcept
{
	return static_cast<std::uint8_t>(limit < 0 ? 0 : limit > 0xff ? 0xff : limit);
}

result<device *> open_verbs(ibv_device *found) noexcept
{
	errno = 0;
	ibv_context *verbs = ibv_open_device(found);
	if (!verbs)
		return nothing_made(ENODEV);
	ibv_device_attr limits{};
	const int refused = ibv_query_device(verbs, &limits);
	ibv_pd *pd = refused ? nullptr : ibv_alloc_pd(verbs);
	void *memory = pd ? std::calloc(1, sizeof(device)) : nullptr;
	if (!memory) {
		const failure why = refused ? verbs_failure(refused)
				    : pd    ? failure{ENOMEM, QPATTR_STAGE_COMMAND}
					    : nothing_made(ENODEV);
		if (pd)
			ibv_dealloc_pd(pd);
		ibv_close_device(verbs);
		return why;
	}
	auto *dev = new (memory) device{};
	dev->verbs = verbs;
	dev->pd = pd;
	dev->guid = ibv_get_device_guid(found);
	dev->index = index_of(found);
	dev->max_responder_resources = byte_of(limits.max_qp_rd_atom);
	dev->max_initiator_depth = byte_of(limits.max_qp_init_rd_atom);
	dev->next = opened.load(std::memory_order_relaxed);
	opened.store(dev, std::memory_order_release);
	return dev;
}

// The devices that libibverbs sees now, for as long as this lives, with the lock
// that makes each opened once.
class present {
public:
	present() noexcept : list_{ibv_get_device_list(&count_)}
	{
		if (!list_)
			say("libibverbs tells of no devices: errno %d", errno);
		else
			started.store(true, std::memory_order_release);
	}
	~present()
	{
		if (list_)
			ibv_free_device_list(list_);
	}
	present(const present &) = delete;
	present &operator=(const present &) = delete;

	[[nodiscard]] int count() const noexcept { return list_ ? count_ : 0; }

	// Opens it, where it is not yet.
	result<device *> open(int at) noexcept
	{
		ibv_device *found = list_[at];
		if (device *dev = find_opened(ibv_get_device_guid(found), index_of(found)))
			return dev;
		return open_verbs(found);
	}
	[[nodiscard]] bool matches(int at, std::uint64_t guid, std::uint32_t index) const noexcept
	{
		return is(ibv_get_device_guid(list_[at]), index_of(list_[at]), guid, index);
	}

private:
	opening_lock lock_; // before the list is asked for
	int count_ = 0;
	ibv_device **list_;
};

} // namespace

void start_verbs() noexcept
{
	if (!started.load(std::memory_order_acquire))
		const present looked_for;
}

result<device *> device_of(std::uint64_t guid, std::uint32_t index) noexcept
{
	if (device *dev = find_opened(guid, index))
		return dev;
	present devices;
	for (int at = 0; at < devices.count(); ++at)
		if (devices.matches(at, guid, index))
			return devices.open(at);
	say("libibverbs has no device for one of the kernel's: its driver is missing (in a static "
	    "program: -Wl,-u,verbs_provider_all)");
	return failure{ENODEV, QPATTR_STAGE_COMMAND};
}

device *device_of(const ibv_context *verbs) noexcept
{
	device *dev = opened.load(std::memory_order_acquire);
	while (dev && dev->verbs != verbs)
		dev = dev->next;
	return dev;
}

result<ibv_xrcd *> default_xrcd(const ibv_context *verbs) noexcept
{
	device *dev = device_of(verbs);
	if (!dev)
		return failure{EINVAL, QPATTR_STAGE_ARGUMENT};
	const opening_lock lock;
	if (!dev->xrcd) {
		ibv_xrcd_init_attr wanted{};
		wanted.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
		wanted.fd = -1;
		wanted.oflags = O_CREAT;
		errno = 0;
		dev->xrcd = ibv_open_xrcd(dev->verbs, &wanted);
	}
	if (!dev->xrcd)
		return nothing_made(EOPNOTSUPP);
	return dev->xrcd;
}

bool is_ethernet(device &dev, std::uint8_t port) noexcept
{
	const bool kept = port < sizeof dev.layers / sizeof dev.layers[0];
	std::uint8_t layer = kept ? dev.layers[port].load(std::memory_order_relaxed) : 0;
	if (!layer) {
		const uncancelled held;
		ibv_port_attr attributes{};
		if (ibv_query_port(dev.verbs, port, &attributes) != 0)
			return false;
		layer = attributes.link_layer;
		if (kept)
			dev.layers[port].store(layer, std::memory_order_relaxed);
	}
	return layer == IBV_LINK_LAYER_ETHERNET;
}

} // namespace qpattr::cm

using namespace qpattr::cm;

// The contexts stay open; only the list is the caller's.
ibv_context **rdma_get_devices(int *num_devices)
{
	const call made;
	present devices;
	if (!devices.count()) {
		if (num_devices)
			*num_devices = 0;
		errno = ENODEV;
		return nullptr;
	}
	auto **list = static_cast<ibv_context **>(
		std::calloc(static_cast<std::size_t>(devices.count()) + 1, sizeof(ibv_context *)));
	if (!list) {
		errno = ENOMEM;
		return nullptr;
	}
	int opened_count = 0;
	for (int at = 0; at < devices.count(); ++at)
		// One that cannot be opened does not hide the others.
		if (const auto dev = devices.open(at))
			list[opened_count++] = dev.value()->verbs;
	if (num_devices)
		*num_devices = opened_count;
	made.succeeded();
	return list;
}

void rdma_free_devices(ibv_context **list)
{
	std::free(list);
}
