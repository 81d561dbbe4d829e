// SPDX-License-Identifier: MIT
#include "lib/preload/rules.hpp"

#include <arpa/inet.h>
#include <cstring>

#include "lib/attr/names.hpp"
#include "lib/attr/parse_value.hpp"

namespace qpattr::preload {
namespace {

constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::string_view trimmed(std::string_view from) noexcept
{
	while (!from.empty() && from.front() == ' ')
		from.remove_prefix(1);
	while (!from.empty() && from.back() == ' ')
		from.remove_suffix(1);
	return from;
}

std::string_view part(std::string_view of, std::size_t from, std::size_t to) noexcept
{
	return {of.data() + from, to - from};
}

// What stands before the next separator, and takes both away.
std::string_view take(std::string_view &from, char separator) noexcept
{
	const std::size_t at = from.find(separator);
	const std::size_t end = at == from.npos ? from.size() : at;
	const std::string_view piece = trimmed(part(from, 0, end));
	from.remove_prefix(at == from.npos ? end : end + 1);
	return piece;
}

void add_in_marks(attr::text &to, std::string_view what) noexcept
{
	to.add('\'');
	attr::add_quoted(to, what);
	to.add('\'');
}

// NAME= at the beginning of a text.
bool begins_setting(std::string_view text) noexcept
{
	const std::size_t equals = text.find('=');
	if (equals == text.npos)
		return false;
	const std::string_view name = trimmed(part(text, 0, equals));
	for (const char c : name)
		if (c != '_' && c != '.' && (attr::lower(c) < 'a' || attr::lower(c) > 'z'))
			return false;
	return !name.empty();
}

bool begins_condition(std::string_view text) noexcept
{
	const std::string_view key = trimmed(part(text, 0, text.find('=')));
	for (const char *const known : {"dst", "src", "port", "ps", "dev", "qp_type"})
		if (attr::same_name(key, known))
			return true;
	return false;
}

// Addresses have colons and so have values; a colon before NAME= is the one.
std::size_t split(std::string_view text) noexcept
{
	for (std::size_t i = 0; i < text.size(); ++i)
		if (text[i] == ':' && begins_setting(part(text, i + 1, text.size())))
			return i;
	return text.npos;
}

bool network_of(std::string_view from, network &out) noexcept
{
	const std::size_t slash = from.find('/');
	const std::string_view address = part(from, 0, slash == from.npos ? from.size() : slash);
	char line[INET6_ADDRSTRLEN];
	if (address.size() >= sizeof line)
		return false;
	std::memcpy(line, address.data(), address.size());
	line[address.size()] = '\0';
	const bool ipv4 = ::inet_pton(AF_INET, line, out.address + sizeof mapped) == 1;
	if (ipv4)
		std::memcpy(out.address, mapped, sizeof mapped);
	else if (::inet_pton(AF_INET6, line, out.address) != 1)
		return false;
	std::uint32_t bits = ipv4 ? 32 : 128;
	if (slash != from.npos) {
		std::uint32_t given;
		if (!attr::number_of(part(from, slash + 1, from.size()), given) || given > bits)
			return false;
		bits = given;
	}
	out.bits = static_cast<std::uint8_t>(ipv4 ? bits + 96 : bits);
	out.given = true;
	return true;
}

bool inside(const network &net, const endpoint &end) noexcept
{
	std::uint8_t address[16];
	if (end.kind == endpoint::family::none)
		return false;
	if (end.kind == endpoint::family::ipv4) {
		std::memcpy(address, mapped, sizeof mapped);
		std::memcpy(address + sizeof mapped, end.address, 4);
	} else {
		std::memcpy(address, end.address, sizeof address);
	}
	for (unsigned bit = 0; bit < net.bits; ++bit)
		if ((address[bit / 8] ^ net.address[bit / 8]) & 0x80 >> bit % 8)
			return false;
	return true;
}

struct named {
	const char *name;
	std::uint32_t value;
};
constexpr named port_spaces[] = {
	{"tcp", 0x0106}, {"udp", 0x0111}, {"ib", 0x013f}, {"ipoib", 0x0002}};
constexpr named qp_types[] = {{"rc", IBV_QPT_RC},
			      {"uc", IBV_QPT_UC},
			      {"ud", IBV_QPT_UD},
			      {"xrc_ini", IBV_QPT_XRC_SEND},
			      {"xrc_tgt", IBV_QPT_XRC_RECV}};

bool one_of(std::span<const named> list, std::string_view name, std::uint32_t &out) noexcept
{
	for (const named &each : list)
		if (attr::same_name(name, each.name)) {
			out = each.value;
			return true;
		}
	return false;
}

// One condition of a rule. `form` is what to write if it is none.
bool take_condition(rule &to, std::string_view key, std::string_view value, bool &twice,
		    const char *&form) noexcept
{
	if (attr::same_name(key, "dst") || attr::same_name(key, "src")) {
		network &net = attr::same_name(key, "dst") ? to.dst : to.src;
		form = "an address or a network, such as 10.0.0.0/8 or fd00::/8";
		twice = net.given;
		return network_of(value, net);
	}
	if (attr::same_name(key, "port")) {
		std::uint32_t port = 0;
		form = "a number, 1 to 65535";
		twice = to.port != 0;
		if (!attr::number_of(value, port) || port == 0 || port > UINT16_MAX)
			return false;
		to.port = static_cast<std::uint16_t>(port);
		return true;
	}
	if (attr::same_name(key, "ps")) {
		form = "tcp, udp, ib or ipoib";
		twice = to.port_space != 0;
		return one_of(port_spaces, value, to.port_space);
	}
	if (attr::same_name(key, "qp_type")) {
		form = "rc, ud, uc, xrc_ini or xrc_tgt";
		twice = to.qp_type != 0;
		return one_of(qp_types, value, to.qp_type);
	}
	if (attr::same_name(key, "dev")) {
		form = "the name of a device, such as mlx5_0";
		twice = to.device[0] != '\0';
		if (value.empty() || value.size() >= sizeof to.device)
			return false;
		for (const char c : value)
			if (c <= ' ' || c > '~' || c == '"' || c == '\\')
				return false;
		std::memcpy(to.device, value.data(), value.size());
		to.device[value.size()] = '\0';
		return true;
	}
	return false;
}

bool parse_match(rule &to, std::string_view text, attr::text &why) noexcept
{
	if (text.empty() || text == "*")
		return true;
	while (!text.empty()) {
		const std::string_view item = take(text, ',');
		const std::size_t equals = item.find('=');
		const char *form = nullptr;
		bool twice = false;
		if (equals != item.npos &&
		    take_condition(to, trimmed(part(item, 0, equals)),
				   trimmed(part(item, equals + 1, item.size())), twice, form) &&
		    !twice)
			continue;
		add_in_marks(why, item);
		if (twice)
			why.add(": there is one before it already; write a rule for each");
		else if (form)
			why.add(": write ").add(form);
		else
			why.add(": a match is made of dst=, src=, port=, ps=, dev= and qp_type=, "
				"with "
				"commas between, or is empty or *");
		return false;
	}
	return true;
}

} // namespace

bool matches(const rule &one, const connection &which) noexcept
{
	return (!one.dst.given || inside(one.dst, which.dst)) &&
	       (!one.src.given || inside(one.src, which.src)) &&
	       (!one.port || one.port == which.dst.port || one.port == which.src.port) &&
	       (!one.port_space || one.port_space == which.port_space) &&
	       (!one.qp_type || one.qp_type == which.qp_type) &&
	       (!one.device[0] || std::strcmp(one.device, which.device) == 0);
}

bool rules::parse(std::string_view text, attr::text &why) noexcept
{
	count_ = settings_count_ = 0;
	why.clear();
	if (text.size() > text_max) {
		why.addf("it is longer than %zu bytes: write fewer rules", text_max);
		return false;
	}
	while (!text.empty()) {
		const std::string_view one = take(text, ';');
		if (one.empty())
			continue;
		attr::text_of<384> line;
		if (parse_rule(one, line))
			continue;
		why.addf("rule %zu: ", count_ + 1).add(line.c_str());
		count_ = settings_count_ = 0;
		return false;
	}
	if (count_ == 0)
		why.add("there is no rule in it: write MATCH:ATTRIBUTE=VALUE");
	return count_ != 0;
}

bool rules::parse_rule(std::string_view text, attr::text &why) noexcept
{
	if (count_ == rules_max) {
		why.addf("there may be %zu rules at most", rules_max);
		return false;
	}
	rule one;
	one.written = text;
	const std::size_t colon = split(text);
	std::string_view match, set = text;
	if (colon != text.npos) {
		match = trimmed(part(text, 0, colon));
		set = trimmed(part(text, colon + 1, text.size()));
	}
	// Settings alone are for all connections; a match alone sets nothing.
	if (colon == text.npos && (!begins_setting(text) || begins_condition(text))) {
		add_in_marks(why, text);
		why.add(" sets nothing: write MATCH:ATTRIBUTE=VALUE");
		return false;
	}
	if (!parse_match(one, match, why) || !parse_settings(one, set, why))
		return false;
	rules_[count_++] = one;
	return true;
}

bool rules::parse_settings(rule &to, std::string_view text, attr::text &why) noexcept
{
	to.first = static_cast<std::uint16_t>(settings_count_);
	while (!text.empty()) {
		const std::string_view item = take(text, ',');
		const std::size_t equals = item.find('=');
		if (equals == item.npos) {
			add_in_marks(why, item);
			why.add(": write ATTRIBUTE=VALUE");
			return false;
		}
		if (settings_count_ == settings_max) {
			why.addf("there may be %zu settings at most", settings_max);
			return false;
		}
		attr::setting &set = settings_[settings_count_];
		if (!attr::parse_setting(trimmed(part(item, 0, equals)),
					 trimmed(part(item, equals + 1, item.size())), set, why))
			return false;
		for (std::size_t i = to.first; i < settings_count_; ++i)
			if (settings_[i].what == set.what) {
				why.add(set.what->name).add(" is set twice");
				return false;
			}
		++settings_count_;
		++to.count;
	}
	return true;
}

} // namespace qpattr::preload
