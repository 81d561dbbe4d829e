// SPDX-License-Identifier: MIT
// One question, put to two implementations of rdma_init_qp_attr, and what of the
// two answers differs: the return value, errno, the mask, every field, the bytes
// between the fields and the bytes around the outputs.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <rdma/rdma_cma.h>

#include "tools/conformance/standing.hpp"

namespace conformance {

using init_qp_attr_fn = int(rdma_cm_id *, ibv_qp_attr *, int *);

// What the outputs hold before the call. A field that an implementation leaves
// alone shows as the pattern, so no single one will do: the pattern may be the
// right value.
struct pattern {
	const char *name;
	unsigned char first;
	unsigned char step;

	[[nodiscard]] constexpr unsigned char at(std::size_t i) const noexcept
	{
		return static_cast<unsigned char>(first + step * i);
	}
};
inline constexpr std::array patterns{
	pattern{"00", 0x00, 0},
	pattern{"ff", 0xff, 0},
	pattern{"a5", 0xa5, 0},
	pattern{"run", 0x11, 1},
};

// Every QP state, and two values that are none.
inline constexpr std::array states{0, 1, 2, 3, 4, 5, 6, 7, 99};

struct question {
	rdma_cm_id *id;
	int state;
	pattern fill;
	bool ours_first;
};

// How often an id is asked at one stage.
inline constexpr std::size_t questions_a_stage = states.size() * patterns.size() * 2;

// An output between guard bytes, no better aligned than its type must be: what wants
// more of a caller's struct would go unseen.
template <std::size_t Len> struct guarded {
	static constexpr std::size_t guard_len =
		128 + (Len == sizeof(int) ? alignof(int) : alignof(ibv_qp_attr));
	alignas(16) std::array<unsigned char, guard_len + Len + guard_len> bytes;

	[[nodiscard]] unsigned char *body() noexcept { return bytes.data() + guard_len; }
	[[nodiscard]] const unsigned char *body() const noexcept
	{
		return bytes.data() + guard_len;
	}
	void fill(const pattern &with) noexcept;
	// The first byte outside the output that is not as it was filled, as its
	// distance from the output's start; 0 if there is none.
	[[nodiscard]] std::ptrdiff_t written_outside() const noexcept;
};

// All that a call can have touched.
struct outcome {
	int returned;
	int code; // errno
	guarded<sizeof(ibv_qp_attr)> attr;
	guarded<sizeof(int)> mask;
	bool id_kept; // no byte of the id is another than before

	[[nodiscard]] bool answered() const noexcept { return returned == 0; }
	[[nodiscard]] int mask_value() const noexcept;
};

// Filled into errno before a call; no system call fails with it.
inline constexpr int untouched_errno = 29'999;

[[nodiscard]] outcome ask(init_qp_attr_fn *implementation, const question &what) noexcept;

// What is wrong, in one line; empty where nothing is. `departure` is about one
// outcome and what is known beforehand, `difference` about two outcomes of the
// same question.
[[nodiscard]] std::string departure(const outcome &of, const question &what,
				    const std::optional<known_answer> &from);
[[nodiscard]] std::string difference(const outcome &stock, const outcome &ours,
				     const question &what);

// The fields that are not 0, by their names: numbers in decimal, GIDs in hex.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> values_of(const outcome &of);

[[nodiscard]] std::string hex(int value);
[[nodiscard]] std::string state_name(int state);
[[nodiscard]] std::string errno_name(int code);

} // namespace conformance
