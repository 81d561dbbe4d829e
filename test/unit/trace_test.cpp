// SPDX-License-Identifier: MIT
// The file of a trace, on real files: what a program may do to it, and that nothing of
// it ever makes the program wait or end. A case runs in a child, since a process has one
// trace.
#include "lib/preload/trace.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/planted.hpp"
#include "test/support/catch.hpp"

using namespace qpattr;
using namespace qpattr::preload;

namespace {

struct directory {
	directory() { REQUIRE(::mkdtemp(name)); }
	~directory()
	{
		[[maybe_unused]] const int gone =
			std::system(("rm -rf " + std::string{name}).c_str());
	}
	[[nodiscard]] std::string operator/(const std::string &file) const
	{
		return std::string{name} + "/" + file;
	}
	char name[24] = "/tmp/trace_test.XXXXXX";
};

std::string contents(const std::string &path)
{
	std::ostringstream all;
	all << std::ifstream{path, std::ios::binary}.rdbuf();
	return all.str();
}

// What a body says, in a child; "signal N" if that ended it. A body that waits is ended.
std::string in_child(const std::function<std::string()> &body)
{
	int ends[2];
	REQUIRE(::pipe(ends) == 0);
	const pid_t child = ::fork();
	if (child == 0) {
		::alarm(20);
		const std::string said = body();
		const bool told = ::write(ends[1], said.data(), said.size()) ==
				  static_cast<ssize_t>(said.size());
		::_exit(told ? 0 : 1);
	}
	::close(ends[1]);
	std::string all;
	char piece[512];
	for (ssize_t got; (got = ::read(ends[0], piece, sizeof piece)) > 0;)
		all.append(piece, static_cast<std::size_t>(got));
	::close(ends[0]);
	int status = 0;
	REQUIRE(::waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : all;
}

// "" if it is open.
std::string opened(const std::string &path, const char *limit = nullptr)
{
	attr::text_of<512> why;
	return open_trace(path.c_str(), limit, why) ? "" : why.c_str();
}

// Held off as in the preload object, but for what ends a case that waits.
int written(const std::string &line, bool *torn_out = nullptr)
{
	sigset_t all, before;
	::sigfillset(&all);
	::sigdelset(&all, SIGALRM);
	::sigprocmask(SIG_SETMASK, &all, &before);
	bool torn = false;
	const int code = write_trace(line.data(), line.size(), torn);
	::sigprocmask(SIG_SETMASK, &before, nullptr);
	if (torn_out)
		*torn_out = torn;
	return code;
}

std::string number(int code)
{
	return std::to_string(code);
}

// Opens, then writes.
std::string opened_then(const std::string &path, const std::string &line)
{
	const std::string why = opened(path);
	return why + number(written(line));
}

// The trace's descriptor, the highest that is open.
int highest_descriptor()
{
	for (int fd = 1023; fd > 2; --fd)
		if (::fcntl(fd, F_GETFD) >= 0)
			return fd;
	return -1;
}

} // namespace

TEST_CASE("trace: a file is made, for its owner only, and appended to", "[trace]")
{
	const directory at;
	std::ofstream{at / "old"} << "before\n";
	::umask(0);
	CHECK(in_child([&] { return opened_then(at / "new", "a\n"); }) == "0");
	CHECK(in_child([&] { return opened_then(at / "new", "b\n"); }) == "0");
	CHECK(in_child([&] { return opened_then(at / "old", "c\n"); }) == "0");
	CHECK(contents(at / "new") == "a\nb\n");
	CHECK(contents(at / "old") == "before\nc\n");
	struct stat file;
	REQUIRE(::stat((at / "new").c_str(), &file) == 0);
	CHECK((file.st_mode & 07777) == 0600);
}

TEST_CASE("trace: its descriptor is high, and not inherited by a program", "[trace]")
{
	const directory at;
	CHECK(in_child([&] {
		      if (!opened(at / "f").empty())
			      return std::string{"not opened"};
		      const int fd = highest_descriptor(), low = ::open("/dev/null", O_RDONLY);
		      return std::string{fd > 900 ? "high" : "low"} +
			     ((::fcntl(fd, F_GETFD) & FD_CLOEXEC) ? ", closed" : "") +
			     ((::fcntl(fd, F_GETFL) & O_APPEND) ? ", append" : "") +
			     (low < 10 ? ", others low" : "");
	      }) == "high, closed, append, others low");
}

TEST_CASE("trace: what cannot be opened is said", "[trace]")
{
	const directory at;
	REQUIRE(::symlink("target", (at / "link").c_str()) == 0);
	const std::string prefix = "QPATTR_TRACE: nothing is traced: ";
	CHECK(in_child([&] { return opened(at / "link"); }) ==
	      prefix + "cannot open " + (at / "link") +
		      ": it is a symbolic link; name the file itself");
	CHECK(::access((at / "target").c_str(), F_OK) != 0);
	CHECK(in_child([&] { return opened(at / "none/f"); }) ==
	      prefix + "cannot open " + (at / "none/f") + ": No such file or directory");
	CHECK(in_child([&] { return opened(at.name); }) ==
	      prefix + "cannot open " + at.name + ": Is a directory");
	CHECK(in_child([&] { return opened(at / ""); }) ==
	      prefix + "cannot open " + (at / "") + ": Is a directory");
	CHECK(in_child([&] { return opened(at / "none/"); }) ==
	      prefix + "cannot open " + (at / "none/") + ": No such file or directory");
	CHECK(in_child([&] { return opened(at / "f", "5x"); }) ==
	      prefix + "QPATTR_TRACE_LIMIT=5x is not a number of bytes");
	CHECK(in_child([&] { return opened("/" + std::string(5000, 'x')).substr(0, 60); }) ==
	      (prefix + "cannot open /" + std::string(50, 'x')).substr(0, 60));
	CHECK(in_child([&] {
		      return opened(at / "link") + (tracing() ? "on" : "off");
	      }).find("off") != std::string::npos);
}

TEST_CASE("trace: where all may make files, what another may have put there is refused", "[trace]")
{
	const directory at;
	REQUIRE(::chmod(at.name, 01777) == 0);
	const std::string prefix = "QPATTR_TRACE: nothing is traced: cannot open ";
	std::ofstream{at / "own"} << "before\n";
	CHECK(in_child([&] { return opened_then(at / "own", "a\n"); }) == "0");
	CHECK(in_child([&] { return opened_then(at / "new", "a\n"); }) == "0");
	// Another name of a file of ours, as anyone could give it.
	REQUIRE(::link((at / "own").c_str(), (at / "linked").c_str()) == 0);
	CHECK(in_child([&] { return opened_then(at / "linked", "b\n"); }).rfind(
		      prefix + (at / "linked") + ": it has another name too (a hard link)", 0) == 0);
	CHECK(contents(at / "own") == "before\na\n");
	REQUIRE(::chmod(at.name, 0700) == 0);
	CHECK(in_child([&] { return opened_then(at / "linked", "b\n"); }) == "0");
}

TEST_CASE("trace: whose file it is counts where others may make files", "[trace]")
{
	constexpr uid_t own = 1000, other = 1001;
	struct stat directory{}, file{};
	const auto judged = [&](mode_t of_directory, mode_t of_file, uid_t owner, nlink_t names) {
		directory.st_mode = S_IFDIR | of_directory;
		file.st_mode = of_file;
		file.st_uid = owner;
		file.st_nlink = names;
		return judge(directory, file, own);
	};
	for (const mode_t all : {01777U, 0777U, 01775U}) {
		CHECK(judged(all, S_IFREG, own, 1) == planted::no);
		CHECK(judged(all, S_IFREG, 0, 1) == planted::no);
		CHECK(judged(all, S_IFREG, other, 1) == planted::foreign);
		CHECK(judged(all, S_IFIFO, other, 1) == planted::foreign);
		CHECK(judged(all, S_IFREG, own, 2) == planted::linked);
		CHECK(judged(all, S_IFCHR, 0, 2) == planted::no);
	}
	for (const mode_t few : {0755U, 0700U, 0775U, 01755U}) {
		CHECK(judged(few, S_IFREG, other, 1) == planted::no);
		CHECK(judged(few, S_IFREG, own, 2) == planted::no);
	}
	directory.st_uid = other;
	CHECK(judged(0755, S_IFREG, own, 1) == planted::no);
	CHECK(judged(0755, S_IFREG, other, 1) == planted::foreign);
	CHECK(judged(0755, S_IFIFO, other, 1) == planted::foreign);
	CHECK(judged(0755, S_IFREG, own, 2) == planted::linked);
	// As /dev and what is in it in a user namespace.
	CHECK(judged(0755, S_IFCHR, other, 1) == planted::no);
	CHECK(judged(01777, S_IFCHR, other, 1) == planted::no);
	directory.st_uid = own;
	CHECK(judged(0755, S_IFREG, other, 1) == planted::no);
}

TEST_CASE("trace: what is refused in a directory of another user is not said to be in a shared one", "[trace]")
{
	for (const planted what : {planted::foreign, planted::linked})
		CHECK(std::string{text_of(what)}.find(", in a directory that others may write, or that is "
						      "another user's; name ") != std::string::npos);
}

TEST_CASE("trace: whose link it is counts where a group may make files", "[trace]")
{
	constexpr uid_t own = 1000, other = 1001;
	struct stat directory{}, link{};
	const auto is_planted = [&](uid_t of_directory, mode_t mode, uid_t owner) {
		directory.st_uid = of_directory;
		directory.st_mode = S_IFDIR | mode;
		link.st_uid = owner;
		return is_planted_link(directory, link, own);
	};
	for (const mode_t group : {0775U, 02775U}) {
		CHECK(is_planted(own, group, other));
		CHECK(is_planted(0, group, other));
		CHECK_FALSE(is_planted(own, group, own));
		CHECK_FALSE(is_planted(own, group, 0));
	}
	CHECK_FALSE(is_planted(own, 0755, other));
	CHECK(is_planted(own, 01777, own));
	CHECK(is_planted(other, 0755, own));
}

TEST_CASE("trace: a descriptor of a process is a name too", "[trace]")
{
	const int memory = ::memfd_create("spool", MFD_CLOEXEC);
	REQUIRE(memory >= 0);
	const std::string path =
		"/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory);
	CHECK(in_child([&] { return opened_then(path, "a\n"); }) == "0");
	CHECK(in_child([&] { return opened_then(path, "b\n"); }) == "0");
	CHECK(contents(path) == "a\nb\n");
	::close(memory);
}

TEST_CASE("trace: a program that closes or takes the descriptor", "[trace]")
{
	const directory at;
	CHECK(in_child([&] {
		      std::string all = opened_then(at / "f", "a\n");
		      ::close(highest_descriptor());
		      all += number(written("b\n"));
		      // Another file of the program's at the same number.
		      const int other = ::open((at / "other").c_str(), O_RDWR | O_CREAT, 0600);
		      ::dup2(other, highest_descriptor());
		      all += number(written("c\n"));
		      return all + number(written("d\n"));
	      }) == "0000");
	CHECK(contents(at / "f") == "a\nb\nc\nd\n");
	CHECK(contents(at / "other").empty());
}

TEST_CASE("trace: the name is looked up from where the program began", "[trace]")
{
	const directory at;
	CHECK(in_child([&] {
		      if (::chdir(at.name) != 0)
			      return std::string{"chdir"};
		      std::string all = opened_then("f", "a\n");
		      if (::chdir("/") != 0)
			      return std::string{"chdir"};
		      ::close(highest_descriptor());
		      return all + number(written("b\n"));
	      }) == "00");
	CHECK(contents(at / "f") == "a\nb\n");
}

TEST_CASE("trace: once closed, another file of that name is not written", "[trace]")
{
	const directory at;
	CHECK(in_child([&] {
		      std::string all = opened(at / "f");
		      ::rename((at / "f").c_str(), (at / "moved").c_str());
		      all += number(written("a\n")); // still open
		      std::ofstream{at / "f"} << "another\n";
		      ::close(highest_descriptor());
		      all += " " + number(written("b\n"));
		      return all + " " + std::to_string(highest_descriptor() > 900);
	      }) == "0 " + number(ESTALE) + " 0");
	CHECK(contents(at / "moved") == "a\n");
	CHECK(contents(at / "f") == "another\n");
}

TEST_CASE("trace: a FIFO without a reader, and one whose reader went", "[trace]")
{
	const directory at;
	const std::string fifo = at / "fifo";
	REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
	CHECK(in_child([&] {
		      ::signal(SIGPIPE, SIG_DFL);
		      std::string all = opened_then(fifo, "a\n");
		      int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
		      all += " " + number(written("b\n"));
		      char got[8] = {};
		      all += ::read(reader, got, sizeof got) == 2 ? got : "?";
		      ::close(reader);
		      all += number(written("c\n")); // and lives on
		      sigset_t pending;
		      ::sigpending(&pending);
		      all += ::sigismember(&pending, SIGPIPE) ? " pending" : " ";
		      reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
		      return all + number(written("d\n"));
	      }) == number(ENXIO) + " 0b\n" + number(EPIPE) + " 0");
}

TEST_CASE("trace: a SIGPIPE that the program has pending stays its own", "[trace]")
{
	const directory at;
	const std::string fifo = at / "fifo";
	REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
	CHECK(in_child([&] {
		      sigset_t pipe;
		      ::sigemptyset(&pipe);
		      ::sigaddset(&pipe, SIGPIPE);
		      ::sigprocmask(SIG_BLOCK, &pipe, nullptr);
		      ::raise(SIGPIPE);
		      const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
		      std::string all = opened(fifo);
		      ::close(reader);
		      all += number(written("a\n"));
		      ::sigpending(&pipe);
		      return all + (::sigismember(&pipe, SIGPIPE) ? " pending" : " gone");
	      }) == number(EPIPE) + " pending");
}

TEST_CASE("trace: a reader that does not read", "[trace]")
{
	const directory at;
	const std::string fifo = at / "fifo";
	REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
	CHECK(in_child([&] {
		      const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
		      std::string all = opened(fifo);
		      const std::string record = std::string(2999, 'x') + "\n";
		      int code = 0, whole = 0;
		      while ((code = written(record)) == 0)
			      ++whole;
		      all += number(code);
		      // Room again, and what is there is whole.
		      std::string read(1 << 20, '\0');
		      const ssize_t got = ::read(reader, read.data(), read.size());
		      all += got == whole * 3000 ? " whole " : " torn ";
		      return all + number(written(record));
	      }) == number(EAGAIN) + " whole 0");
}

TEST_CASE("trace: no room in the middle of a record", "[trace]")
{
	const directory at;
	CHECK(in_child([&] {
		      ::signal(SIGXFSZ, SIG_DFL);
		      rlimit files{10, RLIM_INFINITY};
		      ::setrlimit(RLIMIT_FSIZE, &files);
		      bool torn = false;
		      std::string all = opened(at / "f");
		      all += number(written("123456\n", &torn));
		      all += torn ? " torn" : " ";
		      all += number(written("abcdef\n", &torn)); // three bytes fit
		      all += torn ? " torn " : " ";
		      all += number(written("abcdef\n", &torn)); // none; and lives on
		      all += torn ? " torn " : " ";
		      files.rlim_cur = RLIM_INFINITY;
		      ::setrlimit(RLIMIT_FSIZE, &files);
		      return all + number(written("\nghi\n", &torn));
	      }) == "0 " + number(ENOSPC) + " torn " + number(EFBIG) + " 0");
	CHECK(contents(at / "f") == "123456\nabc\nghi\n");
	CHECK(in_child([&] { return opened_then("/dev/full", "a\n"); }) == number(ENOSPC));
}

TEST_CASE("trace: a limit counts what is stored", "[trace]")
{
	const int memory = ::memfd_create("spool", MFD_CLOEXEC);
	REQUIRE(memory >= 0);
	const std::string path =
		"/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory);
	const auto fill = [&](const char *limit) {
		const std::string mebibyte((1 << 20) - 1, 'x');
		std::string all = opened(path, limit);
		int whole = 0, code = 0;
		while (whole < 100 && (code = written(mebibyte + "\n")) == 0)
			++whole;
		return all + number(whole) + " " + number(code);
	};
	CHECK(in_child([&] { return fill("3145728"); }) == "3 -1");
	// What was read is taken out of the file and makes room.
	REQUIRE(::fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2 << 20) == 0);
	CHECK(in_child([&] { return fill("3145728"); }) == "2 -1");
	REQUIRE(::ftruncate(memory, 0) == 0);
	CHECK(in_child([&] { return fill(nullptr); }) == "64 -1");
	::close(memory);
	unsigned long long bytes = 7;
	CHECK(parse_limit("18446744073709551609", bytes));
	CHECK_FALSE(parse_limit("18446744073709551620", bytes));
	CHECK_FALSE(parse_limit("", bytes));
	CHECK_FALSE(parse_limit("-1", bytes));
	CHECK(parse_limit("0", bytes));
	CHECK(bytes == 0);
}
