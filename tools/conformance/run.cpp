// SPDX-License-Identifier: MIT
#include "tools/conformance/run.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tools/conformance/child.hpp"
#include "tools/conformance/printer.hpp"
#include "tools/conformance/quote.hpp"
#include "tools/written_file.hpp"

namespace conformance {
namespace {

using nlohmann::json;

constexpr int schema_version = 1;

std::string first_line(const std::string &text)
{
	return text.substr(0, text.find('\n'));
}

struct kind_line {
	std::string name;
	bool once, slow;
	std::string what;
};

std::vector<kind_line> kinds_of(const std::string &program)
{
	std::vector<kind_line> out;
	const child_end ended = run_child({program, "--list"}, {}, 30, [&](const std::string &line) {
		const auto first = line.find('\t'), second = line.find('\t', first + 1);
		if (second == std::string::npos)
			return;
		const std::string how = line.substr(first + 1, second - first - 1);
		out.push_back({line.substr(0, first), how.find("once") != std::string::npos,
			       how.find("slow") != std::string::npos, line.substr(second + 1)});
	});
	if (ended.status != 0 || out.empty())
		throw cannot_run(program + " --list: " +
				 (ended.said.empty() ? "status " + std::to_string(ended.status)
						     : first_line(ended.said)));
	return out;
}

struct found_address {
	labelled_address address;
	json leads_to; // device, port, manager; or why to none
	[[nodiscard]] bool is_served() const { return leads_to.contains("device"); }
};

// Labels stand in names of cells and in commands, and tell addresses apart.
void look_at_labels(const std::vector<labelled_address> &addresses)
{
	std::set<std::string> seen;
	for (const labelled_address &each : addresses) {
		if (each.label.empty() || each.label.find_first_of("/ \t\n'\"\\") != std::string::npos)
			throw std::runtime_error("--address: '" + each.label + "' is no label");
		if (!seen.insert(each.label).second)
			throw std::runtime_error("--address: two have the label '" + each.label + "'");
	}
}

std::vector<found_address> look_at_addresses(const wishes &given)
{
	look_at_labels(given.addresses);
	const bool asked_for = !given.addresses.empty();
	std::vector<found_address> out;
	std::string why;
	for (const labelled_address &each : asked_for ? given.addresses : addresses_here()) {
		json leads_to;
		const child_end ended =
			run_child({given.program, "--probe", "--address", each.text}, {}, 60,
				  [&](const std::string &line) {
					  leads_to = json::parse(line, nullptr, false);
				  });
		if (ended.status != 0 || !leads_to.is_object())
			throw std::runtime_error(ended.said.empty() ? "no answer about " + each.text
								    : first_line(ended.said));
		const found_address found{each, leads_to};
		if (!found.is_served())
			why += (why.empty() ? "" : ", ") + each.text + ": " +
			       leads_to["why"].get<std::string>();
		if (found.is_served() || asked_for)
			out.push_back(found);
	}
	if (std::ranges::none_of(out, &found_address::is_served))
		throw cannot_run("no RDMA device is at any address (see `rdma link`, `ip address`): " +
				 (why.empty() ? "there is none but the loopback's" : why) +
				 wrong_with_verbs_nodes());
	return out;
}

bool wanted(const wishes &given, const std::string &cell)
{
	return given.cells.empty() || std::ranges::any_of(given.cells, [&](const auto &part) {
		       return cell.starts_with(part) || cell.ends_with("/" + part);
	       });
}

std::vector<std::string> command_of(const wishes &given, const kind_line &kind,
				    const labelled_address &address)
{
	std::string again = given.again;
	if (again.empty())
		again = shell_word(given.called) + " --preload " + shell_word(given.preload) + " --address " +
			shell_word(address.label + "=" + address.text) +
			(given.any_object ? " --any-object" : "") +
			(given.removable.empty() ? "" : " --may-remove " + shell_word(given.removable));
	again += " --cell " + shell_word(kind.name + "/" + address.label) + (kind.slow ? " --slow" : "");
	std::vector<std::string> out{given.program, "--kind",	 kind.name,	  "--label",
				     address.label, "--address", address.text,	  "--preload",
				     given.preload, "--again",	 again};
	const auto add = [&out](const char *name, const std::string &value) {
		if (!value.empty())
			out.insert(out.end(), {name, value});
	};
	add("--may-remove", given.removable);
	add("--only", given.stop);
	add("--fill", given.fill);
	add("--first", given.first);
	if (given.state >= 0)
		add("--state", std::to_string(given.state));
	return out;
}

// The line by which the preload object says whose answers its answers are.
constexpr const char *serves = "rdma_init_qp_attr is served by qpattr";

// What a child that ended without a last word died of.
std::string cause(const child_end &ended, int seconds)
{
	if (ended.timed_out)
		return "no end within " + std::to_string(seconds) + " s";
	std::string out = ended.status > 128 ? "ended by signal " + std::to_string(ended.status - 128)
					     : "ended with status " + std::to_string(ended.status);
	if (!ended.said.empty())
		out += ": " + first_line(ended.said);
	return out;
}

void break_off(json &cell, const std::string &why)
{
	cell["status"] = "broken";
	cell["reason"] = why;
}

// One cell as the run's file has it.
json run_cell(const wishes &given, const kind_line &kind, const found_address &at, printer &to)
{
	json cell{{"cell", kind.name + "/" + at.address.label},
		  {"what", kind.what},
		  {"address", at.address.text},
		  {"stops", json::array()},
		  {"checks", json::array()},
		  {"seconds", 0.0}};
	if (!at.is_served()) {
		cell.update({{"status", "unavailable"},
			     {"reason", at.leads_to["why"]},
			     {"asked", 0},
			     {"equal", 0}});
		to.cell(cell);
		return cell;
	}
	cell.update(at.leads_to);
	const auto start = std::chrono::steady_clock::now();
	std::string foreign; // on the standard output, and not a line of the cell's
	const child_end ended = run_child(
		command_of(given, kind, at.address), {"QPATTR_DEBUG=1"}, given.seconds,
		[&](const std::string &text) {
			json line = json::parse(text, nullptr, false);
			if (!line.is_object()) {
				foreign = foreign.empty() ? text : foreign;
				return;
			}
			to.line(line);
			if (line["type"] == "stop")
				cell["stops"].push_back(line);
			else if (line["type"] == "check")
				cell["checks"].push_back(line);
			else if (line["type"] == "cell")
				cell.update(line);
		});
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
	cell["seconds"] = static_cast<double>(static_cast<long>(took.count() * 100)) / 100;
	if (!cell.contains("status"))
		break_off(cell, cause(ended, given.seconds));
	// It may have said its last word and not have come to its end.
	else if (ended.timed_out || ended.status > 1)
		break_off(cell, "after its last word: " + cause(ended, given.seconds));
	// A stage may be lost in it.
	else if (!foreign.empty())
		break_off(cell, "on its standard output is what is not the cell's: " + foreign.substr(0, 80));
	// If stock served both, they would agree whatever ours does.
	else if (!given.any_object && !cell["stops"].empty() &&
		 ended.said.find(serves) == std::string::npos)
		break_off(cell, "qpattr did not serve: " +
					(ended.said.empty() ? "it said nothing" : first_line(ended.said)));
	to.cell(cell);
	return cell;
}

std::string kernel_release()
{
	utsname names{};
	::uname(&names);
	return names.release;
}

bool is_of(int fd, const std::string &path)
{
	struct stat is, named;
	return ::fstat(fd, &is) == 0 && ::stat(path.c_str(), &named) == 0 && is.st_dev == named.st_dev &&
	       is.st_ino == named.st_ino;
}

// The run's file. Whole, or not at all; but what is no file (/dev/stdout, a pipe) is
// written to and not replaced; nor is what is a standard stream too.
class run_file {
public:
	// Throws if it could not be written at the end.
	explicit run_file(const std::string &path) : path_{qpattr::written_path(path)} // a link stays
	{
		struct stat is {};
		const bool there = ::lstat(path_.c_str(), &is) == 0;
		if (there && S_ISDIR(is.st_mode))
			errno = EISDIR, fail();
		for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
			if (is_of(fd, path_))
				stream_ = fd;
		direct_ = stream_ >= 0 || (there && !S_ISREG(is.st_mode));
		if (direct_ && stream_ < 0 && ::access(path_.c_str(), W_OK) != 0)
			fail();
		if (!direct_)
			::close(open_part());
		drop_part();
	}
	void write(const json &what) const
	{
		const std::string text = what.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
		const int fd = opened();
		std::FILE *const file = fd < 0 ? nullptr : ::fdopen(fd, "w");
		bool whole = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
		// Some file systems tell only here that there was no room.
		if (file)
			whole = std::fclose(file) == 0 && whole;
		else if (fd >= 0)
			::close(fd);
		if (!whole || (!direct_ && std::rename(part().c_str(), path_.c_str()) != 0)) {
			const int code = errno;
			drop_part();
			errno = code, fail();
		}
	}

private:
	[[nodiscard]] std::string part() const { return path_ + ".part"; }
	[[nodiscard]] int opened() const
	{
		if (stream_ < 0)
			return direct_ ? qpattr::open_to_write(path_, 0666) : open_part();
		// Behind what was said there so far.
		std::fflush(stdout);
		return ::dup(stream_);
	}
	// Emptied, if one was left there.
	[[nodiscard]] int open_part() const
	{
		const int fd = qpattr::open_to_write(part(), 0666);
		if (::ftruncate(fd, 0) != 0)
			fail();
		return fd;
	}
	void drop_part() const
	{
		if (!direct_)
			(void)std::remove(part().c_str());
	}
	[[noreturn]] void fail() const
	{
		throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno));
	}

