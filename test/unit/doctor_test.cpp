// SPDX-License-Identifier: MIT
// `qpattr doctor` on machines that are made up: files under a directory, and answers of
// the kernel's. The machine in order is changed in one thing a case.
#include "test/support/doctor_scene.hpp"

#include <cstdlib>

#include "tools/companion.hpp"
#include "tools/qpattr/common/program.hpp"

using namespace qpattr::test;

TEST_CASE("doctor: a machine in order has nothing but ok")
{
	const scene in_order;
	const findings found = examine(in_order.is);
	CAPTURE(as_text(found, terminal{-1}));
	CHECK(found.count(verdict::ok) == found.all().size());
	for (const char *each : {"module", "node", "open", "abi", "namespace", "cgroup", "memlock",
				 "backlog", "uverbs", "device", "port", "mtu", "gid", "gid-type", "pkey",
				 "address", "librdmacm", "intercept"}) {
		CAPTURE(each);
		CHECK(found.find(each) != nullptr);
	}
	in_order.says(verdict::ok, "mtu", "path MTU 4096");
	in_order.says(verdict::ok, "gid", "GID 3: ::ffff:10.0.0.1, RoCE v2, eth0; rdma_cm takes it");
	in_order.says(verdict::ok, "gid", "GID 2: ::ffff:10.0.0.1, IB/RoCE v1, eth0; rdma_cm does not");
	in_order.says(verdict::ok, "address", "10.0.0.1 leads to mlx5_0 port 1, GID 3;");
	in_order.says(verdict::ok, "librdmacm", "version 44.0, RDMACM_1.0 RDMACM_1.2");
}

TEST_CASE("doctor: modules and the kernel's version")
{
	scene it;
	SECTION("no sysfs")
	{
		it.remove("/sys");
		it.says(verdict::problem, "sysfs", "not mounted", "mount -t sysfs");
	}
	SECTION("no rdma_ucm")
	{
		it.remove("/sys/class/misc/rdma_cm");
		it.remove("/proc/sys/net/rdma_ucm");
		it.tells(verdict::problem, "module", "rdma_ucm is not loaded", "modprobe rdma_ucm");
		it.says(verdict::not_applicable, "node", "");
		it.says(verdict::not_applicable, "abi", "");
		it.says(verdict::not_applicable, "backlog", "");
	}
	SECTION("in a container the host loads it")
	{
		it.remove("/sys/class/misc/rdma_cm");
		it.put("/run/.containerenv", "");
		it.says(verdict::problem, "module", "rdma_ucm", "on the host: modprobe rdma_ucm");
		it.says(verdict::ok, "namespace", "podman");
	}
	SECTION("no ib_uverbs")
	{
		it.remove("/sys/class/infiniband_verbs");
		it.tells(verdict::problem, "module", "ib_uverbs", "modprobe ib_uverbs");
	}
	SECTION("another ABI")
	{
		it.put("/sys/class/misc/rdma_cm/abi_version", "5");
		it.tells(verdict::problem, "abi", "has ABI version 5, qpattr speaks 4", "");
	}
}

TEST_CASE("doctor: nodes")
{
	scene it;
	node &cm = it.nodes[cm_node];
	SECTION("none")
	{
		it.nodes.erase(cm_node);
		it.tells(verdict::problem, "node", "does not exist, though the kernel has 10:260",
			 "udevadm trigger");
		it.put("/.dockerenv", "");
		it.tells(verdict::problem, "node", "does not exist", "--device=/dev/infiniband/rdma_cm");
	}
	SECTION("of another device")
	{
		cm.minor = 61;
		it.tells(verdict::problem, "node", "is 10:61, but the kernel's device is 10:260", "rm ");
	}
	SECTION("a file")
	{
		cm.is_character_device = false;
		it.tells(verdict::problem, "node", "no character device", "rm ");
	}
	SECTION("not permitted")
	{
		cm.mode = 0600;
		cm.open_error = EACCES;
		it.tells(verdict::problem, "node", "mode 0600, root:root; somebody (1000) may not open it",
			 "chmod 0666 /dev/infiniband/rdma_cm");
	}
	SECTION("not permitted, but to a group")
	{
		cm.mode = 0660;
		cm.gid = 1; // daemon
		cm.open_error = EACCES;
		it.tells(verdict::problem, "node", "somebody (1000) may not open it",
			 "usermod -aG daemon somebody");
	}
	SECTION("forbidden by a cgroup")
	{
		cm.open_error = EPERM;
		it.tells(verdict::problem, "node", "forbidden by the device cgroup", "DeviceAllow");
	}
	SECTION("no driver behind")
	{
		cm.open_error = ENXIO;
		it.tells(verdict::problem, "node", "no driver is behind it", "");
	}
	SECTION("out of descriptors")
	{
		cm.open_error = EMFILE;
		it.tells(verdict::problem, "node", "Too many open files", "ulimit -n");
	}
	SECTION("that of the verbs")
	{
		it.nodes["/dev/infiniband/uverbs0"].open_error = EACCES;
		it.tells(verdict::problem, "uverbs", "uverbs0 is 231:192", "KERNEL==\"uverbs*\"");
	}
	SECTION("of verbs of a device that is not here nothing is asked")
	{
		it.put("/sys/class/infiniband_verbs/uverbs1/dev", "231:193");
		it.put("/sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1");
		CHECK(examine(it.is).count(verdict::problem) == 0);
	}
	SECTION("qpattr's own way fails")
	{
		it.is.cm = {ENODEV, "identify"};
		it.tells(verdict::problem, "open", "stage identify, No such device", "");
	}
}

