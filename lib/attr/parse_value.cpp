// SPDX-License-Identifier: MIT
#include "lib/attr/parse_value.hpp"

#include "lib/attr/names.hpp"
#include "lib/attr/units.hpp"

namespace qpattr::attr {
namespace {

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;
constexpr std::uint64_t s = 1000 * ms;

constexpr bool digit(char c) noexcept
{
	return c >= '0' && c <= '9';
}

void skip_spaces(std::string_view &from) noexcept
{
	while (!from.empty() && from.front() == ' ')
		from.remove_prefix(1);
}

// Twenty digits would overflow; so many are no number that anybody means.
bool take_number(std::string_view &from, std::uint64_t &out) noexcept
{
	constexpr std::size_t digits_max = 18;
	std::size_t digits = 0;
	for (out = 0; digits < from.size() && digit(from[digits]); ++digits) {
		if (digits == digits_max)
			return false;
		out = out * 10 + static_cast<unsigned>(from[digits] - '0');
	}
	from.remove_prefix(digits);
	return digits != 0;
}

// A decimal number as billionths, so that 0.64 has no error; false where it has more
// than nine digits behind the point.
bool take_decimal(std::string_view &from, std::uint64_t &whole, std::uint64_t &billionths) noexcept
{
	billionths = 0;
	if (!take_number(from, whole))
		return false;
	if (from.empty() || from.front() != '.')
		return true;
	from.remove_prefix(1);
	std::uint64_t place = 1'000'000'000;
	for (; !from.empty() && digit(from.front()) && place > 1; from.remove_prefix(1)) {
		place /= 10;
		billionths += static_cast<unsigned>(from.front() - '0') * place;
	}
	return place < 1'000'000'000 && (from.empty() || !digit(from.front()));
}

struct time_unit {
	std::string_view name;
	std::uint64_t ns;
};
constexpr time_unit time_units[] = {
	{"ns", 1},  {"us", us},	     {"\u00b5s", us},	 {"\u03bcs", us},
	{"ms", ms}, {"min", 60 * s}, {"h", 60 * 60 * s}, {"s", s},
};

// "500ms", "2 s", "4 min 35 s". Longer than anything is UINT64_MAX.
bool time_of(std::string_view from, std::uint64_t &ns) noexcept
{
	ns = 0;
	do {
		std::uint64_t whole, billionths;
		if (!take_decimal(from, whole, billionths))
			return false;
		skip_spaces(from);
		const time_unit *unit = nullptr;
		for (const time_unit &each : time_units)
			if (!unit && begins(from, each.name))
				unit = &each;
		if (!unit)
			return false;
		from.remove_prefix(unit->name.size());
		skip_spaces(from);
		// A quarter of the range for each part, so that the sum cannot overflow either.
		constexpr std::uint64_t part_max = UINT64_MAX / 4;
		if (whole >= part_max / unit->ns || ns >= part_max) {
			ns = UINT64_MAX;
			return true;
		}
		// Units from a second on are whole seconds: no product overflows.
		ns += whole * unit->ns +
		      (unit->ns >= s ? billionths * (unit->ns / s) : billionths * unit->ns / s);
	} while (!from.empty());
	return true;
}

bool for_ever(std::string_view value) noexcept
{
	return same_name(value, "forever") || same_name(value, "for ever") ||
	       same_name(value, "infinite");
}

// Whether it is what the code is printed as, "67.1 ms", with or without spaces:
// what a person has copied means that code and no longer one.
template <class Add> bool printed_as(std::string_view value, Add add, unsigned code) noexcept
{
	text_of<64> line;
	add(line, code);
	const char *at = line.c_str();
	for (const char c : value) {
		if (c == ' ')
			continue;
		while (*at == ' ')
			++at;
		if (lower(*at) != lower(c))
			return false;
		++at;
	}
	return *at == '\0' && !value.empty();
}

struct wanted {
	std::string_view value;
	std::uint32_t &number;
	bool &rounded;
	text &why;

