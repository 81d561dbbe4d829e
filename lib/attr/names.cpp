// SPDX-License-Identifier: MIT
// Sources: <infiniband/verbs.h>, <rdma/ib_user_verbs.h>, <rdma/rdma_user_cm.h>.
#include "lib/attr/names.hpp"

#include <array>
#include <cstddef>

#include <infiniband/verbs.h>

namespace qpattr::attr {
namespace {

struct named {
	std::uint32_t value;
	const char *name;
};

constexpr std::array qp_types{
	named{IBV_QPT_RC, "RC"},
	named{IBV_QPT_UC, "UC"},
	named{IBV_QPT_UD, "UD"},
	named{IBV_QPT_RAW_PACKET, "RAW_PACKET"},
	named{IBV_QPT_XRC_SEND, "XRC_SEND"},
	named{IBV_QPT_XRC_RECV, "XRC_RECV"},
	named{IBV_QPT_DRIVER, "DRIVER"},
};

constexpr std::array link_layers{
	named{IBV_LINK_LAYER_UNSPECIFIED, "UNSPECIFIED"},
	named{IBV_LINK_LAYER_INFINIBAND, "INFINIBAND"},
	named{IBV_LINK_LAYER_ETHERNET, "ETHERNET"},
};

// enum rdma_port_space: the numbers, since the two headers that declare it
// cannot be included together.
constexpr std::array port_spaces{
	named{0x0002, "IPOIB"},
	named{0x0106, "TCP"},
	named{0x0111, "UDP"},
	named{0x013f, "IB"},
};

// Named by their position.
constexpr std::array qp_states{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
constexpr std::array qp_states_long{
	"reset",	 "initialised",	       "ready to receive",
	"ready to send", "send queue drained", "send queue in error",
	"error",
};
static_assert(qp_states.size() == IBV_QPS_UNKNOWN);
static_assert(qp_states_long.size() == IBV_QPS_UNKNOWN);

constexpr std::array mig_states{"MIGRATED", "REARM", "ARMED"};
static_assert(mig_states.size() == IBV_MIG_ARMED + 1);

// By bit number. nullptr: a bit that has no name.
constexpr std::array<const char *, 26> mask_bits{
	"STATE",
	"CUR_STATE",
	"EN_SQD_ASYNC_NOTIFY",
	"ACCESS_FLAGS",
	"PKEY_INDEX",
	"PORT",
	"QKEY",
	"AV",
	"PATH_MTU",
	"TIMEOUT",
	"RETRY_CNT",
	"RNR_RETRY",
	"RQ_PSN",
	"MAX_QP_RD_ATOMIC",
	"ALT_PATH",
	"MIN_RNR_TIMER",
	"SQ_PSN",
	"MAX_DEST_RD_ATOMIC",
	"PATH_MIG_STATE",
	"CAP",
	"DEST_QPN",
	"SMAC", // reserved, as the three that follow
	"ALT_SMAC",
	"VID",
	"ALT_VID",
	"RATE_LIMIT",
};
static_assert(IBV_QP_DEST_QPN == 1 << 20 && IBV_QP_RATE_LIMIT == 1 << 25);

constexpr std::array<const char *, 21> access_bits{
	"LOCAL_WRITE",
	"REMOTE_WRITE",
	"REMOTE_READ",
	"REMOTE_ATOMIC",
	"MW_BIND",
	"ZERO_BASED",
	"ON_DEMAND",
	"HUGETLB",
	"FLUSH_GLOBAL", // not in every verbs.h, but set by kernels from 6.12 on
	"FLUSH_PERSISTENT",
	nullptr,
	nullptr,
	nullptr,
	nullptr,
	nullptr,
	nullptr,
	nullptr,
	nullptr,
	nullptr,
	nullptr,
	"RELAXED_ORDERING",
};
static_assert(IBV_ACCESS_HUGETLB == 1 << 7 && IBV_ACCESS_RELAXED_ORDERING == 1 << 20);

template <std::size_t N>
constexpr const char *find(const std::array<named, N> &list, std::uint32_t value) noexcept
{
	for (const named &each : list)
		if (each.value == value)
			return each.name;
	return nullptr;
}

template <std::size_t N>
constexpr const char *at(const std::array<const char *, N> &list, std::uint32_t index) noexcept
{
	return index < N ? list[index] : nullptr;
}

template <std::size_t N>
constexpr const char *bit_of(const std::array<const char *, N> &list, std::uint32_t bit) noexcept
{
	for (std::size_t i = 0; i < N; ++i)
		if (bit == std::uint32_t{1} << i)
			return list[i];
	return nullptr;
}

void add_name(text &to, const char *name, std::uint32_t value) noexcept
{
	if (name)
		to.add(name);
	else
		to.addf("0x%x", value);
}

template <std::size_t N>
void add_bits(text &to, const std::array<const char *, N> &list, std::uint32_t bits) noexcept
{
	static_assert(N <= 32);
	const char *between = "";
	for (std::size_t i = 0; i < N; ++i) {
		const std::uint32_t bit = std::uint32_t{1} << i;
		if (!(bits & bit) || !list[i])
			continue;
		to.add(between).add(list[i]);
		between = "|";
		bits &= ~bit;
	}
	if (bits)
		to.add(between).addf("0x%x", bits);
	else if (!*between)
		to.add('0');
}

} // namespace

const char *qp_state_name(std::uint32_t state) noexcept
{
	return at(qp_states, state);
}

const char *qp_state_long_name(std::uint32_t state) noexcept
{
	return at(qp_states_long, state);
}

const char *qp_type_name(std::uint32_t type) noexcept
{
	return find(qp_types, type);
}

const char *mig_state_name(std::uint32_t state) noexcept
{
	return at(mig_states, state);
}

const char *link_layer_name(std::uint32_t layer) noexcept
{
	return find(link_layers, layer);
}

const char *port_space_name(std::uint32_t space) noexcept
{
	return find(port_spaces, space);
}

const char *mask_bit_name(std::uint32_t bit) noexcept
{
	return bit_of(mask_bits, bit);
}

const char *access_bit_name(std::uint32_t bit) noexcept
{
	return bit_of(access_bits, bit);
}

void add_qp_state(text &to, std::uint32_t state) noexcept
{
	add_name(to, qp_state_name(state), state);
}

void add_qp_type(text &to, std::uint32_t type) noexcept
{
	add_name(to, qp_type_name(type), type);
}

void add_mig_state(text &to, std::uint32_t state) noexcept
{
	add_name(to, mig_state_name(state), state);
}

void add_link_layer(text &to, std::uint32_t layer) noexcept
{
	add_name(to, link_layer_name(layer), layer);
}

void add_port_space(text &to, std::uint32_t space) noexcept
{
	add_name(to, port_space_name(space), space);
}

void add_mask(text &to, std::uint32_t mask) noexcept
{
	add_bits(to, mask_bits, mask);
}

void add_access_flags(text &to, std::uint32_t flags) noexcept
{
	add_bits(to, access_bits, flags);
}

} // namespace qpattr::attr
