// SPDX-License-Identifier: MIT
#include "lib/preload/limits.hpp"

#include <atomic>
#include <cstring>
#include <dlfcn.h>

#include "lib/preload/looker.hpp"

namespace qpattr::preload {
namespace {

// The functions of the libibverbs in this process, which cannot be unloaded
// meanwhile.
class verbs {
public:
	verbs() noexcept
	{
		// In a child that was forked while another thread was in the dynamic
		// linker its lock may be held for ever.
		if (looker_.may_look())
			library_ = ::dlopen("libibverbs.so.1", RTLD_NOLOAD | RTLD_LAZY);
		if (!library_)
			return;
		query_device_ =
			reinterpret_cast<query_device_fn *>(::dlsym(library_, "ibv_query_device"));
		query_port_ =
			reinterpret_cast<query_port_fn *>(::dlsym(library_, "ibv_query_port"));
	}
	~verbs()
	{
		if (library_)
			::dlclose(library_);
	}
	verbs(const verbs &) = delete;
	verbs &operator=(const verbs &) = delete;

	[[nodiscard]] bool query(ibv_context *device, ibv_device_attr &out) const noexcept
	{
		return query_device_ && query_device_(device, &out) == 0;
	}
	// The exported function fills the beginning of the struct, all that is wanted.
	[[nodiscard]] bool query(ibv_context *device, std::uint8_t port,
				 ibv_port_attr &out) const noexcept
	{
		std::memset(&out, 0, sizeof out);
		return query_port_ &&
		       query_port_(device, port, reinterpret_cast<_compat_ibv_port_attr *>(&out)) ==
			       0;
	}

private:
	using query_device_fn = int(ibv_context *, ibv_device_attr *);
	using query_port_fn = int(ibv_context *, std::uint8_t, _compat_ibv_port_attr *);

	const looker looker_;
	void *library_ = nullptr;
	query_device_fn *query_device_ = nullptr;
	query_port_fn *query_port_ = nullptr;
};

struct depths {
	std::uint32_t initiator = 0; // max_rd_atomic
	std::uint32_t responder = 0; // max_dest_rd_atomic
};

// Of a device these do not change, and some drivers ask the firmware for them. A port's
// MTU and tables do change.
struct remembered {
	enum : int { free, filling, filled };
	std::atomic<int> state{free};
	char device[IBV_SYSFS_NAME_MAX] = {};
	depths limits;
};
constexpr std::size_t devices_max = 16;
constinit remembered devices[devices_max];

bool depths_of(const connection &where, depths &out) noexcept
{
	for (const remembered &each : devices)
		if (each.state.load(std::memory_order_acquire) == remembered::filled &&
		    std::strcmp(each.device, where.device) == 0) {
			out = each.limits;
			return true;
		}
	ibv_device_attr device;
	if (!verbs{}.query(where.verbs, device))
		return false;
	const auto depth = [](int count) noexcept {
		return count < 0 ? 0 : static_cast<std::uint32_t>(count);
	};
	out = {depth(device.max_qp_init_rd_atom), depth(device.max_qp_rd_atom)};
	for (remembered &each : devices) {
		int expected = remembered::free;
		if (!each.state.compare_exchange_strong(expected, remembered::filling))
			continue;
		std::memcpy(each.device, where.device, sizeof each.device);
		each.limits = out;
		each.state.store(remembered::filled, std::memory_order_release);
		break;
	}
	return true;
}

constexpr verdict unknown{verdict::kind::unknown, 0, ""};

verdict at_most(std::uint32_t limit, std::uint32_t number, const char *why) noexcept
{
	return number <= limit ? verdict{} : verdict{verdict::kind::beyond, limit, why};
}

// The last entry of a table.
verdict within(int entries, std::uint32_t number, const char *why) noexcept
{
	return at_most(entries > 0 ? static_cast<std::uint32_t>(entries) - 1 : 0, number, why);
}

bool is_field(const attr::attribute &what, std::size_t offset) noexcept
{
	return what.offset == offset;
}

} // namespace

verdict check_limit(const attr::attribute &what, std::uint32_t number,
		    const connection &where) noexcept
{
	const bool initiator = is_field(what, offsetof(ibv_qp_attr, max_rd_atomic));
	if (initiator || is_field(what, offsetof(ibv_qp_attr, max_dest_rd_atomic))) {
		depths limits;
		if (!where.verbs || !depths_of(where, limits))
			return unknown;
		return initiator ? at_most(limits.initiator, number,
					   "above what the device starts at a time")
				 : at_most(limits.responder, number,
					   "above what the device serves at a time");
	}
	const bool mtu = is_field(what, offsetof(ibv_qp_attr, path_mtu));
	const bool gid = is_field(what, offsetof(ibv_qp_attr, ah_attr.grh.sgid_index));
	if (!mtu && !gid && !is_field(what, offsetof(ibv_qp_attr, pkey_index)))
		return {};
	ibv_port_attr port;
	if (!where.verbs || !where.port || !verbs{}.query(where.verbs, where.port, port))
		return unknown;
	if (mtu)
		return at_most(port.active_mtu, number, "above the port's active MTU");
	return gid ? within(port.gid_tbl_len, number, "beyond the port's GID table")
		   : within(port.pkey_tbl_len, number, "beyond the port's P_Key table");
}

} // namespace qpattr::preload