	outcome take(std::uint32_t code, bool other = false) const noexcept
	{
		number = code;
		rounded = other;
		return outcome::done;
	}
};

outcome take_timeout(const wanted &w) noexcept
{
	if (for_ever(w.value))
		return w.take(0);
	std::uint64_t ns;
	if (!time_of(w.value, ns))
		return outcome::not_this;
	for (unsigned code = 1; code <= timeout_max; ++code)
		if (printed_as(w.value, add_timeout, code))
			return w.take(code);
	if (ns == 0) {
		w.why.add("no timeout is so short: the shortest is 8.19us (code 1), and code 0 "
			  "waits for ever");
		return outcome::refused;
	}
	for (unsigned code = 1; code <= timeout_max; ++code)
		if (timeout_ns(code) >= ns)
			return w.take(code, timeout_ns(code) != ns);
	w.why.add("the longest timeout is 2 h 27 min (code 31); code 0 waits for ever");
	return outcome::refused;
}

outcome take_rnr_timer(const wanted &w) noexcept
{
	std::uint64_t ns;
	if (!time_of(w.value, ns))
		return outcome::not_this;
	// In the order of their length code 0 is the last.
	for (unsigned i = 1; i <= rnr_timer_max + 1; ++i) {
		const unsigned code = i % (rnr_timer_max + 1);
		if (rnr_timer_us(code) * us >= ns)
			return w.take(code, rnr_timer_us(code) * us != ns);
	}
	w.why.add("the longest RNR timer is 655.36ms (code 0)");
	return outcome::refused;
}

// A code above 5 is so many bytes: no code and no size are the same number.
outcome take_path_mtu(const wanted &w) noexcept
{
	std::string_view value = w.value;
	std::uint64_t bytes;
	if (!take_number(value, bytes))
		return outcome::not_this;
	skip_spaces(value);
	const bool unit = same_name(value, "B") || same_name(value, "bytes");
	if (!value.empty() && !unit)
		return outcome::not_this;
	for (std::uint32_t code = IBV_MTU_256; code <= IBV_MTU_4096; ++code)
		if (bytes == mtu_bytes(code) || (!unit && bytes == code))
			return w.take(code);
	return outcome::not_this;
}

// Class selectors, assured and expedited forwarding, as add_traffic_class() names
// them.
bool dscp_of(std::string_view name, std::uint32_t &dscp) noexcept
{
	if (number_of(name, dscp))
		return dscp < 64;
	for (dscp = 0; dscp < 64; ++dscp) {
		text_of<64> line;
		add_traffic_class(line, dscp << 2);
		const std::string_view said{line.c_str(), line.size()};
		const std::size_t open = said.find('('), shut = said.find(')');
		if (open != said.npos &&
		    same_name(name, std::string_view{said.data() + open + 1, shut - open - 1}))
			return true;
	}
	dscp = 0;
	return same_name(name, "CS0") || same_name(name, "BE") || same_name(name, "DF");
}

outcome take_traffic_class(const wanted &w) noexcept
{
	std::string_view value = w.value;
	std::uint32_t dscp;
	const bool marked = begins(value, "dscp:");
	if (marked)
		value.remove_prefix(5);
	// A number alone is the whole field.
	if ((!marked && number_of(value, dscp)) || !dscp_of(value, dscp))
		return outcome::not_this;
	return w.take(dscp << 2);
}

outcome take_static_rate(const wanted &w) noexcept
{
	if (same_name(w.value, "max") || same_name(w.value, "port"))
		return w.take(IBV_RATE_MAX);
	std::string_view value = w.value;
	std::uint64_t whole, billionths;
	if (!take_decimal(value, whole, billionths))
		return outcome::not_this;
	skip_spaces(value);
	if (!same_name(value, "Gb/s") && !same_name(value, "Gbps") && !same_name(value, "G"))
		return outcome::not_this;
	for (std::uint32_t code = 1; code <= UINT8_MAX; ++code) {
		const std::uint64_t mbps = rate_mbps(code);
		if (mbps && mbps / 1000 == whole && mbps % 1000 * 1'000'000 == billionths)
			return w.take(code);
	}
	w.why.add(
		"no such rate: 2.5, 5, 10, 14, 20, 25, 28, 30, 40, 50, 56, 60, 80, 100, 112, 120, "
		"168, 200, 300, 400, 600, 800 or 1200Gb/s");
	return outcome::refused;
}

outcome take_access_flags(const wanted &w) noexcept
{
	if (same_name(w.value, "none") || same_name(w.value, "nothing remote"))
		return w.take(0);
	std::string_view value = w.value;
	std::uint32_t flags = 0;
	while (!value.empty()) {
		const std::size_t end = value.find_first_of("|+");
		const std::string_view name{value.data(), end == value.npos ? value.size() : end};
		std::uint32_t bit = 0;
		for (unsigned i = 0; i < 32 && !bit; ++i)
			if (const char *known = access_bit_name(1U << i);
			    known && same_name(name, known))
				bit = 1U << i;
		if (!bit)
			return outcome::not_this;
		flags |= bit;
		value.remove_prefix(name.size() + (end == value.npos ? 0 : 1));
		if (end != value.npos && value.empty())
			return outcome::not_this; // a separator with nothing behind
	}
	return w.value.empty() ? outcome::not_this : w.take(flags);
}

outcome take_mig_state(const wanted &w) noexcept
{
	for (std::uint32_t state = 0; const char *name = mig_state_name(state); ++state)
		if (same_name(w.value, name))
			return w.take(state);
	return outcome::not_this;
}

} // namespace

bool number_of(std::string_view from, std::uint32_t &out) noexcept
{
	std::uint64_t value = 0;
	if (begins(from, "0x")) {
		from.remove_prefix(2);
		if (from.empty() || from.size() > 8)
			return false;
		for (const char c : from) {
			const char low = lower(c);
			if (!digit(c) && (low < 'a' || low > 'f'))
				return false;
			value = value * 16 +
				static_cast<unsigned>(digit(c) ? c - '0' : low - 'a' + 10);
		}
	} else if (!take_number(from, value) || !from.empty() || value > UINT32_MAX) {
		return false;
	}
	out = static_cast<std::uint32_t>(value);
	return true;
}

outcome take_with_unit(std::string_view value, unit kind, std::uint32_t &number, bool &rounded,
		       text &why) noexcept
{
	const wanted w{value, number, rounded, why};
	switch (kind) {
	case unit::timeout:
		return take_timeout(w);
	case unit::rnr_timer:
		return take_rnr_timer(w);
	case unit::path_mtu:
		return take_path_mtu(w);
	case unit::traffic_class:
		return take_traffic_class(w);
	case unit::static_rate:
		return take_static_rate(w);
	case unit::access_flags:
		return take_access_flags(w);
	case unit::mig_state:
		return take_mig_state(w);
	case unit::rnr_retry:
		return for_ever(w.value) ? w.take(rnr_retry_for_ever) : outcome::not_this;
	default:
		return outcome::not_this;
	}
}

} // namespace qpattr::attr
