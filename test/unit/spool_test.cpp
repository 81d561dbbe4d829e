// SPDX-License-Identifier: MIT
// The file in memory: what writers put in comes out whole, its memory is given back, and
// at the end nobody can fill it any more.
#include "test/support/catch.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tools/qpattr/trace/spool.hpp"

using qpattr::tool::spool;

namespace {

int open_for_records(const spool &to)
{
	const int fd = ::open(to.path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
	REQUIRE(fd >= 0);
	return fd;
}

void put(int fd, const std::string &text)
{
	REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::uint64_t allocated(int fd)
{
	struct stat is;
	REQUIRE(::fstat(fd, &is) == 0);
	return static_cast<std::uint64_t>(is.st_blocks) * 512;
}

} // namespace

TEST_CASE("spool: lines come out once, and whole")
{
	spool here;
	const int fd = open_for_records(here);
	std::vector<std::string> lines;
	const auto take = [&](std::string_view line) { lines.emplace_back(line); };
	here.drain(take);
	CHECK(lines.empty());
	put(fd, "one\ntwo\nthr");
	here.drain(take);
	CHECK(lines == std::vector<std::string>{"one", "two"});
	CHECK(here.rest() == "thr");
	put(fd, "ee\n");
	here.drain(take);
	CHECK(lines.back() == "three");
	CHECK(here.rest().empty());
	::close(fd);
}

TEST_CASE("spool: memory stays bounded however much goes through")
{
	spool here;
	const int fd = open_for_records(here);
	std::uint64_t lines = 0;
	const std::string record(1000, 'x');
	for (int i = 0; i < 200; ++i) {
		for (int k = 0; k < 1000; ++k)
			put(fd, record + "\n");
		here.drain([&](std::string_view line) { lines += line.size() == 1000 ? 1 : 0; });
		REQUIRE(allocated(fd) <= 8192);
	}
	CHECK(lines == 200000);
	::close(fd);
}

TEST_CASE("spool: many writers at once")
{
	spool here;
	std::vector<std::thread> writers;
	for (int i = 0; i < 8; ++i)
		writers.emplace_back([&, i] {
			const int fd = ::open(here.path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
			const std::string line(300 + static_cast<std::size_t>(i),
					       static_cast<char>('a' + i));
			for (int k = 0; k < 2000; ++k)
				if (::write(fd, (line + "\n").data(), line.size() + 1) < 0)
					return;
			::close(fd);
		});
	std::size_t whole = 0, torn = 0;
	const auto take = [&](std::string_view line) {
		const bool good = line.size() == 300 + static_cast<std::size_t>(line[0] - 'a') &&
				  line.find_first_not_of(line[0]) == std::string_view::npos;
		++(good ? whole : torn);
	};
	for (int i = 0; i < 50; ++i)
		here.drain(take);
	for (std::thread &each : writers)
		each.join();
	here.drain(take);
	CHECK(whole == 16000);
	CHECK(torn == 0);
}

TEST_CASE("spool: closed, it takes nothing more from what is left running")
{
	spool here;
	const int fd = open_for_records(here);
	put(fd, "last\n");
	std::vector<std::string> lines;
	here.close([&](std::string_view line) { lines.emplace_back(line); });
	CHECK(lines == std::vector<std::string>{"last"});
	CHECK(::write(fd, "more\n", 5) < 0);
	CHECK(errno == EPERM);
	::close(fd);
}
