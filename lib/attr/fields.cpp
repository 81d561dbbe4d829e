// SPDX-License-Identifier: MIT
#include "lib/attr/fields.hpp"

#include <cstring>

#include "lib/attr/names.hpp"
#include "lib/attr/runs.hpp"
#include "lib/attr/units.hpp"

namespace qpattr::attr {
namespace {

// The rows are the fields that are translated, one for one and in order;
// runs.hpp asserts that those are the whole struct.
consteval bool rows_are_the_fields()
{
	if (attributes.size() != fields.size())
		return false;
	for (std::size_t i = 0; i < fields.size(); ++i)
		if (attributes[i].offset != fields[i].to || attributes[i].len != fields[i].len)
			return false;
	return true;
}
static_assert(rows_are_the_fields());

consteval bool numbers_are_read_whole()
{
	for (const attribute &each : attributes) {
		const bool number = each.len == 1 || each.len == 2 || each.len == 4;
		if (each.kind == unit::gid ? each.len != sizeof(ibv_gid) : !number)
			return false;
	}
	return true;
}
static_assert(numbers_are_read_whole());

const unsigned char *bytes_of(const attribute &what, const ibv_qp_attr &from) noexcept
{
	return reinterpret_cast<const unsigned char *>(&from) + what.offset;
}

template <class T> T load(const unsigned char *from) noexcept
{
	T value;
	std::memcpy(&value, from, sizeof value);
	return value;
}

} // namespace

const attribute *find_attribute(const char *name) noexcept
{
	for (const attribute &each : attributes)
		if (name && std::strcmp(each.name, name) == 0)
			return &each;
	return nullptr;
}

std::uint32_t value_number(const attribute &what, const ibv_qp_attr &from) noexcept
{
	const unsigned char *const bytes = bytes_of(what, from);
	switch (what.len) {
	case 1:
		return *bytes;
	case 2:
		return load<std::uint16_t>(bytes);
	case 4:
		return load<std::uint32_t>(bytes);
	}
	return 0;
}

ibv_gid value_gid(const attribute &what, const ibv_qp_attr &from) noexcept
{
	return what.kind == unit::gid ? load<ibv_gid>(bytes_of(what, from)) : ibv_gid{};
}

bool is_zero(const attribute &what, const ibv_qp_attr &from) noexcept
{
	const unsigned char *const bytes = bytes_of(what, from);
	for (std::size_t i = 0; i < what.len; ++i)
		if (bytes[i])
			return false;
	return true;
}

bool equal_field(const attribute &what, const ibv_qp_attr &a, const ibv_qp_attr &b) noexcept
{
	return std::memcmp(bytes_of(what, a), bytes_of(what, b), what.len) == 0;
}

const attribute *first_difference(const ibv_qp_attr &a, const ibv_qp_attr &b) noexcept
{
	for (const attribute &each : attributes)
		if (!equal_field(each, a, b))
			return &each;
	return nullptr;
}

bool equal_fields(const ibv_qp_attr &a, const ibv_qp_attr &b) noexcept
{
	return !first_difference(a, b);
}

void add_value(text &to, const attribute &what, const ibv_qp_attr &from) noexcept
{
	const std::uint32_t value = value_number(what, from);
	switch (what.kind) {
	case unit::gid:
		return add_gid(to, value_gid(what, from));
	case unit::qp_state:
		return add_qp_state(to, value);
	case unit::mig_state:
		return add_mig_state(to, value);
	case unit::number24:
		return add_number24(to, value);
	case unit::flow_label:
		return add_flow_label(to, value);
	case unit::lid:
		return add_lid(to, value);
	case unit::qkey:
		to.addf("0x%08x", value);
		return;
	case unit::access_flags:
	case unit::traffic_class:
		to.addf("0x%02x", value);
		return;
	case unit::count:
	case unit::flag:
	case unit::path_mtu:
	case unit::gid_index:
	case unit::hop_limit:
	case unit::static_rate:
	case unit::grh_flag:
	case unit::pkey_index:
	case unit::rd_atomic:
	case unit::rnr_timer:
	case unit::timeout:
	case unit::retry_cnt:
	case unit::rnr_retry:
	case unit::rate_limit:
		to.addf("%u", value);
		return;
	}
}

void add_meaning(text &to, const attribute &what, const ibv_qp_attr &from) noexcept
{
	const std::uint32_t value = value_number(what, from);
	switch (what.kind) {
	case unit::count:
	case unit::lid:
		return;
	case unit::flag:
		to.add(value ? "yes" : "no");
		return;
	case unit::qp_state: {
		const char *const name = qp_state_long_name(value);
		to.add(name ? name : "not a QP state (0 to 6)");
		return;
	}
	case unit::path_mtu:
		return add_path_mtu(to, value);
	case unit::mig_state:
		if (!mig_state_name(value))
			to.add("not a migration state (0 to 2)");
		return;
	case unit::qkey:
		return add_qkey_meaning(to, value);
	case unit::number24:
		if (value > number_max)
			to.add("out of range (24 bits)");
		else
			to.addf("%u", value);
		return;
	case unit::access_flags:
		if (value)
			return add_access_flags(to, value);
		to.add("nothing remote");
		return;
	case unit::gid:
		return add_gid_meaning(to, value_gid(what, from));
	case unit::flow_label:
		if (value > 0xfffff)
			to.add("out of range (20 bits)");
		return;
	case unit::gid_index:
		to.addf("entry %u of the port's GID table", value);
		return;
	case unit::hop_limit:
		return add_hop_limit(to, value);
	case unit::traffic_class:
		return add_traffic_class(to, value);
	case unit::static_rate:
		return add_static_rate(to, value);
	case unit::grh_flag:
		to.add(value ? "with a global route (GRH)" : "without a global route");
		return;
	case unit::pkey_index:
		to.addf("entry %u of the port's P_Key table", value);
		return;
	case unit::rd_atomic:
		if (value)
			to.addf("%u READ or ATOMIC at a time", value);
		else
			to.add("no READ or ATOMIC");
		return;
	case unit::rnr_timer:
		return add_rnr_timer(to, value);
	case unit::timeout:
		return add_timeout(to, value);
	case unit::retry_cnt:
		return add_retry_cnt(to, value);
	case unit::rnr_retry:
		return add_rnr_retry(to, value);
	case unit::rate_limit:
		return add_rate_limit(to, value);
	}
}

} // namespace qpattr::attr
