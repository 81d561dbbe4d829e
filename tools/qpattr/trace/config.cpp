// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/config.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "tools/qpattr/common/descriptor.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"

namespace qpattr::tool {
namespace {

constexpr std::size_t file_max = 1 << 20;

// What the preload object takes; it ignores QPATTR_OVERRIDE where there is more.
constexpr std::size_t rules_max = 64;
constexpr std::size_t settings_max = 256; // of all rules
constexpr std::size_t value_max = 4095;

[[noreturn]] void refuse(const std::string &place, const std::string &what)
{
	throw failure{fmt::format("{}: {}", place, what), usage_status};
}

std::optional<unsigned> number_in(std::string_view text, unsigned max)
{
	unsigned out = 0;
	const char *const end = text.data() + text.size();
	const auto [at, code] = std::from_chars(text.data(), end, out);
	return code == std::errc{} && at == end && out <= max ? std::optional{out} : std::nullopt;
}

// An address, or one with the length of a prefix.
bool is_cidr(std::string_view text)
{
	const std::size_t slash = text.find('/');
	const std::string address{text.substr(0, slash)};
	std::array<unsigned char, sizeof(in6_addr)> bytes;
	const bool four = ::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1;
	if (!four && ::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1)
		return false;
	return slash == std::string_view::npos ||
	       number_in(text.substr(slash + 1), four ? 32 : 128).has_value();
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> known)
{
	return std::find(known.begin(), known.end(), text) != known.end();
}

bool is_device_name(std::string_view text)
{
	return !text.empty() && text.size() < 64 &&
	       std::all_of(text.begin(), text.end(), [](unsigned char c) {
		       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			      (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
	       });
}

std::string_view trimmed(std::string_view text)
{
	while (!text.empty() && text.front() == ' ')
		text.remove_prefix(1);
	while (!text.empty() && text.back() == ' ')
		text.remove_suffix(1);
	return text;
}

// NAME=VALUE pieces between commas.
template <class Each>
void for_each_pair(std::string_view text, const std::string &place, const char *example, Each each)
{
	for (;;) {
		const std::size_t comma = text.find(',');
		const std::string_view piece = trimmed(text.substr(0, comma));
		const std::size_t equals = piece.find('=');
		if (equals == std::string_view::npos || equals == 0)
			refuse(place, fmt::format("'{}' is not NAME=VALUE: write {}",
						  harmless(piece), example));
		each(trimmed(piece.substr(0, equals)), trimmed(piece.substr(equals + 1)));
		if (comma == std::string_view::npos)
			return;
		text.remove_prefix(comma + 1);
	}
}

// --- the file ---

std::string at(const std::string &path, const toml::source_region &where)
{
	return fmt::format("{}:{}:{}", path, where.begin.line, where.begin.column);
}

const toml::table &table_of(const toml::node &node, const std::string &path, const char *example)
{
	if (const toml::table *const table = node.as_table())
		return *table;
	refuse(at(path, node.source()), fmt::format("this is to be a table: {}", example));
}

// What a person would write for it on a command line.
std::string scalar(const toml::node &node, const std::string &place)
{
	if (const auto text = node.value_exact<std::string>())
		return *text;
	if (const auto number = node.value_exact<std::int64_t>())
		return fmt::format("{}", *number);
	if (node.is_table())
		refuse(place, "write a name with dots in quotes, or its last part alone");
	refuse(place, "write a whole number, or a text with its unit: \"500ms\"");
}

void add_setting(std::vector<rule_setting> &to, std::string_view name, std::string_view value,
		 const std::string &place)
{
	attr::text_of<512> why;
	rule_setting next;
	next.written = harmless(value);
	if (!attr::parse_setting(name, value, next.is, why))
		refuse(place, why.c_str());
	for (const rule_setting &each : to)
		if (each.is.what == next.is.what)
			refuse(place, fmt::format("{} is set twice: leave one of them out",
						  next.is.what->name));
	to.push_back(std::move(next));
}

std::string match_of(const toml::table &conditions, const std::string &path)
{
	std::string out;
	for (const auto &[key, node] : conditions) {
		const std::string place = at(path, key.source());
		const std::string value = scalar(node, at(path, node.source()));
		check_condition(key.str(), value, place);
		out += fmt::format("{}{}={}", out.empty() ? "" : ",", key.str(), value);
	}
	return out.empty() ? "*" : out;
}

override_rule rule_of(const toml::node &node, const std::string &path)
{
	override_rule out;
	out.origin = fmt::format("{}:{}", path, node.source().begin.line);
	out.match = "*";
	for (const auto &[key, value] : table_of(node, path, "[[rule]]")) {
		if (key == "match") {
			out.match = match_of(
				table_of(value, path, "match = { dst = \"10.0.0.0/8\" }"), path);
		} else if (key == "set") {
			for (const auto &[name, setting] :
			     table_of(value, path, "set = { timeout = 16 }"))
				add_setting(out.set, name.str(),
					    scalar(setting, at(path, setting.source())),
					    at(path, name.source()));
		} else {
			refuse(at(path, key.source()),
			       fmt::format("unknown key '{}': a rule has match and set",
					   harmless(key.str())));
		}
	}
	if (out.set.empty())
		refuse(at(path, node.source()), "this rule sets nothing: add set = { timeout = 16 }");
	return out;
}

// The file that is open, whatever its name leads to afterwards.
void insist_on_owner(int fd, const std::string &path)
{
	struct stat is;
	if (::fstat(fd, &is) != 0)
		throw failure{fmt::format("cannot look at {}: {}", path, std::strerror(errno))};
	if (!S_ISREG(is.st_mode))
		throw failure{fmt::format("{} is not a file: give a file with rules", path),
			      usage_status};
	if (is.st_uid != 0 && is.st_uid != ::geteuid())
		throw failure{fmt::format("{} belongs to another user, who could change what your "
					  "programs do: copy it, and use the copy",
					  path)};
	if (is.st_mode & (S_IWGRP | S_IWOTH))
		throw failure{fmt::format("{} can be written by others, who could change what your "
					  "programs do: chmod go-w {}",
					  path, path)};
}

std::string text_of_file(const std::string &path)
{
	// Without waiting for the writer of a FIFO, which is refused below.
	const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
	if (!file)
		throw failure{fmt::format("cannot read {}: {}", path, std::strerror(errno)),
			      errno == ENOENT ? usage_status : failed_status};
	insist_on_owner(file.fd(), path);
	std::string out(file_max + 1, '\0');
	std::size_t len = 0;
	while (len < out.size()) {
		const ssize_t got = ::read(file.fd(), out.data() + len, out.size() - len);
		if (got < 0)
			throw failure{
				fmt::format("cannot read {}: {}", path, std::strerror(errno))};
		if (got == 0)
			break;
		len += static_cast<std::size_t>(got);
	}
	if (len > file_max)
		throw failure{fmt::format("{} is longer than a megabyte: is it the right file?",
					  path),
			      usage_status};
	out.resize(len);
	return out;
}

} // namespace

void check_condition(std::string_view key, std::string_view value, const std::string &place)
{
	const std::string shown = harmless(value);
	if (value.find('\0') != std::string_view::npos)
		refuse(place, fmt::format("{} has a zero byte in it", key));
	if (key == "dst" || key == "src") {
		if (!is_cidr(value))
			refuse(place, fmt::format("{}={} is no address: write 10.0.0.1, 10.0.0.0/8 "
						  "or fd00::/8",
						  key, shown));
	} else if (key == "port") {
		if (number_in(value, 65535).value_or(0) == 0)
			refuse(place, fmt::format("port={} is no port: write a number, 1 to 65535",
						  shown));
	} else if (key == "ps") {
		if (!is_one_of(value, {"tcp", "udp", "ib", "ipoib"}))
			refuse(place, fmt::format("ps={} is no port space: write tcp, udp, ib or "
						  "ipoib",
						  shown));
	} else if (key == "qp_type") {
		if (!is_one_of(value, {"rc", "uc", "ud", "xrc_ini", "xrc_tgt"}))
			refuse(place, fmt::format("qp_type={} is no type of QP: write rc, uc, ud, "
						  "xrc_ini or xrc_tgt",
						  shown));
	} else if (key == "dev") {
		if (!is_device_name(value))
			refuse(place, fmt::format("dev={} is no name of a device: write one as "
						  "ibv_devices shows it, such as mlx5_0",
						  shown));
	} else {
		refuse(place, fmt::format("unknown condition '{}': there are dst, src, port, ps, "
					  "dev and qp_type",
					  harmless(key)));
	}
}

std::vector<rule_setting> parse_settings(std::string_view text, const std::string &place)
{
	std::vector<rule_setting> out;
	for_each_pair(text, place, "timeout=500ms", [&](std::string_view name, std::string_view value) {
		add_setting(out, name, value, place);
	});
	return out;
}

std::string parse_match(std::string_view text, const std::string &place)
{
	if (trimmed(text).empty() || trimmed(text) == "*")
		return "*";
	std::string out;
	for_each_pair(text, place, "dst=10.0.0.0/8", [&](std::string_view key, std::string_view value) {
		check_condition(key, value, place);
		if (("," + out).find(fmt::format(",{}=", key)) != std::string::npos)
			refuse(place, fmt::format("{}= is there twice: both cannot hold; for either "
						  "write a rule each",
						  key));
		out += fmt::format("{}{}={}", out.empty() ? "" : ",", key, value);
	});
	return out;
}

std::vector<override_rule> parse_config(std::string_view text, const std::string &path)
{
	toml::table all;
	try {
		all = toml::parse(text, path);
	} catch (const toml::parse_error &why) {
		// What it says may go over several lines.
		std::string said{why.description()};
		std::replace(said.begin(), said.end(), '\n', ' ');
		refuse(at(path, why.source()), harmless(said));
	}
	std::vector<override_rule> out;
	for (const auto &[key, node] : all) {
		if (key != "rule")
			refuse(at(path, key.source()),
			       fmt::format("unknown key '{}': the file has [[rule]] tables only",
					   harmless(key.str())));
		const toml::array *const list = node.as_array();
		if (!list)
			refuse(at(path, node.source()), "write [[rule]], with two brackets");
		for (const toml::node &each : *list)
			out.push_back(rule_of(each, path));
	}
	if (out.empty())
		refuse(path, "there is no [[rule]] in it");
	return out;
}

std::vector<override_rule> read_config(const std::string &path)
{
	return parse_config(text_of_file(path), path);
}

std::string override_value(const std::vector<override_rule> &rules)
{
	std::string out;
	std::size_t settings = 0;
	for (const override_rule &each : rules) {
		settings += each.set.size();
		out += fmt::format("{}{}:", out.empty() ? "" : ";", each.match);
		for (std::size_t i = 0; i < each.set.size(); ++i)
			out += fmt::format("{}{}={}", i ? "," : "", each.set[i].is.what->name,
					   each.set[i].is.number);
	}
	if (rules.size() > rules_max || settings > settings_max || out.size() > value_max)
		throw failure{fmt::format("{} rules with {} settings are too many: at most {} with "
					  "{}, and {} bytes of text",
					  rules.size(), settings, rules_max, settings_max,
					  value_max),
			      usage_status};
	return out;
}

} // namespace qpattr::tool
