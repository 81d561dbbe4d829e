// SPDX-License-Identifier: MIT
#include "tools/conformance/prerequisites.hpp"
#include "tools/resolved.hpp"
#include "tools/stock_version.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <map>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

namespace conformance {
namespace {

constexpr const char *library = "librdmacm.so.1";
constexpr const char *function = "rdma_init_qp_attr";
constexpr const char *node = "/dev/infiniband/rdma_cm";

const char *label_of(const sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return "ipv4";
	const auto *v6 = reinterpret_cast<const sockaddr_in6 *>(address);
	return IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) ? "link-local" : "ipv6";
}

} // namespace

stock_library find_stock()
{
	void *handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		throw cannot_run(std::string{"no stock library to compare with: "} + ::dlerror() +
				 "; install librdmacm (librdmacm1)");
	void *found = ::dlsym(handle, function);
	Dl_info info;
	void *any = found ? found : ::dlsym(handle, "rdma_create_event_channel");
	const bool placed = any && ::dladdr(any, &info) != 0;
	const std::string path = placed ? qpattr::resolved_or(info.dli_fname, library) : library;
	// The handle stays open: closing would run its destructors for nothing.
	if (!found)
		throw cannot_run(path + " has no " + function +
				 ": it is older than the function (RDMACM_1.2); install a later "
				 "librdmacm");
	if (!path.substr(path.rfind('/') + 1).starts_with(library))
		throw cannot_run("stock's " + std::string{function} + " is bound to " + path +
				 ": run it without LD_AUDIT");
	return {path, qpattr::stock_version_in(path)};
}

void look_for_device_node()
{
	const int fd = ::open(node, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		::close(fd);
		return;
	}
	const int code = errno;
	std::string fix = "see `ls -l /dev/infiniband`";
	if (code == ENOENT || code == ENODEV || code == ENXIO)
		fix = "load the module: modprobe rdma_ucm";
	else if (code == EACCES || code == EPERM)
		fix = "run as a user who may open it";
	throw cannot_run(std::string{node} + ": " + std::strerror(code) + "; " + fix);
}

std::string wrong_with_verbs_nodes()
{
	constexpr const char *devices = "/sys/class/infiniband_verbs";
	DIR *dir = ::opendir(devices);
	std::string out;
	while (const dirent *each = dir ? ::readdir(dir) : nullptr) {
		const std::string name = each->d_name;
		const std::string path = "/dev/infiniband/" + name;
		if (name.starts_with("uverbs") && ::access(path.c_str(), R_OK | W_OK) != 0)
			out += "; " + path + ": " + std::strerror(errno);
	}
	if (dir)
		::closedir(dir);
	return out;
}

std::vector<labelled_address> addresses_here()
{
	ifaddrs *first = nullptr;
	if (::getifaddrs(&first) != 0)
		throw cannot_run(std::string{"getifaddrs: "} + std::strerror(errno));
	std::vector<labelled_address> out;
	std::map<std::string, int> seen;
	for (const ifaddrs *each = first; each; each = each->ifa_next) {
		const sockaddr *address = each->ifa_addr;
		if (!address || !(each->ifa_flags & IFF_UP) || (each->ifa_flags & IFF_LOOPBACK) ||
		    (address->sa_family != AF_INET && address->sa_family != AF_INET6))
			continue;
		char text[NI_MAXHOST];
		const socklen_t len = address->sa_family == AF_INET ? sizeof(sockaddr_in)
								    : sizeof(sockaddr_in6);
		if (::getnameinfo(address, len, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
			continue;
		std::string label = label_of(address);
		if (const int times = ++seen[label]; times > 1)
			label.append("-").append(std::to_string(times));
		out.push_back({label, text});
	}
	::freeifaddrs(first);
	return out;
}

} // namespace conformance
