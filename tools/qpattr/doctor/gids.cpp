// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/checks.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "lib/attr/units.hpp"

namespace qpattr::tool::doctor {
namespace {

constexpr const char *empty_gid = "0000:0000:0000:0000:0000:0000:0000:0000";

unsigned number(const std::string &text, int base = 10)
{
	unsigned out = 0;
	std::from_chars(text.data(), text.data() + text.size(), out, base);
	return out;
}

ibv_gid parsed(const std::string &gid)
{
	ibv_gid out{};
	::inet_pton(AF_INET6, gid.c_str(), out.raw);
	return out;
}

// "10.77.0.1" where it is one of IPv4, else as short as IPv6 is written.
std::string shown(const std::string &gid)
{
	const ibv_gid raw = parsed(gid);
	attr::text_of<64> text;
	attr::add_gid(text, raw);
	return text.c_str();
}

// Which type rdma_cm takes: what was written into configfs, else the kernel's own
// choice, which is RoCE v2 where the port has it.
struct roce_mode {
	std::string type;
	bool chosen = false; // by somebody
	std::string path;
};

roce_mode mode_of(const machine &of, const std::string &device, const std::string &port,
		  const std::vector<gid_entry> &gids)
{
	const std::string path =
		fmt::format("/sys/kernel/config/rdma_cm/{}/ports/{}/default_roce_mode", device, port);
	if (const auto line = of.line(path))
		return {*line, true, path};
	for (const gid_entry &each : gids)
		if (each.type == "RoCE v2")
			return {each.type, false, path};
	return {"IB/RoCE v1", false, path};
}

// Why no connection can come by this entry; empty where one can.
std::string gid_obstacle(const machine &of, const gid_entry &each)
{
	const auto is = of.interfaces.find(each.interface);
	if (each.interface.empty())
		return "without an interface";
	if (is == of.interfaces.end())
		return "its interface is not in this network namespace";
	return is->second.up ? "" : "its interface is down";
}

void check_roce_gids(const machine &of, const std::string &device, const std::string &port,
		     const std::vector<gid_entry> &gids, findings &to)
{
	const roce_mode mode = mode_of(of, device, port, gids);
	std::size_t taken = 0;
	for (const gid_entry &each : gids) {
		const std::string text =
			fmt::format("{} port {} GID {}: {}, {}, {}", device, port, each.index,
				    shown(each.gid), each.type.empty() ? "type unknown" : each.type,
				    each.interface.empty() ? "no interface" : each.interface);
		const std::string obstacle = gid_obstacle(of, each);
		const bool by_cm = each.type == mode.type && obstacle.empty();
		taken += by_cm;
		if (by_cm)
			to.ok("gid", text + "; rdma_cm takes it for this address");
		else if (!obstacle.empty())
			to.warning("gid", fmt::format("{}: {}", text, obstacle),
				   fmt::format("ip link set {} up; or run in the network namespace "
					       "that has it (nsenter -t 1 -n, --network host)",
					       each.interface));
		else
			to.ok("gid", fmt::format("{}; rdma_cm does not take it, its mode is {}", text,
						 mode.type));
	}
	const std::string where = fmt::format("{} port {}", device, port);
	if (!taken)
		to.problem("gid-type",
			   fmt::format("{} has no GID that rdma_cm could take: its mode is {}{}", where,
				       mode.type, mode.chosen ? ", written into configfs" : ""),
			   mode.chosen ? fmt::format("echo 'RoCE v2' > {}", mode.path)
				       : "give the interface an address: ip address add ... dev "
					 "INTERFACE");
	else if (mode.type != "RoCE v2")
		to.warning("gid-type",
			   fmt::format("{}: rdma_cm takes {}{}, which no router forwards, which has "
				       "no DSCP, and which a peer with RoCE v2 does not answer",
				       where, mode.type,
				       mode.chosen ? ", written into configfs" : ""),
			   mode.chosen ? fmt::format("echo 'RoCE v2' > {}", mode.path)
				       : "the driver offers no RoCE v2: look for its option or a "
					 "later one");
	else
		to.ok("gid-type",
		      fmt::format("{}: rdma_cm takes RoCE v2{}", where,
				  mode.chosen ? ", as configfs says" : ", the kernel's own choice"));
}

void check_ib_gids(const std::string &device, const std::string &port,
		   const std::vector<gid_entry> &gids, findings &to)
{
	for (const gid_entry &each : gids)
		to.ok("gid", fmt::format("{} port {} GID {}: {}, InfiniBand", device, port,
					 each.index, shown(each.gid)));
}

// The entry that an id got which was bound: its address says the GID, the mode the type.
std::string entry_of(const machine &of, const address_use &use)
{
	const std::string port = std::to_string(use.port);
	const std::vector<gid_entry> &gids = gids_of(of, use.device, port);
	const bool ethernet = is_ethernet(of, use.device, port);
	const std::string type = mode_of(of, use.device, port, gids).type;
	for (const gid_entry &each : gids)
		if (each.gid == use.gid && (!ethernet || each.type == type))
			return fmt::format(", GID {}", each.index);
	return "";
}

} // namespace

const std::vector<gid_entry> &gids_of(const machine &of, const std::string &device,
				      const std::string &port)
{
	const std::string dir = port_dir(device, port);
	const auto known = of.gids.find(dir);
	if (known != of.gids.end())
		return known->second;
	std::vector<gid_entry> out;
	for (const std::string &index : of.entries(dir + "gids")) {
		const auto gid = of.line(dir + "gids/" + index);
		if (!gid || *gid == empty_gid)
			continue;
		out.push_back({number(index), *gid,
			       of.line(dir + "gid_attrs/types/" + index).value_or(""),
			       of.line(dir + "gid_attrs/ndevs/" + index).value_or("")});
	}
	return of.gids[dir] = std::move(out);
}

void check_gids(const machine &of, findings &to)
{
	for (const std::string &device : devices_of(of))
		for (const std::string &port : ports_of(of, device)) {
			const std::vector<gid_entry> &gids = gids_of(of, device, port);
			const bool ethernet = is_ethernet(of, device, port);
			if (gids.empty())
				to.problem("gid",
					   fmt::format("{} port {} has an empty GID table", device,
						       port),
					   ethernet ? "ip link set INTERFACE up, and give it an address"
						    : "look at the port and the subnet manager");
			else if (ethernet)
				check_roce_gids(of, device, port, gids, to);
			else
				check_ib_gids(device, port, gids, to);
		}
}

void check_pkeys(const machine &of, findings &to)
{
	constexpr unsigned full_member = 0x8000;
	for (const std::string &device : devices_of(of))
		for (const std::string &port : ports_of(of, device)) {
			const std::string dir = port_dir(device, port) + "pkeys";
			std::string list;
			bool full = false;
			for (const std::string &index : of.entries(dir)) {
				const std::string text = of.line(dir + "/" + index).value_or("");
				const unsigned key =
					text.rfind("0x", 0) == 0 ? number(text.substr(2), 16) : 0;
				if (!(key & ~full_member))
					continue;
				full |= (key & full_member) != 0;
				list += fmt::format("{}{} = 0x{:04x}", list.empty() ? "" : ", ", index,
						    key);
			}
			const std::string text =
				fmt::format("{} port {}: P_Keys {}", device, port, list);
			if (list.empty())
				to.problem("pkey",
					   fmt::format("{} port {} has no P_Key", device, port),
					   "look at the subnet manager's partitions");
			else if (full)
				to.ok("pkey", text);
			else
				to.warning("pkey",
					   text + ": a limited member of each partition, which "
						  "reaches full members only",
					   "make it a full member in the subnet manager's partitions");
		}
}

void check_addresses(const machine &of, findings &to)
{
	std::string others, why;
	bool any = false;
	for (const address_use &each : of.addresses) {
		if (!each.error) {
			any = true;
			to.ok("address",
			      fmt::format("{} leads to {} port {}{}; the kernel answers INIT with mask "
					  "0x{:x}",
					  each.address, each.device, each.port, entry_of(of, each),
					  each.mask));
			continue;
		}
		others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", each.address,
				      each.interface);
		if (why.empty())
			why = fmt::format("{}: {}", each.call, each.hint);
	}
	if (any && !others.empty())
		to.not_applicable("address", "of no RDMA device: " + others);
	else if (!any && of.cm.error)
		to.not_applicable("address", "without the connection manager's device no address is "
					     "tried");
	else if (!any)
		to.problem("address",
			   others.empty()
				   ? "no interface of this network namespace that is up has an address"
				   : fmt::format("no address here leads to an RDMA device: {}; {}",
						 others, why),
			   "give the device's interface an address here; or run in the network "
			   "namespace that has it (nsenter -t 1 -n, --network host)");
}

} // namespace qpattr::tool::doctor