	std::string path_;
	bool direct_ = false;
	int stream_ = -1; // the standard stream that is the same file
};

} // namespace

int print_kinds(const wishes &given)
{
	for (const kind_line &each : kinds_of(given.program))
		std::printf("%-12s  %s\n", each.name.c_str(), each.what.c_str());
	return 0;
}

int run(const wishes &given, const std::string &json_file)
{
	look_for_device_node();
	const stock_library stock = find_stock();
	if (::access(given.preload.c_str(), R_OK) != 0)
		throw std::runtime_error("no object to compare: " + given.preload +
					 " cannot be read (--preload)");
	std::optional<run_file> file;
	if (!json_file.empty())
		file.emplace(json_file);
	const std::vector<kind_line> kinds = kinds_of(given.program);
	const std::vector<found_address> addresses = look_at_addresses(given);

	printer to{given.tap};
	to.begin(kernel_release(), stock.path, given.preload);
	json all{{"schema", "qpattr-conformance"},
		 {"version", schema_version},
		 {"kernel", kernel_release()},
		 {"library", {{"version", stock.version}, {"path", stock.path}}},
		 {"ours", given.preload},
		 {"cells", json::array()}};
	for (const auto &[name, value] : given.notes) {
		if (all.contains(name))
			throw std::runtime_error("--note: " + name + " is the file's own");
		all[name] = value;
	}
	std::set<std::string> done;
	for (const found_address &address : addresses)
		for (const kind_line &kind : kinds)
			if (wanted(given, kind.name + "/" + address.address.label) &&
			    (!kind.slow || given.slow) && (!kind.once || done.insert(kind.name).second))
				all["cells"].push_back(run_cell(given, kind, address, to));
	if (all["cells"].empty())
		throw std::runtime_error("no cell is called so (--list has the kinds)");
	const bool held = to.end();
	if (file)
		file->write(all);
	if (std::fflush(stdout) != 0 || std::ferror(stdout))
		throw std::runtime_error("cannot write to the standard output: is the disk full, or the reader gone?");
	return held ? 0 : 1;
}

} // namespace conformance
