// SPDX-License-Identifier: MIT
// What doctor's machine is filled with, where it is this one.
#include "tools/qpattr/doctor/machine.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <qpattr/qpattr.hpp>

#include "tools/qpattr/doctor/stock.hpp"

namespace qpattr::tool::doctor {
namespace {

node look_at_node(const std::string &path)
{
	node out;
	struct stat is;
	if (::stat(path.c_str(), &is) != 0) {
		out.error = errno;
		return out;
	}
	out.is_character_device = S_ISCHR(is.st_mode);
	out.major = major(is.st_rdev);
	out.minor = minor(is.st_rdev);
	out.mode = is.st_mode & 07777;
	out.uid = is.st_uid;
	out.gid = is.st_gid;
	if (!out.is_character_device)
		return out;
	const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		out.open_error = errno;
	else
		::close(fd);
	return out;
}

identity look_at_myself()
{
	identity out;
	out.uid = ::geteuid();
	out.gid = ::getegid();
	const int count = ::getgroups(0, nullptr);
	out.groups.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
	if (count > 0 && ::getgroups(count, out.groups.data()) < 0)
		out.groups.clear();
	if (const passwd *const me = ::getpwuid(out.uid))
		out.user = me->pw_name;
	return out;
}

opening look_at_opening()
{
	qpattr_stage stage;
	const int fd = ::qpattr_device_open(nullptr, &stage);
	if (fd < 0)
		return {errno, ::qpattr_stage_name(stage)};
	::close(fd);
	return {};
}

using address_list = std::unique_ptr<ifaddrs, void (*)(ifaddrs *)>;

address_list all_addresses()
{
	ifaddrs *first = nullptr;
	if (::getifaddrs(&first) != 0)
		first = nullptr;
	return {first, ::freeifaddrs};
}

std::map<std::string, interface> look_at_interfaces(const ifaddrs *first)
{
	std::map<std::string, interface> out;
	const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (const ifaddrs *each = first; each; each = each->ifa_next) {
		interface &is = out[each->ifa_name];
		is.up = (each->ifa_flags & IFF_UP) != 0;
		ifreq asked{};
		std::strncpy(asked.ifr_name, each->ifa_name, sizeof asked.ifr_name - 1);
		if (!is.mtu_bytes && fd >= 0 && ::ioctl(fd, SIOCGIFMTU, &asked) == 0)
			is.mtu_bytes = static_cast<unsigned>(asked.ifr_mtu);
	}
	if (fd >= 0)
		::close(fd);
	return out;
}

verbs_device look_at_device(ibv_device *device)
{
	verbs_device out;
	errno = 0;
	ibv_context *const context = ::ibv_open_device(device);
	if (!context) {
		out.error = errno ? errno : ENODEV;
		return out;
	}
	ibv_device_attr limits;
	if (::ibv_query_device(context, &limits) == 0)
		for (unsigned port = 1; port <= limits.phys_port_cnt; ++port) {
			ibv_port_attr is{};
			if (::ibv_query_port(context, static_cast<std::uint8_t>(port), &is) == 0)
				out.ports[port] = {static_cast<std::uint32_t>(is.active_mtu),
						   static_cast<std::uint32_t>(is.max_mtu)};
		}
	::ibv_close_device(context);
	return out;
}

void look_at_verbs(machine &to)
{
	int count = 0;
	ibv_device **const list = ::ibv_get_device_list(&count);
	if (!list) {
		to.verbs_error = std::strerror(errno);
		return;
	}
	for (int i = 0; i < count; ++i)
		to.verbs[::ibv_get_device_name(list[i])] = look_at_device(list[i]);
	::ibv_free_device_list(list);
}

// As sysfs writes it.
std::string gid_text(const ibv_gid &gid)
{
	std::string out;
	for (unsigned i = 0; i < 16; ++i) {
		constexpr const char *digits = "0123456789abcdef";
		if (i && i % 2 == 0)
			out += ':';
		out += digits[gid.raw[i] >> 4];
		out += digits[gid.raw[i] & 15];
	}
	return out;
}

address_use failed(address_use use, error why)
{
	use.error = why.code;
	use.call = why.call;
	use.hint = *why.hint() ? why.hint() : std::strerror(why.code);
	return use;
}

// By the connection manager of our own: what the kernel decides for any program.
address_use try_address(channel &on, const sockaddr &address, address_use use)
{
	const auto made = id::create(on);
	if (!made)
		return failed(use, made.why());
	const id_ref it = made.value();
	if (const auto bound = it.bind(address); !bound)
		return failed(use, bound.why());
	if (!it.verbs())
		return failed(use, {ENODEV, "rdma_bind_addr"});
	const auto asked = it.attributes_for(IBV_QPS_INIT);
	if (!asked)
		return failed(use, asked.why());
	use.device = ::ibv_get_device_name(it.verbs()->device);
	use.port = it.port_num();
	use.gid = gid_text(it.native_handle()->route.addr.addr.ibaddr.sgid);
	use.mask = static_cast<unsigned>(asked.value().mask);
	return use;
}

std::vector<address_use> look_at_addresses(const ifaddrs *first)
{
	std::vector<address_use> out;
	auto opened = channel::create();
	if (!opened)
		return out;
	channel on = std::move(opened).value();
	for (const ifaddrs *each = first; each; each = each->ifa_next) {
		const sockaddr *const is = each->ifa_addr;
		if (!is || !(each->ifa_flags & IFF_UP) || (each->ifa_flags & IFF_LOOPBACK) ||
		    (is->sa_family != AF_INET && is->sa_family != AF_INET6))
			continue;
		char text[NI_MAXHOST];
		const socklen_t len =
			is->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
		if (::getnameinfo(is, len, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
			continue;
		address_use use;
		use.address = text;
		use.interface = each->ifa_name;
		out.push_back(try_address(on, *is, use));
	}
	return out;
}

} // namespace

machine look()
{
	machine out;
	out.node_at = look_at_node;
	out.me = look_at_myself();
	out.cm = look_at_opening();
	rlimit limit{};
	if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		out.memlock_bytes = limit.rlim_cur;
	const address_list addresses = all_addresses();
	out.interfaces = look_at_interfaces(addresses.get());
	look_at_verbs(out);
	// A librdmacm would load rdma_ucm where it is missing; so would ours. What is wrong
	// is to be told, not changed.
	if (!out.cm.error)
		out.addresses = look_at_addresses(addresses.get());
	out.stock = look_at_stock();
	out.preload = try_interception(out);
	return out;
}

} // namespace qpattr::tool::doctor