TEST_CASE("doctor: where it runs")
{
	scene it;
	SECTION("a user namespace")
	{
		it.put("/proc/self/uid_map", "0 1000 1");
		it.tells(verdict::warning, "namespace", "a user namespace of its own", "");
	}
	SECTION("a network namespace, shared")
	{
		it.remove("/proc/sys/net/rdma_ucm");
		it.says(verdict::ok, "namespace", "network namespace of its own; RDMA mode shared");
	}
	SECTION("a network namespace without a device, exclusive")
	{
		it.remove("/proc/sys/net/rdma_ucm");
		it.remove("/sys/class/infiniband");
		it.put("/sys/module/ib_core/parameters/netns_mode", "N");
		it.says(verdict::problem, "namespace", "RDMA mode exclusive", "rdma dev set");
		it.says(verdict::problem, "device", "no RDMA device", "rdma link add");
	}
	SECTION("a limit of a cgroup above")
	{
		it.put("/sys/fs/cgroup/user/rdma.max",
		       "mlx5_1 hca_handle=max hca_object=max\nmlx5_0 hca_handle=3 hca_object=max");
		it.put("/sys/fs/cgroup/user/rdma.current", "mlx5_0 hca_handle=2 hca_object=9");
		it.tells(verdict::warning, "cgroup", "limits hca_handle of mlx5_0 to 3, 2 in use",
			 "echo 'mlx5_0 hca_handle=max' > /sys/fs/cgroup/user/rdma.max");
		it.put("/sys/fs/cgroup/user/rdma.current", "mlx5_0 hca_handle=3 hca_object=9");
		it.tells(verdict::problem, "cgroup", "no more can be made", "hca_handle=max");
	}
	SECTION("a limit of a cgroup of version 1")
	{
		it.put("/proc/self/cgroup", "12:memory:/a\n7:rdma:/b\n0::/c");
		it.put("/sys/fs/cgroup/rdma/b/rdma.max", "mlx5_0 hca_handle=max hca_object=0");
		it.tells(verdict::problem, "cgroup", "rdma/b/rdma.max limits hca_object", "");
	}
	SECTION("memory")
	{
		it.is.memlock_bytes = 65536;
		it.tells(verdict::warning, "memlock", "only 64 KiB", "ulimit -l unlimited");
		it.put("/proc/self/status", "CapEff:\t0000000000004000");
		it.tells(verdict::ok, "memlock", "CAP_IPC_LOCK lifts it", "");
		it.put("/proc/self/uid_map", "0 1000 1");
		it.says(verdict::warning, "memlock", "only 64 KiB");
		it.is.memlock_bytes = std::uint64_t{64} << 20;
		it.says(verdict::ok, "memlock", "64 MiB");
	}
	SECTION("the backlog")
	{
		it.put("/proc/sys/net/rdma_ucm/max_backlog", "0");
		it.tells(verdict::problem, "backlog", "is 0", "max_backlog=1024");
		it.put("/proc/sys/net/rdma_ucm/max_backlog", "4");
		it.tells(verdict::warning, "backlog", "is 4", "max_backlog=1024");
		it.put("/proc/sys/net/rdma_ucm/max_backlog", "-1");
		it.tells(verdict::ok, "backlog", "no limit", "");
	}
}

