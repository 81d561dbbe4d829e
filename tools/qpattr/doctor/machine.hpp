// SPDX-License-Identifier: MIT
// The machine that doctor examines: files under a root directory, and what can be had
// by asking the kernel only. The checks read nothing else, so that a test hands them a
// machine of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace qpattr::tool::doctor {

// A node of /dev.
struct node {
	int error = 0; // errno of stat(2); the rest has a meaning where it is 0
	bool is_character_device = false;
	unsigned major = 0, minor = 0;
	mode_t mode = 0; // permissions
	uid_t uid = 0;
	gid_t gid = 0;
	int open_error = 0; // errno of open(2) for reading and writing
};

// Who runs this.
struct identity {
	uid_t uid = 0; // effective
	gid_t gid = 0;
	std::vector<gid_t> groups;
	std::string user; // name, empty where there is none
};

// What qpattr_device_open() answered.
struct opening {
	int error = 0;
	std::string stage;
};

struct interface {
	bool up = false;
	unsigned mtu_bytes = 0;
};

// One port as verbs tell of it.
struct verbs_port {
	std::uint32_t active_mtu = 0; // enum ibv_mtu
	std::uint32_t max_mtu = 0;
};

struct verbs_device {
	int error = 0; // errno of opening it
	std::map<unsigned, verbs_port> ports;
};

// What became of binding an id to an address of this machine.
struct address_use {
	std::string address, interface;
	int error = 0;
	std::string call; // that failed
	std::string hint;
	std::string device; // to which it led
	unsigned port = 0;
	std::string gid; // as sysfs writes it
	unsigned mask = 0; // of the answer for INIT
};

struct stock_library {
	std::string error; // of the dynamic linker; empty where there is one
	std::string path;  // all links followed
	std::string version; // of the file's name: "44.0"; empty if it has none
	std::vector<std::string> nodes; // RDMACM_1.0 and so on
	bool has_function = false;
};

// What the small program that is linked with librdmacm told, under the preload object.
struct interception {
	bool tried = false;
	std::string why_not; // of what was not tried
	std::string fix;
	bool timed_out = false;
	int status = 0;	    // as a shell has it
	std::string output; // standard output
	std::string said;   // standard error
};

// An entry of a port's GID table that is not empty.
struct gid_entry {
	unsigned index = 0;
	std::string gid;       // as sysfs writes it
	std::string type;      // "RoCE v2"; empty where it is not told
	std::string interface; // likewise
};

struct machine {
	std::string root; // before each path; "" is this machine

	// Absolute paths, without the root. The first line without its end; nothing where
	// it cannot be read.
	[[nodiscard]] std::optional<std::string> line(const std::string &path) const;
	[[nodiscard]] std::vector<std::string> lines(const std::string &path) const;
	[[nodiscard]] std::vector<std::string> entries(const std::string &dir) const; // sorted
	[[nodiscard]] bool exists(const std::string &path) const;

	std::function<node(const std::string &path)> node_at;
	identity me;
	opening cm;
	std::optional<std::uint64_t> memlock_bytes; // none: unlimited
	std::map<std::string, interface> interfaces; // of this network namespace
	std::string verbs_error; // why there is no list; empty where there is
	std::map<std::string, verbs_device> verbs;
	std::vector<address_use> addresses;
	stock_library stock;
	interception preload;

	// Tables that were read, by their directory: they have up to a thousand files.
	mutable std::map<std::string, std::vector<gid_entry>> gids;
};

// This machine.
[[nodiscard]] machine look();

} // namespace qpattr::tool::doctor
