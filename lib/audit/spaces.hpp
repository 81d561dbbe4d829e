// SPDX-License-Identifier: MIT
// qpattr's function in each of the dynamic linker's namespaces.
//
// In the first it is the preloaded object's. Nothing is preloaded into one that
// dlmopen makes, whose objects have a libc of their own, with an errno of its own,
// and a librdmacm of their own: it gets a preload object of its own too. That is
// loaded at the first call, since the dynamic linker is in the middle of something
// when it asks us; until then, and after, a step stands in between.
#pragma once

#include <cstdint>
#include <link.h>

namespace qpattr::audit {

// The preloaded object came: its function, and the file to load again.
void preloaded(std::uintptr_t function, const char *path) noexcept;
[[nodiscard]] bool is_preloaded() noexcept;

// What to bind to in this namespace instead of stock's function, or 0.
[[nodiscard]] std::uintptr_t function_for(Lmid_t space, std::uintptr_t stock) noexcept;

// librdmacm leaves the namespace, or the namespace ends.
void forget(Lmid_t space) noexcept;

} // namespace qpattr::audit
