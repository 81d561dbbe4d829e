// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "tools/qpattr/common/descriptor.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/terminal.hpp"
#include "tools/qpattr/common/trace_text.hpp"
#include "tools/qpattr/trace/perfetto.hpp"
#include "tools/written_file.hpp"

namespace qpattr::tool {
namespace {

bool is_regular(int fd)
{
	struct stat is;
	return ::fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
}

[[noreturn]] void refuse_written(const std::string &path)
{
	throw failure{fmt::format("{} is being written by another qpattr: name another file", path)};
}

// Two that write one file would leave neither's trace.
void lock_or_fail(const std::string &path, int fd)
{
	if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		refuse_written(path);
}

// For its owner only: with what is in it a stranger could send packets to the QPs.
constexpr mode_t owners = 0600;

// Emptied when it is ours alone.
int open_or_fail(const std::string &path)
{
	descriptor file{open_to_write(path, owners)};
	if (!is_regular(file.fd()))
		return file.keep();
	lock_or_fail(path, file.fd());
	if (::ftruncate(file.fd(), 0) != 0)
		throw failure{fmt::format("cannot empty {}: {}", path, std::strerror(errno))};
	return file.keep();
}

// A new file also where one was left, which others may have open to read; but not where
// another qpattr writes. That may begin between any two steps of this: of two that do, at
// most one ends with the file that has the name, locked.
int open_part(const std::string &path)
{
	const descriptor before{open_to_write(path, owners)};
	lock_or_fail(path, before.fd());
	if (!is_still_at(path, before.fd()))
		refuse_written(path);
	if (!is_regular(before.fd()))
		throw failure{fmt::format("{} is no file: remove it, or name another file", path)};
	descriptor file{open_in_place_of(path, before.fd(), owners)};
	lock_or_fail(path, file.fd());
	if (!is_still_at(path, file.fd()))
		refuse_written(path);
	return file.keep();
}

bool is_same_file(const std::string &one, const std::string &other)
{
	struct stat a, b;
	return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// A file or pipe that is also a standard stream of this process: the program writes there
// too, and it is not to be emptied. A terminal or /dev/null may be named as any file.
bool is_stream(const std::string &path, int fd)
{
	struct stat a, b;
	return ::stat(path.c_str(), &a) == 0 && ::fstat(fd, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino && !S_ISCHR(a.st_mode);
}

// What is written under the name that it has, or under one that is its own until the end.
enum class name_of : bool { file, part };

// A descriptor that takes pieces whole, and keeps `tail` behind the last of them.
class sink {
public:
	sink(const std::string &path, std::string tail, name_of what)
		: name_{path.empty() ? "standard error" : path == "-" ? "standard output" : path},
		  tail_{std::move(tail)}
	{
		if (path.empty())
			fd_ = STDERR_FILENO;
		else if (path == "-")
			fd_ = STDOUT_FILENO;
		else
			fd_ = what == name_of::part ? open_part(path) : open_or_fail(path);
		own_ = fd_ > STDERR_FILENO;
		terminal_ = ::isatty(fd_) == 1;
		// Of a file that others write too, as a standard stream may be, the
		// position is not ours alone.
		positioned_ = own_ && is_regular(fd_);
	}
	~sink()
	{
		if (own_)
			::close(fd_);
	}
	sink(const sink &) = delete;
	sink &operator=(const sink &) = delete;

	bool write(std::string_view piece)
	{
		if (positioned_)
			return write_before_tail(piece);
		if (write_all(fd_, piece))
			return true;
		error_ = errno;
		return false;
	}

	// After the last piece. False: the tail is not there.
	bool finish()
	{
		if (tail_.empty())
			return true;
		return positioned_ ? write_before_tail("") : write_all(fd_, tail_);
	}

	[[nodiscard]] int fd() const { return fd_; }
	[[nodiscard]] bool is_terminal() const { return terminal_; }
	[[nodiscard]] int error() const { return error_; }
	[[nodiscard]] const std::string &name() const { return name_; }

private:
	bool write_at(std::string_view piece, std::uint64_t at)
	{
		while (!piece.empty()) {
			const ssize_t written = ::pwrite(fd_, piece.data(), piece.size(),
							 static_cast<off_t>(at));
			if (written < 0 && errno == EINTR)
				continue;
			if (written <= 0)
				return false;
			piece.remove_prefix(static_cast<std::size_t>(written));
			at += static_cast<std::uint64_t>(written);
		}
		return true;
	}

	// Where there is no room for both, the file is again what it was: what is there
	// of it is good, and its blocks were there for the tail.
	bool write_before_tail(std::string_view piece)
	{
		if (write_at(std::string{piece} + tail_, position_)) {
			position_ += piece.size();
			return true;
		}
		error_ = errno;
		const bool cut = ::ftruncate(fd_, static_cast<off_t>(position_)) == 0;
		if (cut && !tail_.empty())
			write_at(tail_, position_);
		return false;
	}

	std::string name_, tail_;
	int fd_ = -1;
	int error_ = 0;
	bool own_ = false, positioned_ = false, terminal_ = false;
	std::uint64_t position_ = 0;
};

class counted_output : public trace_output {
public:
	counted_output(const std::string &path, std::string tail, name_of what = name_of::file)
		: to_{path, std::move(tail), what}
	{
	}
	[[nodiscard]] std::uint64_t lost() const override { return lost_; }
	[[nodiscard]] int error() const override { return to_.error(); }
	[[nodiscard]] const std::string &name() const override { return to_.name(); }

protected:
	void put(std::string_view piece)
	{
		if (!piece.empty() && !to_.write(piece))
			++lost_;
	}
	sink &to() { return to_; }

private:
	sink to_;
	std::uint64_t lost_ = 0;
};

class text_output : public counted_output {
public:
	explicit text_output(const std::string &path)
		: counted_output{path, ""}, writer_{terminal{to().fd()}}
	{
	}
	void take(const record &each, std::string_view) override { put(writer_.lines_of(each)); }
	void finish(std::uint64_t) override {}

private:
	text_writer writer_;
};

class json_output : public counted_output {
public:
	explicit json_output(const std::string &path) : counted_output{path, ""} {}
	void take(const record &, std::string_view line) override
	{
		put((to().is_terminal() ? harmless(line) : std::string{line}) + "\n");
	}
	void finish(std::uint64_t) override {}
};

// Whole only with its end: until then it has another name.
class perfetto_output : public counted_output {
public:
	perfetto_output(const std::string &working, const std::string &path)
		: counted_output{working, std::string{perfetto_writer::tail},
				 working == path ? name_of::file : name_of::part},
		  final_{path}, renamed_{working != path},
		  writer_{[this](std::string_view event) { put(event); }}
	{
		put(perfetto_writer::head);
	}
	void take(const record &each, std::string_view) override { writer_.take(each); }
	void finish(std::uint64_t time_ns) override
	{
		writer_.finish(time_ns);
		const bool whole = to().finish() && lost() == 0;
		if (!renamed_)
			return;
		if (!whole)
			throw failure{fmt::format("{} is not whole ({}): make room and trace again",
						  name(), std::strerror(error()))};
		if (std::rename(name().c_str(), final_.c_str()) != 0)
			throw failure{fmt::format("cannot rename {} to {}: {}", name(), final_,
						  std::strerror(errno))};
	}

private:
	std::string final_;
	bool renamed_;
	perfetto_writer writer_;
};

// What is there and is no file, a pipe or a device or a descriptor, is written to as it is.
std::string working_name(const std::string &path)
{
	struct stat is;
	const bool other = ::lstat(path.c_str(), &is) == 0 && !S_ISREG(is.st_mode);
	if (path == "-" || (other && !S_ISDIR(is.st_mode)))
		return path;
	if (other)
		throw failure{fmt::format("cannot write {}: it is a directory", path)};
	return path + ".partial";
}

void insist_on_unneeded(const std::string &path, const std::vector<std::string> &needed)
{
	for (const std::string &each : needed)
		if (is_same_file(path, each))
			throw failure{fmt::format("{} is not written over: {} is needed; name "
						  "another file for the trace",
						  path, each),
				      usage_status};
}

} // namespace

std::unique_ptr<trace_output> make_output(const std::string &format, const std::string &path,
					  const std::vector<std::string> &needed)
{
	insist_on_unneeded(path, needed);
	if (is_stream(path, STDIN_FILENO))
		throw failure{fmt::format("{} is not written over: it is the program's standard "
					  "input; name another file for the trace",
					  path),
			      usage_status};
	if (is_stream(path, STDOUT_FILENO))
		return make_output(format, "-", needed);
	if (is_stream(path, STDERR_FILENO) && format != "perfetto")
		return make_output(format, "", needed);
	if (format == "perfetto" && path.empty())
		throw failure{"--format perfetto makes a file: add -o FILE", usage_status};
	// Where links lead: they stay.
	const std::string target = path.empty() || path == "-" ? path : written_path(path);
	if (format == "json")
		return std::make_unique<json_output>(target);
	if (format == "text")
		return std::make_unique<text_output>(target);
	const std::string working = working_name(target);
	insist_on_unneeded(working, needed);
	return std::make_unique<perfetto_output>(working, target);
}

} // namespace qpattr::tool
