// SPDX-License-Identifier: MIT
// The checks of doctor, each with what it looks at. Pure but for reading the machine's
// files.
#pragma once

#include <string>

#include "tools/qpattr/doctor/finding.hpp"
#include "tools/qpattr/doctor/machine.hpp"

namespace qpattr::tool::doctor {

// doctor_kernel.cpp
void check_modules(const machine &of, findings &to); // sysfs, rdma_ucm, ib_uverbs
void check_abi(const machine &of, findings &to);
void check_backlog(const machine &of, findings &to);

// doctor_node.cpp
void check_cm_node(const machine &of, findings &to);
void check_verbs_nodes(const machine &of, findings &to);

// doctor_place.cpp
void check_namespaces(const machine &of, findings &to);
void check_cgroup(const machine &of, findings &to);
void check_memlock(const machine &of, findings &to);

// doctor_ports.cpp
void check_devices(const machine &of, findings &to);
void check_ports(const machine &of, findings &to);
void check_mtu(const machine &of, findings &to);

// doctor_gids.cpp
void check_gids(const machine &of, findings &to);
void check_pkeys(const machine &of, findings &to);
void check_addresses(const machine &of, findings &to);

// doctor_library.cpp
void check_library(const machine &of, findings &to);
void check_interception(const machine &of, findings &to);

// All of them, in their order.
[[nodiscard]] findings examine(const machine &of);

// --- what several of them need ---

// "docker", "podman", what systemd says: a container that names itself; else empty.
[[nodiscard]] std::string container_of(const machine &of);

// Whether this is the first network namespace: the kernel shows net.rdma_ucm there only.
// Has a meaning where rdma_ucm is loaded.
[[nodiscard]] bool in_first_network(const machine &of);

inline const char *const class_dir = "/sys/class/infiniband/";
[[nodiscard]] std::vector<std::string> devices_of(const machine &of);
[[nodiscard]] std::string port_dir(const std::string &device, const std::string &port);
[[nodiscard]] std::vector<std::string> ports_of(const machine &of, const std::string &device);
[[nodiscard]] bool is_ethernet(const machine &of, const std::string &device,
			       const std::string &port);

[[nodiscard]] const std::vector<gid_entry> &gids_of(const machine &of, const std::string &device,
						    const std::string &port);

} // namespace qpattr::tool::doctor
