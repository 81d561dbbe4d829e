// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/checks.hpp"

#include <charconv>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "lib/attr/lint.hpp"
#include "lib/attr/units.hpp"

namespace qpattr::tool::doctor {
namespace {

constexpr unsigned roce_headers = 96; // of RoCE v2 over IPv6, the most that there are

// "4: ACTIVE" is ACTIVE.
std::string after_colon(const std::string &text)
{
	const auto at = text.find(": ");
	return at == std::string::npos ? text : text.substr(at + 2);
}

unsigned number(const std::string &text, int base = 10)
{
	unsigned out = 0;
	const bool hex = base == 16 && text.rfind("0x", 0) == 0;
	std::from_chars(text.data() + (hex ? 2 : 0), text.data() + text.size(), out, base);
	return out;
}

const verbs_port *verbs_of(const machine &of, const std::string &device, const std::string &port)
{
	const auto found = of.verbs.find(device);
	if (found == of.verbs.end())
		return nullptr;
	const auto at = found->second.ports.find(number(port));
	return at == found->second.ports.end() ? nullptr : &at->second;
}

void check_port(const machine &of, const std::string &device, const std::string &port,
		findings &to)
{
	const std::string dir = port_dir(device, port);
	const std::string state = after_colon(of.line(dir + "state").value_or("unknown"));
	const std::string physical = after_colon(of.line(dir + "phys_state").value_or("unknown"));
	const std::string layer = of.line(dir + "link_layer").value_or("unknown");
	const unsigned lid = number(of.line(dir + "lid").value_or("0"), 16);
	std::string text = fmt::format("{} port {}: {}, {}, {}", device, port, state, layer,
				       of.line(dir + "rate").value_or("rate unknown"));
	const bool ethernet = is_ethernet(of, device, port);
	if (!ethernet)
		text += fmt::format(", LID {}", lid);
	if (const verbs_port *const is = verbs_of(of, device, port))
		text += fmt::format(", MTU active {} of {}", attr::mtu_bytes(is->active_mtu),
				    attr::mtu_bytes(is->max_mtu));
	if (state == "ACTIVE" && (ethernet || lid))
		to.ok("port", text);
	else if (state == "ACTIVE")
		to.problem("port", text + ": no subnet manager gave it a LID",
			   "start a subnet manager (opensm), or look at the one that runs: sminfo");
	else if (!ethernet && (state == "INIT" || state == "ARMED"))
		to.problem("port", text + ": the cable is well, but no subnet manager is there",
			   "start a subnet manager: opensm");
	else
		to.warning("port", fmt::format("{}: link {}", text, physical),
			   ethernet ? "ip link set INTERFACE up; look at the cable and the switch"
				    : "look at the cable and the switch: ibstat");
}

// Interfaces that lead to a port: those of its GIDs.
std::set<std::string> interfaces_of(const machine &of, const std::string &device,
				    const std::string &port)
{
	std::set<std::string> out;
	for (const gid_entry &each : gids_of(of, device, port))
		if (!each.interface.empty())
			out.insert(each.interface);
	return out;
}

void check_interface_mtu(const std::string &name, const interface &is, const std::string &where,
			 const verbs_port *verbs, findings &to)
{
	const std::uint32_t code = attr::mtu_of_interface(is.mtu_bytes);
	const unsigned path = attr::mtu_bytes(code);
	const std::string text = fmt::format("{}: {} has MTU {}", where, name, is.mtu_bytes);
	if (path == 0) {
		to.problem("mtu",
			   fmt::format("{}, too little for RoCE: resolving a route is refused "
				       "(EINVAL)",
				       text),
			   fmt::format("ip link set {} mtu 1500", name));
		return;
	}
	const std::string with_path = fmt::format("{}, so connections get path MTU {}", text, path);
	const unsigned active = verbs ? attr::mtu_bytes(verbs->active_mtu) : 0;
	const unsigned most = verbs ? attr::mtu_bytes(verbs->max_mtu) : 0;
	if (active && active > path && is.mtu_bytes < active)
		to.warning("mtu",
			   fmt::format("{}, but the port's active MTU is {}: what takes the port's "
				       "loses its large packets there",
				       with_path, active),
			   fmt::format("ip link set {} mtu {}", name, active + roce_headers));
	else if (active && path > active)
		to.warning("mtu",
			   fmt::format("{}, above the port's active MTU {}: ibv_modify_qp() may "
				       "refuse RTR (EINVAL)",
				       with_path, active),
			   fmt::format("ip link set {} mtu {}, or the driver's MTU as high", name,
				       active + roce_headers));
	else if (most > path)
		to.ok("mtu", fmt::format("{} ({} wants MTU {}, of the peer and the switches too)",
					 with_path, most, most + roce_headers));
	else
		to.ok("mtu", with_path);
}

} // namespace

std::vector<std::string> devices_of(const machine &of)
{
	return of.entries(class_dir);
}

std::string port_dir(const std::string &device, const std::string &port)
{
	return class_dir + device + "/ports/" + port + "/";
}

std::vector<std::string> ports_of(const machine &of, const std::string &device)
{
	return of.entries(class_dir + device + "/ports");
}

bool is_ethernet(const machine &of, const std::string &device, const std::string &port)
{
	return of.line(port_dir(device, port) + "link_layer").value_or("") == "Ethernet";
}

void check_devices(const machine &of, findings &to)
{
	const std::vector<std::string> devices = devices_of(of);
	if (devices.empty()) {
		to.problem("device", "no RDMA device is to be seen here",
			   "load the adapter's driver (mlx5_ib, irdma, ...); or make a software "
			   "device: rdma link add rxe0 type rxe netdev INTERFACE; or run where the "
			   "device is: container, network namespace");
		return;
	}
	if (!of.verbs_error.empty()) {
		to.problem("device",
			   fmt::format("libibverbs has no list of devices: {}", of.verbs_error),
			   "see the module and the nodes above");
		return;
	}
	for (const std::string &each : devices) {
		const auto found = of.verbs.find(each);
		if (found == of.verbs.end())
			to.problem("device",
				   fmt::format("{} is there, but libibverbs does not know it: its "
					       "driver in user space is missing, or its node",
					       each),
				   "install ibverbs-providers (rdma-core); look at the uverbs node");
		else if (found->second.error)
			to.problem("device",
				   fmt::format("{} cannot be opened: {}", each,
					       std::strerror(found->second.error)),
				   "see what is said of its uverbs node");
		else
			to.ok("device", fmt::format("{} is there and opens, {} port{}", each,
						    ports_of(of, each).size(),
						    ports_of(of, each).size() == 1 ? "" : "s"));
	}
}

void check_ports(const machine &of, findings &to)
{
	for (const std::string &device : devices_of(of))
		for (const std::string &port : ports_of(of, device))
			check_port(of, device, port, to);
}

void check_mtu(const machine &of, findings &to)
{
	for (const std::string &device : devices_of(of))
		for (const std::string &port : ports_of(of, device)) {
			if (!is_ethernet(of, device, port))
				continue; // the subnet manager's path records tell it
			for (const std::string &name : interfaces_of(of, device, port)) {
				const auto found = of.interfaces.find(name);
				if (found != of.interfaces.end())
					check_interface_mtu(
						name, found->second,
						fmt::format("{} port {}", device, port),
						verbs_of(of, device, port), to);
			}
		}
}

} // namespace qpattr::tool::doctor
