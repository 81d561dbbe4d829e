// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/checks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <grp.h>
#include <pwd.h>

#include <fmt/format.h>

namespace qpattr::tool::doctor {
namespace {

constexpr const char *cm_path = "/dev/infiniband/rdma_cm";

std::string user_name(uid_t uid)
{
	const passwd *const found = ::getpwuid(uid);
	return found ? found->pw_name : std::to_string(uid);
}

std::string group_name(gid_t gid)
{
	const group *const found = ::getgrgid(gid);
	return found ? found->gr_name : std::to_string(gid);
}

std::string who(const identity &me)
{
	return me.user.empty() ? fmt::format("user ID {}", me.uid)
			       : fmt::format("{} ({})", me.user, me.uid);
}

std::string describe(const std::string &path, const node &it)
{
	return fmt::format("{} is {}:{}, mode {:04o}, {}:{}", path, it.major, it.minor, it.mode,
			   user_name(it.uid), group_name(it.gid));
}

// What gives a container the node, and somebody else than a container.
std::string bring(const machine &of, const std::string &path, const char *otherwise)
{
	const std::string container = container_of(of);
	if (container.empty())
		return otherwise;
	return fmt::format("start the container with --device={}", path);
}

std::string permission_fix(const machine &of, const std::string &path, const node &it)
{
	const bool group_may = (it.mode & 0060) == 0060 && it.gid != 0;
	if (group_may && !of.me.user.empty())
		return fmt::format("usermod -aG {} {}, and log in again", group_name(it.gid),
				   of.me.user);
	const std::string name = path.substr(path.rfind('/') + 1);
	return fmt::format("chmod 0666 {}; for ever by udev: KERNEL==\"{}\", MODE=\"0666\"", path,
			   name.rfind("uverbs", 0) == 0 ? "uverbs*" : name);
}

void report_open(const machine &of, const char *check, const std::string &path, const node &it,
		 findings &to)
{
	const std::string text = describe(path, it);
	switch (it.open_error) {
	case 0:
		to.ok(check, fmt::format("{}; {} may open it", text, who(of.me)));
		return;
	case EACCES:
		to.problem(check, fmt::format("{}; {} may not open it", text, who(of.me)),
			   permission_fix(of, path, it));
		return;
	case EPERM:
		to.problem(check,
			   fmt::format("{}, but opening it is forbidden by the device cgroup", text),
			   bring(of, path,
				 "allow it in the cgroup: DeviceAllow= of the systemd unit"));
		return;
	case ENXIO:
	case ENODEV:
		to.problem(check, fmt::format("{}, but no driver is behind it: an old node", text),
			   bring(of, path,
				 fmt::format("rm {}; then load its module again", path).c_str()));
		return;
	default:
		to.problem(check,
			   fmt::format("{}: open: {}", text, std::strerror(it.open_error)),
			   it.open_error == EMFILE || it.open_error == ENFILE
				   ? "raise the limit of open files: ulimit -n"
				   : "see dmesg");
	}
}

// The node with the number that sysfs tells, `dev`: an old node, or one of a container
// that was made when another kernel ran, leads elsewhere or nowhere.
void check_node(const machine &of, const char *check, const std::string &path,
		const std::string &dev, findings &to)
{
	const node it = of.node_at(path);
	if (it.error) {
		const bool missing = it.error == ENOENT;
		to.problem(check,
			   missing ? fmt::format("{} does not exist, though the kernel has {}", path,
						 dev)
				   : fmt::format("{}: {}", path, std::strerror(it.error)),
			   missing ? bring(of, path,
					   "udevadm trigger; or mount devtmpfs on /dev")
				   : "a directory above it may not be searched: chmod a+x "
				     "/dev/infiniband");
		return;
	}
	if (!it.is_character_device) {
		to.problem(check, fmt::format("{} is no character device", path),
			   fmt::format("rm {} and udevadm trigger", path));
		return;
	}
	if (const std::string is = fmt::format("{}:{}", it.major, it.minor); is != dev) {
		to.problem(check,
			   fmt::format("{} is {}, but the kernel's device is {}: a node of old", path,
				       is, dev),
			   bring(of, path, fmt::format("rm {} and udevadm trigger", path).c_str()));
		return;
	}
	report_open(of, check, path, it, to);
}

} // namespace

void check_cm_node(const machine &of, findings &to)
{
	const auto dev = of.line("/sys/class/misc/rdma_cm/dev");
	if (!dev) {
		to.not_applicable("node", fmt::format("without rdma_ucm {} is not looked at", cm_path));
		return;
	}
	check_node(of, "node", cm_path, *dev, to);
	// The same by the way that qpattr's library goes, which tells its stage.
	if (of.cm.error == 0)
		to.ok("open", "qpattr opens the connection manager's device");
	else
		to.problem("open",
			   fmt::format("qpattr cannot open the connection manager's device: stage "
				       "{}, {}",
				       of.cm.stage, std::strerror(of.cm.error)),
			   "see what is said of the node above");
}

void check_verbs_nodes(const machine &of, findings &to)
{
	const std::string dir = "/sys/class/infiniband_verbs/";
	for (const std::string &each : of.entries(dir)) {
		const auto dev = of.line(dir + each + "/dev");
		const auto device = of.line(dir + each + "/ibdev");
		if (!dev || !device)
			continue; // abi_version
		// Of a device that is another namespace's there is nothing to be opened here.
		const auto all = devices_of(of);
		if (std::find(all.begin(), all.end(), *device) == all.end())
			continue;
		check_node(of, "uverbs", "/dev/infiniband/" + each, *dev, to);
	}
}

} // namespace qpattr::tool::doctor
