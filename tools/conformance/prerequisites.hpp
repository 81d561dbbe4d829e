// SPDX-License-Identifier: MIT
// What has to be there before anything can be asked.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

// The exit status of a test that could not be run, by the convention of the
// automake and Meson test drivers.
inline constexpr int cannot_run_status = 77;

struct cannot_run : std::runtime_error {
	using runtime_error::runtime_error;
};

struct stock_library {
	std::string path;    // all links followed
	std::string version; // of the file's name: "44.0"; empty if it has none
};

// Each throws cannot_run with what is missing and what to do.
[[nodiscard]] stock_library find_stock();
void look_for_device_node();

// Why libibverbs may see no device though there is one: "; " and what is wrong with
// the nodes of the devices, or nothing.
[[nodiscard]] std::string wrong_with_verbs_nodes();

// The addresses of this machine's interfaces, as --address wants them, each with a
// label that tells them apart: "ipv4", "ipv6", "link-local", then "ipv4-2", ...
struct labelled_address {
	std::string label, text;
};
[[nodiscard]] std::vector<labelled_address> addresses_here();

} // namespace conformance