TEST_CASE("doctor: devices and ports")
{
	scene it;
	SECTION("no driver of libibverbs")
	{
		it.is.verbs.clear();
		it.tells(verdict::problem, "device", "libibverbs does not know it", "ibverbs-providers");
	}
	SECTION("cannot be opened")
	{
		it.is.verbs["mlx5_0"].error = EACCES;
		it.tells(verdict::problem, "device", "Permission denied", "uverbs");
	}
	SECTION("no list")
	{
		it.is.verbs_error = "Function not implemented";
		it.tells(verdict::problem, "device", "Function not implemented", "");
	}
	SECTION("down")
	{
		it.at_port("state", "1: DOWN");
		it.at_port("phys_state", "3: Disabled");
		it.tells(verdict::warning, "port", "DOWN, Ethernet", "ip link set");
	}
	SECTION("InfiniBand")
	{
		it.at_port("link_layer", "InfiniBand");
		it.at_port("lid", "0x1f");
		it.is.addresses[0].gid = "fe80:0000:0000:0000:0000:0000:0000:0001";
		it.says(verdict::ok, "port", "InfiniBand, 100 Gb/sec (4X EDR), LID 31");
		it.says(verdict::ok, "gid", "GID 0: fe80::1, InfiniBand");
		CHECK(examine(it.is).find("mtu") == nullptr);
		it.at_port("state", "2: INIT");
		it.tells(verdict::problem, "port", "no subnet manager", "opensm");
		it.at_port("state", "4: ACTIVE");
		it.at_port("lid", "0x0");
		it.tells(verdict::problem, "port", "gave it a LID", "opensm");
	}
	SECTION("the interface's MTU")
	{
		it.is.interfaces["eth0"].mtu_bytes = 1500;
		it.tells(verdict::warning, "mtu",
			 "has MTU 1500, so connections get path MTU 1024, but the port's active MTU is 4096",
			 "mtu 4192");
		// The rule is 96 bytes of headers; measured on a kernel at each step.
		it.is.verbs["mlx5_0"].ports[1].active_mtu = 3;
		it.says(verdict::ok, "mtu", "path MTU 1024 (4096 wants MTU 4192");
		it.is.interfaces["eth0"].mtu_bytes = 1119;
		it.says(verdict::ok, "mtu", "path MTU 512");
		it.is.interfaces["eth0"].mtu_bytes = 1120;
		it.says(verdict::ok, "mtu", "path MTU 1024");
		it.is.interfaces["eth0"].mtu_bytes = 352;
		it.says(verdict::warning, "mtu", "path MTU 256");
		it.is.interfaces["eth0"].mtu_bytes = 351;
		it.tells(verdict::problem, "mtu", "too little for RoCE", "mtu 1500");
		it.is.interfaces["eth0"].mtu_bytes = 9000;
		it.tells(verdict::warning, "mtu", "path MTU 4096, above the port's active MTU 1024", "");
	}
	SECTION("P_Keys")
	{
		it.at_port("pkeys/0", "0x7fff");
		it.tells(verdict::warning, "pkey", "0 = 0x7fff: a limited member", "full member");
		it.at_port("pkeys/0", "0x0000");
		it.tells(verdict::problem, "pkey", "has no P_Key", "");
	}
}

TEST_CASE("doctor: GIDs")
{
	scene it;
	const std::string mode = "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode";
	SECTION("the mode that was chosen")
	{
		it.put(mode, "IB/RoCE v1");
		it.tells(verdict::warning, "gid-type", "takes IB/RoCE v1, written into configfs",
			 "echo 'RoCE v2' > " + mode);
		it.says(verdict::ok, "gid", "GID 2: ::ffff:10.0.0.1, IB/RoCE v1, eth0; rdma_cm takes it");
		it.says(verdict::ok, "address", "mlx5_0 port 1, GID 2;");
		it.put(mode, "RoCE v2");
		it.tells(verdict::ok, "gid-type", "takes RoCE v2, as configfs says", "");
	}
	SECTION("no entry of the mode")
	{
		it.remove(std::string{port} + "gids/0");
		it.remove(std::string{port} + "gids/2");
		it.put(mode, "IB/RoCE v1");
		it.tells(verdict::problem, "gid-type", "no GID that rdma_cm could take", "echo 'RoCE v2'");
	}
	SECTION("v1 only")
	{
		it.remove(std::string{port} + "gids/1");
		it.remove(std::string{port} + "gids/3");
		it.tells(verdict::warning, "gid-type", "takes IB/RoCE v1, which no router forwards", "driver");
	}
	SECTION("the interface is down, or not here")
	{
		it.is.interfaces["eth0"].up = false;
		it.says(verdict::warning, "gid", "its interface is down", "ip link set eth0 up");
		it.is.interfaces.clear();
		it.says(verdict::warning, "gid", "not in this network namespace", "nsenter");
		it.says(verdict::problem, "gid-type", "no GID that rdma_cm could take");
	}
	SECTION("none")
	{
		it.remove(std::string{port} + "gids");
		it.tells(verdict::problem, "gid", "empty GID table", "ip link set");
	}
}

