// SPDX-License-Identifier: MIT
// Is there RDMA here at all?
#pragma once

namespace qpattr::cm {

// Whether the kernel shows a device to user space. Asked of sysfs until there is
// one, in four system calls; from then on of memory.
[[nodiscard]] bool any_device() noexcept;

} // namespace qpattr::cm
