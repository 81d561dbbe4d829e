// SPDX-License-Identifier: MIT
#include "tools/conformance/question.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace conformance {
namespace {

struct field {
	const char *name;
	std::size_t at;
	std::size_t len;
};

#define FIELD(name)                                                                                \
	field                                                                                      \
	{                                                                                          \
		#name, offsetof(ibv_qp_attr, name), sizeof(ibv_qp_attr::name)                      \
	}
#define PART(type, outer, name)                                                                    \
	field                                                                                      \
	{                                                                                          \
		#outer "." #name, offsetof(ibv_qp_attr, outer) + offsetof(type, name),             \
			sizeof(type::name)                                                         \
	}
#define ROUTE(outer, name)                                                                         \
	field                                                                                      \
	{                                                                                          \
		#outer ".grh." #name,                                                              \
			offsetof(ibv_qp_attr, outer) + offsetof(ibv_ah_attr, grh) +                \
				offsetof(ibv_global_route, name),                                  \
			sizeof(ibv_global_route::name)                                             \
	}
#define ADDRESS_VECTOR(outer)                                                                      \
	ROUTE(outer, dgid), ROUTE(outer, flow_label), ROUTE(outer, sgid_index),                    \
		ROUTE(outer, hop_limit), ROUTE(outer, traffic_class),                              \
		PART(ibv_ah_attr, outer, dlid), PART(ibv_ah_attr, outer, sl),                      \
		PART(ibv_ah_attr, outer, src_path_bits), PART(ibv_ah_attr, outer, static_rate),    \
		PART(ibv_ah_attr, outer, is_global), PART(ibv_ah_attr, outer, port_num)

// A list of its own, not the product's: a field that the product forgot must not
// be forgotten here too.
constexpr field fields[] = {
	FIELD(qp_state),
	FIELD(cur_qp_state),
	FIELD(path_mtu),
	FIELD(path_mig_state),
	FIELD(qkey),
	FIELD(rq_psn),
	FIELD(sq_psn),
	FIELD(dest_qp_num),
	FIELD(qp_access_flags),
	PART(ibv_qp_cap, cap, max_send_wr),
	PART(ibv_qp_cap, cap, max_recv_wr),
	PART(ibv_qp_cap, cap, max_send_sge),
	PART(ibv_qp_cap, cap, max_recv_sge),
	PART(ibv_qp_cap, cap, max_inline_data),
	ADDRESS_VECTOR(ah_attr),
	ADDRESS_VECTOR(alt_ah_attr),
	FIELD(pkey_index),
	FIELD(alt_pkey_index),
	FIELD(en_sqd_async_notify),
	FIELD(sq_draining),
	FIELD(max_rd_atomic),
	FIELD(max_dest_rd_atomic),
	FIELD(min_rnr_timer),
	FIELD(port_num),
	FIELD(timeout),
	FIELD(retry_cnt),
	FIELD(rnr_retry),
	FIELD(alt_port_num),
	FIELD(alt_timeout),
	FIELD(rate_limit),
};

constexpr const field *field_at(std::size_t byte)
{
	for (const field &f : fields)
		if (byte >= f.at && byte < f.at + f.len)
			return &f;
	return nullptr;
}

// What lies between the fields and behind the last: one byte after each of two
// routes, two address vectors and alt_timeout, four at the end where the struct's
// numbers of 64 bits lie at a multiple of 8 (not on i386). Whatever more there were
// would be a field not listed.
constexpr bool whole_struct_listed()
{
	std::size_t between = 0;
	for (std::size_t i = 0; i < sizeof(ibv_qp_attr); ++i)
		between += field_at(i) == nullptr;
	return between == (alignof(ibv_qp_attr) == 8 ? 9 : 5);
}
static_assert(whole_struct_listed());

// The fields that stock leaves as the caller filled them.
bool is_callers(const field &f) noexcept
{
	return f.at == offsetof(ibv_qp_attr, qp_state) ||
	       f.at == offsetof(ibv_qp_attr, rate_limit);
}

unsigned char guard_byte(std::size_t i) noexcept
{
	return static_cast<unsigned char>(0x5c ^ (i * 7));
}

std::string hex_bytes(const unsigned char *bytes, std::size_t len)
{
	std::string out;
	char digits[3];
	for (std::size_t i = 0; i < len; ++i) {
		std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
		out += digits;
	}
	return out;
}

// As the outputs were before the call.
outcome unasked(const question &what) noexcept
{
	outcome out;
	out.returned = 0;
	out.code = untouched_errno;
	out.id_kept = true;
	out.attr.fill(what.fill);
	out.mask.fill(what.fill);
	std::memcpy(out.attr.body() + offsetof(ibv_qp_attr, qp_state), &what.state,
		    sizeof what.state);
	return out;
}

std::string name_of(const outcome &of)
{
	if (of.answered())
		return "answered with mask " + hex(of.mask_value());
	return "returned " + std::to_string(of.returned) + " with " + errno_name(of.code);
}

// What must hold for each outcome by itself.
std::string misbehaviour(const outcome &of, const question &what)
{
	if (const auto at = of.attr.written_outside())
		return "wrote outside the struct, at byte " + std::to_string(at);
	if (const auto at = of.mask.written_outside())
		return "wrote outside the mask, at byte " + std::to_string(at);
	if (!of.id_kept)
		return "wrote to the id";
	const outcome before = unasked(what);
	if (!of.answered()) {
		if (of.returned != -1)
			return "returned " + std::to_string(of.returned);
		if (of.attr.bytes != before.attr.bytes)
			return "wrote to the struct though it failed";
		if (of.mask.bytes != before.mask.bytes)
			return "wrote to the mask though it failed";
		return {};
	}
	if (of.code != untouched_errno)
		return "set errno to " + errno_name(of.code) + " though it succeeded";
	for (const field &f : fields)
		if (is_callers(f) &&
		    std::memcmp(of.attr.body() + f.at, before.attr.body() + f.at, f.len) != 0)
			return std::string{"wrote to "} + f.name;
	for (std::size_t i = 0; i < sizeof(ibv_qp_attr); ++i) {
		const unsigned char byte = of.attr.body()[i];
		if (!field_at(i) && byte != 0 && byte != before.attr.body()[i])
			return "wrote " + hex_bytes(&byte, 1) + " between the fields, at byte " +
			       std::to_string(i);
	}
	return {};
}

// Little or big endian, as the machine has it.
unsigned long number_at(const unsigned char *bytes, std::size_t len)
{
	const auto read = [bytes](auto value) {
		std::memcpy(&value, bytes, sizeof value);
		return static_cast<unsigned long>(value);
	};
	switch (len) {
	case 1:
		return read(std::uint8_t{});
	case 2:
		return read(std::uint16_t{});
	default:
		return read(std::uint32_t{});
	}
}

} // namespace

