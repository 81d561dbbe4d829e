// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/checks.hpp"

#include <charconv>

#include <fmt/format.h>

namespace qpattr::tool::doctor {
namespace {

constexpr const char *cm_class = "/sys/class/misc/rdma_cm";
constexpr const char *verbs_class = "/sys/class/infiniband_verbs";

// In a container modprobe would fail, and the modules are the host's anyway.
std::string load(const machine &of, const char *module)
{
	const std::string container = container_of(of);
	return container.empty() ? fmt::format("modprobe {}", module)
				 : fmt::format("on the host: modprobe {}", module);
}

bool has_sysfs(const machine &of)
{
	return of.exists("/sys/class");
}

} // namespace

void check_modules(const machine &of, findings &to)
{
	if (!has_sysfs(of)) {
		to.problem("sysfs", "/sys has no class: sysfs is not mounted, and nothing is found "
				    "without it",
			   "mount -t sysfs sysfs /sys");
		return;
	}
	// Built into the kernel they are no modules, but their classes are there.
	for (const auto &[module, where, does] :
	     {std::tuple{"rdma_ucm", cm_class, "connections cannot be made"},
	      std::tuple{"ib_uverbs", verbs_class, "no program sees a device"}})
		if (of.exists(where))
			to.ok("module", fmt::format("{} is loaded", module));
		else
			to.problem("module", fmt::format("{} is not loaded: {}", module, does),
				   load(of, module));
}

void check_abi(const machine &of, findings &to)
{
	const auto version = of.line(std::string{cm_class} + "/abi_version");
	if (!of.exists(cm_class))
		to.not_applicable("abi", "without rdma_ucm there is no ABI version");
	else if (!version)
		to.problem("abi", fmt::format("{}/abi_version cannot be read", cm_class),
			   "mount sysfs where it is not, or give it to the container");
	else if (*version == "4")
		to.ok("abi", "version 4 of the rdma_cm device, the one that qpattr speaks");
	else
		to.problem("abi",
			   fmt::format("the rdma_cm device has ABI version {}, qpattr speaks 4",
				       *version),
			   "use a qpattr for this kernel");
}

// 0 looks like "no limit" and is the opposite: no request is ever delivered.
void check_backlog(const machine &of, findings &to)
{
	const auto text = of.line("/proc/sys/net/rdma_ucm/max_backlog");
	if (!text) {
		to.not_applicable("backlog", "net.rdma_ucm.max_backlog is not to be seen here: only "
					     "the first network namespace has it, with rdma_ucm");
		return;
	}
	int most = 0;
	std::from_chars(text->data(), text->data() + text->size(), most);
	if (most == 0)
		to.problem("backlog",
			   "net.rdma_ucm.max_backlog is 0, so that no listener here ever gets a "
			   "connection request; clients wait until they end as UNREACHABLE",
			   "sysctl net.rdma_ucm.max_backlog=1024");
	else if (most > 0 && most < 16)
		to.warning("backlog",
			   fmt::format("net.rdma_ucm.max_backlog is {}: of more requests at once the "
				       "rest is dropped, and sent again after some seconds",
				       most),
			   "sysctl net.rdma_ucm.max_backlog=1024");
	else
		to.ok("backlog", most < 0 ? "listeners have no limit of requests"
					  : fmt::format("listeners keep up to {} requests", most));
}

} // namespace qpattr::tool::doctor
