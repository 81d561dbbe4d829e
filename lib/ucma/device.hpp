// SPDX-License-Identifier: MIT
// The rdma_cm device: found, identified, opened.
#pragma once

#include <sys/stat.h>

#include "lib/result.hpp"

namespace qpattr::ucma {

// Where to look. The defaults are the system's; tests bring their own.
struct device_paths {
	const char *node = QPATTR_DEVICE_PATH;
	const char *sysfs_dev = "/sys/class/misc/rdma_cm/dev";
	const char *sysfs_abi = "/sys/class/misc/rdma_cm/abi_version";
};

// A descriptor of the device, read-write and close-on-exec. The node is
// compared with what sysfs tells before it is opened, since opening a wrong
// character device can have effects, and once more after, since the node can
// be replaced in between. Errors: see qpattr_device_open().
[[nodiscard]] result<int> open_device(const device_paths &paths) noexcept;

// The steps of it, for who knows the device's number already: whether a node is the
// device; opening one that is, as long as it still is.
[[nodiscard]] bool is_device(const struct stat &node, dev_t device) noexcept;
[[nodiscard]] result<int> open_node(const char *path, dev_t device) noexcept;

} // namespace qpattr::ucma