std::string hex(int value)
{
	char digits[16];
	std::snprintf(digits, sizeof digits, "0x%x", static_cast<unsigned>(value));
	return digits;
}

std::vector<std::pair<std::string, std::string>> values_of(const outcome &of)
{
	std::vector<std::pair<std::string, std::string>> out;
	for (const field &f : fields) {
		const unsigned char *bytes = of.attr.body() + f.at;
		if (f.len == sizeof(ibv_gid)) {
			const std::string text = hex_bytes(bytes, f.len);
			if (text.find_first_not_of('0') != std::string::npos)
				out.emplace_back(f.name, text);
		} else if (const unsigned long value = number_at(bytes, f.len)) {
			out.emplace_back(f.name, std::to_string(value));
		}
	}
	return out;
}

template <std::size_t Len> void guarded<Len>::fill(const pattern &with) noexcept
{
	for (std::size_t i = 0; i < bytes.size(); ++i)
		bytes[i] = guard_byte(i);
	for (std::size_t i = 0; i < Len; ++i)
		body()[i] = with.at(i);
}

template <std::size_t Len> std::ptrdiff_t guarded<Len>::written_outside() const noexcept
{
	for (std::size_t i = 0; i < bytes.size(); ++i) {
		const bool inside = i >= guard_len && i < guard_len + Len;
		if (!inside && bytes[i] != guard_byte(i))
			return static_cast<std::ptrdiff_t>(i) -
			       static_cast<std::ptrdiff_t>(guard_len);
	}
	return 0;
}

template struct guarded<sizeof(ibv_qp_attr)>;
template struct guarded<sizeof(int)>;

int outcome::mask_value() const noexcept
{
	int value;
	std::memcpy(&value, mask.body(), sizeof value);
	return value;
}

outcome ask(init_qp_attr_fn *implementation, const question &what) noexcept
{
	outcome out = unasked(what);
	auto *attr = reinterpret_cast<ibv_qp_attr *>(out.attr.body());
	auto *mask = reinterpret_cast<int *>(out.mask.body());
	std::array<unsigned char, sizeof(rdma_cm_id)> id{};
	if (what.id)
		std::memcpy(id.data(), what.id, id.size());
	errno = untouched_errno;
	out.returned = implementation(what.id, attr, mask);
	out.code = errno;
	out.id_kept = !what.id || std::memcmp(id.data(), what.id, id.size()) == 0;
	return out;
}

std::string departure(const outcome &of, const question &what,
		      const std::optional<known_answer> &from)
{
	if (!from)
		return misbehaviour(of, what);
	const bool as_known = from->code == 0
				      ? of.answered() && of.mask_value() == from->mask
				      : of.returned == -1 && of.code == from->code;
	if (!as_known)
		return name_of(of) + ", must be " +
		       (from->code == 0 ? "mask " + hex(from->mask) : errno_name(from->code));
	return misbehaviour(of, what);
}

std::string difference(const outcome &stock, const outcome &ours, const question &what)
{
	if (const auto wrong = misbehaviour(ours, what); !wrong.empty())
		return "ours " + wrong;
	if (stock.returned != ours.returned || stock.code != ours.code ||
	    (stock.answered() && stock.mask_value() != ours.mask_value()))
		return "stock " + name_of(stock) + ", ours " + name_of(ours);
	if (!stock.answered())
		return {};
	for (const field &f : fields) {
		const unsigned char *theirs = stock.attr.body() + f.at;
		const unsigned char *mine = ours.attr.body() + f.at;
		if (std::memcmp(theirs, mine, f.len) != 0)
			return std::string{f.name} + ": stock has the bytes " + hex_bytes(theirs, f.len) +
			       ", ours " + hex_bytes(mine, f.len);
	}
	return {};
}

std::string state_name(int state)
{
	static constexpr const char *names[] = {"RESET", "INIT", "RTR", "RTS",
						"SQD",	 "SQE",	 "ERR"};
	if (state >= 0 && state <= IBV_QPS_ERR)
		return names[state];
	return std::to_string(state);
}

std::string errno_name(int code)
{
	if (code == untouched_errno)
		return "errno untouched";
	const char *name = ::strerrorname_np(code);
	return name ? name : "errno " + std::to_string(code);
}

} // namespace conformance
