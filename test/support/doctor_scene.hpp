// SPDX-License-Identifier: MIT
// A machine in order for `qpattr doctor`, made up: files under a directory, and answers of
// the kernel's. A test changes one thing of it.
#pragma once

#include "tools/qpattr/doctor/checks.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "test/support/catch.hpp"
#include "tools/qpattr/common/layout.hpp"

namespace qpattr::test {

using namespace qpattr::tool;
using namespace qpattr::tool::doctor;

constexpr const char *cm_node = "/dev/infiniband/rdma_cm";
constexpr const char *port = "/sys/class/infiniband/mlx5_0/ports/1/";

class scene {
public:
	scene()
	{
		char name[] = "/tmp/doctor-XXXXXX";
		REQUIRE(::mkdtemp(name));
		is.root = name;
		put("/proc/self/uid_map", "         0          0 4294967295");
		put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000");
		put("/proc/self/cgroup", "0::/user/one");
		put("/proc/sys/net/rdma_ucm/max_backlog", "1024");
		put("/sys/module/ib_core/parameters/netns_mode", "Y");
		put("/sys/class/misc/rdma_cm/dev", "10:260");
		put("/sys/class/misc/rdma_cm/abi_version", "4");
		put("/sys/class/infiniband_verbs/abi_version", "6");
		put("/sys/class/infiniband_verbs/uverbs0/dev", "231:192");
		put("/sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0");
		at_port("state", "4: ACTIVE");
		at_port("phys_state", "5: LinkUp");
		at_port("link_layer", "Ethernet");
		at_port("rate", "100 Gb/sec (4X EDR)");
		at_port("lid", "0x0");
		at_port("pkeys/0", "0xffff");
		at_port("pkeys/1", "0x0000");
		gid(0, "fe80:0000:0000:0000:0000:0000:0000:0001", "IB/RoCE v1", "eth0");
		gid(1, "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2", "eth0");
		gid(2, "0000:0000:0000:0000:0000:ffff:0a00:0001", "IB/RoCE v1", "eth0");
		gid(3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2", "eth0");
		at_port("gids/4", "0000:0000:0000:0000:0000:0000:0000:0000");
		nodes[cm_node] = {0, true, 10, 260, 0666, 0, 0, 0};
		nodes["/dev/infiniband/uverbs0"] = {0, true, 231, 192, 0666, 0, 0, 0};
		is.node_at = [this](const std::string &path) {
			const auto found = nodes.find(path);
			return found == nodes.end() ? node{ENOENT, false, 0, 0, 0, 0, 0, 0}
						    : found->second;
		};
		is.me = {1000, 1000, {1000}, "somebody"};
		is.interfaces["eth0"] = {true, 4200};
		is.verbs["mlx5_0"].ports[1] = {5, 5};
		is.addresses.push_back({"10.0.0.1", "eth0", 0, "", "", "mlx5_0", 1,
					"0000:0000:0000:0000:0000:ffff:0a00:0001", 0x39});
		is.stock = {"", "/lib/librdmacm.so.1.3.44.0", "44.0", {"RDMACM_1.0", "RDMACM_1.2"}, true};
		is.preload.tried = true;
		is.preload.output = "INIT on mlx5_0, mask 0x39\n";
		is.preload.said = "qpattr: rdma_init_qp_attr is served by qpattr (pid 7; handle at byte 5)\n";
	}
	~scene() { std::filesystem::remove_all(is.root); }
	scene(const scene &) = delete;
	scene &operator=(const scene &) = delete;

	void put(const std::string &path, const std::string &text) const
	{
		const std::filesystem::path whole = is.root + path;
		std::filesystem::create_directories(whole.parent_path());
		std::ofstream{whole} << text << '\n';
	}
	void at_port(const std::string &name, const std::string &text) const { put(port + name, text); }
	void gid(unsigned index, const std::string &value, const std::string &type,
		 const std::string &interface) const
	{
		const std::string number = std::to_string(index);
		at_port("gids/" + number, value);
		at_port("gid_attrs/types/" + number, type);
		at_port("gid_attrs/ndevs/" + number, interface);
	}
	void remove(const std::string &path) const { std::filesystem::remove_all(is.root + path); }

	// Nothing but this is wrong: the verdict, the check, words of text and fix.
	void tells(verdict what, const std::string &check, const std::string &text,
		   const std::string &fix) const
	{
		const findings found = examine(is);
		CAPTURE(as_text(found, terminal{-1}));
		bool told = false;
		for (const finding &each : found.all()) {
			CAPTURE(each.text, each.fix);
			if (each.check == check && each.what == what &&
			    each.text.find(text) != std::string::npos) {
				told = true;
				CHECK(each.fix.find(fix) != std::string::npos);
			} else if (each.check != check) {
				CHECK((each.what == verdict::ok || each.what == verdict::not_applicable));
			}
		}
		CHECK(told);
	}
	// Of the check, whatever else there is.
	void says(verdict what, const std::string &check, const std::string &text,
		  const std::string &fix = "") const
	{
		const findings found = examine(is);
		CAPTURE(as_text(found, terminal{-1}));
		bool told = false;
		for (const finding &each : found.all())
			told |= each.check == check && each.what == what &&
				each.text.find(text) != std::string::npos &&
				each.fix.find(fix) != std::string::npos;
		CHECK(told);
	}

	machine is;
	std::map<std::string, node> nodes;
};

} // namespace qpattr::test