TEST_CASE("doctor: addresses")
{
	scene it;
	address_use other{"192.168.0.7", "eth1", ENODEV, "rdma_bind_addr", "no RDMA device", "", 0, "", 0};
	it.is.addresses.push_back(other);
	it.tells(verdict::not_applicable, "address", "of no RDMA device: 192.168.0.7 (eth1)", "");
	it.is.addresses.erase(it.is.addresses.begin());
	it.tells(verdict::problem, "address",
		 "no address here leads to an RDMA device: 192.168.0.7 (eth1); rdma_bind_addr: no RDMA device",
		 "nsenter");
	it.is.addresses.clear();
	it.tells(verdict::problem, "address", "no interface of this network namespace", "");
	it.is.cm = {EACCES, "open"};
	it.says(verdict::not_applicable, "address", "no address is tried");
}

TEST_CASE("doctor: an object that cannot be used has its own fix, apart from what is wrong")
{
	REQUIRE(::setenv("QPATTR_PRELOAD_OBJECT", "/nowhere/object.so", 1) == 0);
	std::string wrong, fix, whole;
	try {
		wrong = find_preload_object();
	} catch (const qpattr::unusable &what) {
		wrong = what.wrong;
		fix = what.fix;
		whole = what.what();
	}
	CHECK(::unsetenv("QPATTR_PRELOAD_OBJECT") == 0);
	CHECK(wrong == "QPATTR_PRELOAD_OBJECT is /nowhere/object.so, which cannot be read");
	CHECK(fix == "correct it or unset it");
	CHECK(whole == wrong + ": " + fix);
}

TEST_CASE("doctor: librdmacm and interception")
{
	scene it;
	SECTION("none")
	{
		it.is.stock.error = "librdmacm.so.1: cannot open shared object file";
		it.tells(verdict::not_applicable, "librdmacm", "cannot open shared object", "");
	}
	SECTION("too old")
	{
		it.is.stock.has_function = false;
		it.tells(verdict::problem, "librdmacm", "no rdma_init_qp_attr@RDMACM_1.2", "install");
	}
	interception &how = it.is.preload;
	SECTION("not tried")
	{
		how = {};
		how.why_not = "because";
		it.tells(verdict::not_applicable, "intercept", "because", "");
		how.fix = "do something";
		it.tells(verdict::problem, "intercept", "because", "do something");
	}
	SECTION("stock serves")
	{
		how.said = "x\nqpattr: rdma_init_qp_attr is served by stock librdmacm (pid 7): no place\ny\n";
		it.tells(verdict::problem, "intercept",
			 "discovery does not: qpattr: rdma_init_qp_attr is served by stock librdmacm (pid 7): "
			 "no place",
			 "version of librdmacm");
	}
	SECTION("served, without an answer")
	{
		how.status = 1;
		how.output = "no address of this machine leads to an RDMA device\n";
		it.tells(verdict::warning, "intercept", "but fails: no address", "");
	}
	SECTION("refused by the dynamic linker")
	{
		how.said = "ERROR: ld.so: object 'x' from LD_PRELOAD cannot be preloaded (invalid ELF header): "
			   "ignored.\n";
		it.tells(verdict::problem, "intercept", "invalid ELF header", "install");
	}
	SECTION("it hangs")
	{
		how.timed_out = true;
		it.tells(verdict::problem, "intercept", "did not end", "dmesg");
	}
	SECTION("nobody says anything")
	{
		how.said = "";
		how.status = 1;
		how.output = "rdma_create_event_channel: No such device\n";
		it.tells(verdict::not_applicable, "intercept", "rdma_create_event_channel: No such device", "");
	}
}

TEST_CASE("doctor: the text fits and the JSON is whole")
{
	scene it;
	it.is.memlock_bytes = 1024;
	it.put("/proc/sys/net/rdma_ucm/max_backlog", "0");
	it.is.stock.path = "/a\x1b[31mb"; // a name that would paint the screen
	const findings found = examine(it.is);
	const std::string text = as_text(found, terminal{-1});
	std::size_t begin = 0;
	for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
		CHECK(columns(text.substr(begin, end - begin)) <= 80);
	CHECK(text.find('\x1b') == std::string::npos);
	CHECK(text.find("\n1 problem, 1 warning\n") != std::string::npos);
	const auto json = nlohmann::json::parse(as_json(found));
	CHECK(json["qpattr_doctor"] == 1);
	CHECK(json["problems"] == 1);
	CHECK(json["warnings"] == 1);
	REQUIRE(json["checks"].size() == found.all().size());
	for (std::size_t i = 0; i < found.all().size(); ++i) {
		const finding &each = found.all()[i];
		CHECK(json["checks"][i]["check"] == each.check);
		CHECK(json["checks"][i]["verdict"] == verdict_name(each.what));
		CHECK(json["checks"][i]["text"] == each.text);
		CHECK(json["checks"][i]["fix"].is_null() == each.fix.empty());
	}
}
