// SPDX-License-Identifier: MIT
// The few loaded objects that the auditor has to do with.
#pragma once

#include <atomic>
#include <cstdint>
#include <link.h>

namespace qpattr::audit {

inline constexpr const char *function_name = "rdma_init_qp_attr";

enum class kind {
	none,
	preload,   // libqpattr-preload.so
	librdmacm, // stock's
	user,	   // linked with librdmacm
};

// One of them, from la_objopen to la_objclose. Written while the dynamic linker
// holds its lock, and before a symbol of the object is bound.
struct object {
	std::atomic<kind> what{kind::none};
	Lmid_t space = 0;
	const link_map *map = nullptr;
	std::uintptr_t function = 0; // its own rdma_init_qp_attr; 0 if it has none
	// Of librdmacm: the one of this namespace whose ids the preload object is
	// sure to know. One that comes later may come after its first call.
	bool first = false;
	std::atomic<bool> told{false}; // about a binding to or from it
};

// The object's record; null where it is none of these, or there are too many.
object *add(const link_map *map, Lmid_t space) noexcept;
// By its cookie, which is the address of its record where it has one.
[[nodiscard]] object *find(std::uintptr_t cookie) noexcept;
void remove(object &which) noexcept;

} // namespace qpattr::audit
