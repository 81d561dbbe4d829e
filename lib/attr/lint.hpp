// SPDX-License-Identifier: MIT
// What in the attributes of a QP makes connections slow, fail, or die unnoticed:
// findings with a reason in units and an advice each.
//
// A finding is made of what is in the mask and of what is known about the port, and
// of nothing else: an attribute outside the mask, or a fact left at 0, raises none.
// For a whole connection put its transitions together (class gathered) and lint the
// sum: some findings need attributes of two transitions. Pure; nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <infiniband/verbs.h>

#include "lib/attr/fields.hpp"
#include "lib/attr/text.hpp"

namespace qpattr::attr {

enum class severity : std::uint8_t {
	note,	 // worth knowing, often meant so
	warning, // slow, or fails in a case that occurs
	problem, // cannot work
};
[[nodiscard]] const char *severity_name(severity how) noexcept;

enum class gid_kind : std::uint8_t { unknown, infiniband, roce_v1, roce_v2 };

// What is known beside the attributes. 0 of each: not known.
struct surroundings {
	std::uint32_t link_layer = IBV_LINK_LAYER_UNSPECIFIED;
	std::uint32_t qp_type = 0;	   // enum ibv_qp_type
	std::uint32_t active_mtu = 0;	   // the port's enum ibv_mtu
	unsigned interface_bytes = 0;	   // MTU of the network interface of a RoCE port
	unsigned pkey_count = 0;	   // entries of the port's P_Key table
	unsigned gid_count = 0;		   // entries of its GID table
	gid_kind sgid = gid_kind::unknown; // the type of the entry at sgid_index
	bool soft_roce = false;		   // the driver rxe, which has a rule of its own
};

struct finding {
	const char *id = nullptr; // "rnr-timer-655ms": stable, for scripts
	severity how = severity::note;
	const attribute *about = nullptr; // what to change; nullptr: the mask as a whole
	text_of<320> reason;
	const char *advice = nullptr;
};

// In the order of severity, worst first, once sort()ed; lint() does.
class findings {
public:
	static constexpr std::size_t capacity = 40;

	findings() = default;
	findings(const findings &) = delete;
	findings &operator=(const findings &) = delete;

	// Where the list is full, a place that is not kept.
	finding &add(const char *id, severity how, const attribute *about,
		     const char *advice) noexcept;
	void sort() noexcept;

	[[nodiscard]] std::size_t size() const noexcept { return size_; }
	[[nodiscard]] const finding &operator[](std::size_t i) const noexcept
	{
		return all_[order_[i]];
	}
	// nullptr where there is none of that id.
	[[nodiscard]] const finding *find(const char *id) const noexcept;

private:
	std::array<finding, capacity + 1> all_{}; // the last for what is not kept
	std::array<std::uint8_t, capacity> order_{};
	std::size_t size_ = 0;
};

// The transitions of one QP put together; what a later one sets replaces.
struct gathered {
	ibv_qp_attr attr{};
	std::uint32_t mask = 0;

	void add(const ibv_qp_attr &from, std::uint32_t from_mask) noexcept;
};

void lint(const ibv_qp_attr &attr, std::uint32_t mask, const surroundings &at,
	  findings &to) noexcept;

// The address is one of RoCE: the port says so, or where that is not known, there
// is a global route and no LID.
[[nodiscard]] bool is_roce(const ibv_qp_attr &attr, std::uint32_t mask,
			   const surroundings &at) noexcept;

// The largest path MTU (enum ibv_mtu) of an interface with so many bytes: 96 are
// for the headers of RoCE v2 over IPv6. 0: none fits.
[[nodiscard]] std::uint32_t mtu_of_interface(unsigned bytes) noexcept;

} // namespace qpattr::attr
