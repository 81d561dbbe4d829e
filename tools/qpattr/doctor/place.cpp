// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/checks.hpp"

#include <charconv>
#include <cstdint>
#include <sstream>

#include <fmt/format.h>

namespace qpattr::tool::doctor {
namespace {

// The first user namespace maps every ID to itself.
bool in_first_users(const machine &of)
{
	if (!of.exists("/proc/self/uid_map"))
		return true; // nothing says otherwise
	// Empty in a namespace that nothing is mapped into yet.
	std::istringstream in{of.line("/proc/self/uid_map").value_or("")};
	std::uint64_t inside = 0, outside = 0, count = 0;
	in >> inside >> outside >> count;
	return inside == 0 && outside == 0 && count == 4294967295;
}

void check_users(const machine &of, findings &to)
{
	if (in_first_users(of))
		to.ok("namespace", "users: the first user namespace");
	else
		to.warning("namespace",
			   "users: a user namespace of its own, in which root has no rights on the "
			   "devices of the machine; ports below 1024 are refused (EACCES)",
			   "where opening a node is refused: run outside of it, or without "
			   "--userns and --map-root-user");
}

void check_network(const machine &of, findings &to)
{
	const bool loaded = of.exists("/sys/class/misc/rdma_cm");
	const auto mode = of.line("/sys/module/ib_core/parameters/netns_mode");
	const char *const says = !mode		  ? "not told"
				 : *mode == "Y" ? "shared: devices are seen in all"
						: "exclusive: each device is in one";
	if (!loaded)
		to.not_applicable("namespace", "network: without rdma_ucm it is not told which");
	else if (in_first_network(of))
		to.ok("namespace",
		      fmt::format("network: the first network namespace; RDMA mode {}", says));
	else if (mode && *mode != "Y" && devices_of(of).empty())
		to.problem("namespace",
			   "network: a namespace of its own without an RDMA device; RDMA mode "
			   "exclusive",
			   "rdma dev set DEVICE netns NAME; or nsenter -t 1 -n, --network host");
	else
		to.ok("namespace",
		      fmt::format("network: a network namespace of its own; RDMA mode {}", says));
}

struct number_of_text {
	std::uint64_t value = 0;
	bool is = false; // not "max"
};

number_of_text number_in(const std::string &line, const std::string &key)
{
	number_of_text out;
	const auto at = line.find(key + "=");
	if (at == std::string::npos)
		return out;
	const char *const begin = line.data() + at + key.size() + 1;
	const auto read = std::from_chars(begin, line.data() + line.size(), out.value);
	out.is = read.ec == std::errc{};
	return out;
}

// Directories of this process's RDMA cgroup and those above it, whose limits hold too.
std::vector<std::string> cgroup_dirs(const machine &of)
{
	std::vector<std::string> out;
	for (const std::string &each : of.lines("/proc/self/cgroup")) {
		const auto first = each.find(':'), second = each.find(':', first + 1);
		if (second == std::string::npos)
			continue;
		const std::string controllers = each.substr(first + 1, second - first - 1);
		if (!controllers.empty() && controllers != "rdma")
			continue;
		const std::string base =
			controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/rdma";
		std::string path = each.substr(second + 1);
		for (; path.size() > 1; path.resize(path.rfind('/')))
			out.push_back(base + path);
		out.push_back(base);
	}
	return out;
}

} // namespace

std::string container_of(const machine &of)
{
	if (of.exists("/.dockerenv"))
		return "docker";
	if (of.exists("/run/.containerenv"))
		return "podman";
	return of.line("/run/systemd/container").value_or("");
}

bool in_first_network(const machine &of)
{
	return of.exists("/proc/sys/net/rdma_ucm");
}

void check_namespaces(const machine &of, findings &to)
{
	if (const std::string container = container_of(of); !container.empty())
		to.ok("namespace", fmt::format("in a container ({})", container));
	check_users(of, to);
	check_network(of, to);
}

void check_cgroup(const machine &of, findings &to)
{
	bool any = false;
	for (const std::string &dir : cgroup_dirs(of)) {
		const std::vector<std::string> used = of.lines(dir + "/rdma.current");
		for (const std::string &limit : of.lines(dir + "/rdma.max")) {
			const std::string device = limit.substr(0, limit.find(' '));
			for (const char *what : {"hca_handle", "hca_object"}) {
				const number_of_text most = number_in(limit, what);
				if (!most.is)
					continue;
				any = true;
				number_of_text now;
				for (const std::string &each : used)
					if (each.rfind(device + " ", 0) == 0)
						now = number_in(each, what);
				const std::string text = fmt::format(
					"{}/rdma.max limits {} of {} to {}, {} in use", dir, what,
					device, most.value, now.value);
				const std::string fix =
					fmt::format("echo '{} {}=max' > {}/rdma.max", device, what,
						    dir);
				if (now.value >= most.value)
					to.problem("cgroup", text + ": no more can be made", fix);
				else
					to.warning("cgroup", text, fix);
			}
		}
	}
	if (!any)
		to.ok("cgroup", "no limit of RDMA objects");
}

void check_memlock(const machine &of, findings &to)
{
	constexpr std::uint64_t mib = 1 << 20;
	constexpr std::uint64_t enough = 64 * mib;
	constexpr unsigned cap_ipc_lock = 14;
	if (!of.memlock_bytes) {
		to.ok("memlock", "memory may be locked without a limit");
		return;
	}
	std::uint64_t capabilities = 0;
	for (const std::string &each : of.lines("/proc/self/status"))
		if (each.rfind("CapEff:\t", 0) == 0)
			std::from_chars(each.data() + 8, each.data() + each.size(), capabilities,
					16);
	const std::string limit = *of.memlock_bytes >= mib
					  ? fmt::format("{} MiB", *of.memlock_bytes / mib)
					  : fmt::format("{} KiB", *of.memlock_bytes / 1024);
	// The capability counts in the first user namespace only.
	if (((capabilities >> cap_ipc_lock) & 1) && in_first_users(of))
		to.ok("memlock",
		      fmt::format("the limit is {}, but CAP_IPC_LOCK lifts it", limit));
	else if (*of.memlock_bytes >= enough)
		to.ok("memlock", fmt::format("{} may be locked; a program that registers more fails "
					     "with ENOMEM",
					     limit));
	else
		to.warning("memlock",
			   fmt::format("only {} may be locked: registering memory soon fails with "
				       "ENOMEM",
				       limit),
			   container_of(of).empty()
				   ? "ulimit -l unlimited; for ever in /etc/security/limits.conf: * - "
				     "memlock unlimited; for a service: LimitMEMLOCK=infinity"
				   : "start the container with --ulimit memlock=-1");
}

} // namespace qpattr::tool::doctor
