// SPDX-License-Identifier: MIT
// The names of enum values and bits, spelled as verbs spell them without their
// prefix: RTR for IBV_QPS_RTR, PATH_MTU for IBV_QP_PATH_MTU.
//
// Everything takes the bare number, since a kernel or a program may hand over a
// value that no enum names. The functions called _name give nullptr for those;
// what is added to a text is then the number itself.
#pragma once

#include <cstdint>

#include "lib/attr/text.hpp"

namespace qpattr::attr {

// nullptr for a value without a name.
[[nodiscard]] const char *qp_state_name(std::uint32_t state) noexcept;	    // RESET INIT RTR ...
[[nodiscard]] const char *qp_state_long_name(std::uint32_t state) noexcept; // "ready to receive"
[[nodiscard]] const char *qp_type_name(std::uint32_t type) noexcept;	    // RC UC UD ...
[[nodiscard]] const char *mig_state_name(std::uint32_t state) noexcept;	    // MIGRATED REARM ARMED
[[nodiscard]] const char *link_layer_name(std::uint32_t layer) noexcept;    // INFINIBAND ETHERNET
[[nodiscard]] const char *port_space_name(std::uint32_t space) noexcept;    // TCP UDP IB IPOIB

// The names of single bits, given by their value: mask_bit_name(0x100) is
// "PATH_MTU". nullptr for a bit without a name, and for no or several bits.
[[nodiscard]] const char *mask_bit_name(std::uint32_t bit) noexcept;
[[nodiscard]] const char *access_bit_name(std::uint32_t bit) noexcept;

// Bits 21 to 24 of the mask: source MAC and VLAN of RoCE on kernels of old.
// ibv_modify_qp() refuses a mask that has one of them.
inline constexpr std::uint32_t mask_reserved = 0x01e00000;

// The name, or the number as hexadecimal: "RTR", "0x63".
void add_qp_state(text &to, std::uint32_t state) noexcept;
void add_qp_type(text &to, std::uint32_t type) noexcept;
void add_mig_state(text &to, std::uint32_t state) noexcept;
void add_link_layer(text &to, std::uint32_t layer) noexcept;
void add_port_space(text &to, std::uint32_t space) noexcept;

// The names of all bits set, lowest first, joined by '|'; bits without a name
// together at the end: "STATE|PATH_MTU|0x80000000". "0" where none is set.
void add_mask(text &to, std::uint32_t mask) noexcept;
void add_access_flags(text &to, std::uint32_t flags) noexcept;

} // namespace qpattr::attr
