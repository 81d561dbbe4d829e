// SPDX-License-Identifier: MIT
// lib/ucma/device.hpp: every way in which opening can fail, each its own errno
// and stage. /dev/null stands in for the device: a character device that anyone
// may open, under a made-up sysfs.
#include "lib/ucma/device.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "test/support/catch.hpp"

using namespace qpattr;

namespace {

// What the wrapped open answers for /dev/null; 0: the real open.
int open_errno = 0;
// The same for the file of sysfs with the device's number.
int sysfs_errno = 0;
// What the wrapped open opens instead of /dev/null, if anything.
const char *open_instead = nullptr;
// The same as open_errno for stat: root may search any directory.
int stat_errno = 0;

class sysfs {
public:
	sysfs()
	{
		char name[] = "/tmp/qpattr-sysfs-XXXXXX";
		REQUIRE(::mkdtemp(name) != nullptr);
		dir_ = name;
		write("dev", "1:3\n");
		write("abi_version", "4\n");
	}
	~sysfs()
	{
		remove("dev");
		remove("abi_version");
		::rmdir(dir_.c_str());
		open_errno = 0;
	}
	void write(const char *name, const std::string &text) const
	{
		std::FILE *f = std::fopen(path(name).c_str(), "w");
		REQUIRE(f != nullptr);
		std::fputs(text.c_str(), f);
		std::fclose(f);
	}
	void remove(const char *name) const { ::unlink(path(name).c_str()); }
	[[nodiscard]] std::string path(const char *name) const { return dir_ + "/" + name; }

	[[nodiscard]] result<int> open(const char *node = "/dev/null") const
	{
		const std::string dev = path("dev");
		const std::string abi = path("abi_version");
		return ucma::open_device({node, dev.c_str(), abi.c_str()});
	}

private:
	std::string dir_;
};

void check_failure(const result<int> &opened, int code, qpattr_stage stage)
{
	REQUIRE_FALSE(opened.ok());
	CHECK(opened.why().code == code);
	CHECK(opened.why().stage == stage);
}

} // namespace

extern "C" {

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	if (open_errno && std::string{path} == "/dev/null") {
		errno = open_errno;
		return -1;
	}
	if (sysfs_errno && std::string{path}.ends_with("/dev")) {
		errno = sysfs_errno;
		return -1;
	}
	if (open_instead && std::string{path} == "/dev/null")
		path = open_instead;
	return __real_open(path, flags);
}

int __real_stat(const char *path, struct stat *out);
int __wrap_stat(const char *path, struct stat *out);
int __wrap_stat64(const char *path, struct stat *out);

int __wrap_stat(const char *path, struct stat *out)
{
	if (stat_errno && std::string{path} == "/dev/null") {
		errno = stat_errno;
		return -1;
	}
	return __real_stat(path, out);
}

int __wrap_stat64(const char *path, struct stat *out)
{
	return __wrap_stat(path, out);
}

int __wrap_open64(const char *path, int flags, ...)
{
	return __wrap_open(path, flags);
}

}

TEST_CASE("device: the right one opens read-write and close-on-exec", "[device]")
{
	const sysfs fake;
	const auto opened = fake.open();
	REQUIRE(opened.ok());
	CHECK((::fcntl(opened.value(), F_GETFD) & FD_CLOEXEC) != 0);
	CHECK((::fcntl(opened.value(), F_GETFL) & O_ACCMODE) == O_RDWR);
	CHECK((::fcntl(opened.value(), F_GETFL) & O_NONBLOCK) == 0);
	::close(opened.value());
}

TEST_CASE("device: a missing node is ENOENT at stage node", "[device][errors]")
{
	check_failure(sysfs{}.open("/nonexistent/rdma_cm"), ENOENT, QPATTR_STAGE_NODE);
	check_failure(sysfs{}.open("/dev/null/rdma_cm"), ENOTDIR, QPATTR_STAGE_NODE);
}

TEST_CASE("device: a path that cannot be walked is its errno at stage node", "[device][errors]")
{
	check_failure(sysfs{}.open(std::string(5000, 'x').c_str()), ENAMETOOLONG,
		      QPATTR_STAGE_NODE);
	check_failure(sysfs{}.open(("/tmp/" + std::string(300, 'x')).c_str()), ENAMETOOLONG,
		      QPATTR_STAGE_NODE);
	const sysfs fake;
	const std::string loop = fake.path("loop");
	REQUIRE(::symlink("loop", loop.c_str()) == 0);
	check_failure(fake.open(loop.c_str()), ELOOP, QPATTR_STAGE_NODE);
	fake.remove("loop");
	stat_errno = EACCES;
	check_failure(fake.open(), EACCES, QPATTR_STAGE_NODE);
	stat_errno = 0;
}

TEST_CASE("device: another character device is ENODEV at stage identify", "[device][errors]")
{
	check_failure(sysfs{}.open("/dev/zero"), ENODEV, QPATTR_STAGE_IDENTIFY);
}

TEST_CASE("device: a node replaced between the look and the open is ENODEV", "[device][errors]")
{
	const sysfs fake;
	open_instead = "/dev/zero";
	check_failure(fake.open(), ENODEV, QPATTR_STAGE_IDENTIFY);
	open_instead = nullptr;
}

TEST_CASE("device: a file or a directory is ENODEV at stage identify", "[device][errors]")
{
	const sysfs fake;
	check_failure(fake.open(fake.path("dev").c_str()), ENODEV, QPATTR_STAGE_IDENTIFY);
	check_failure(fake.open("/tmp"), ENODEV, QPATTR_STAGE_IDENTIFY);
}

TEST_CASE("device: no rdma_cm in sysfs is ENODEV at stage identify", "[device][errors]")
{
	const sysfs fake;
	fake.remove("dev");
	check_failure(fake.open(), ENODEV, QPATTR_STAGE_IDENTIFY);
}

TEST_CASE("device: a sysfs that cannot be read is its errno at stage identify",
	  "[device][errors]")
{
	for (const int code : {EMFILE, ENFILE, ENOMEM, EACCES}) {
		const sysfs fake;
		sysfs_errno = code;
		check_failure(fake.open(), code, QPATTR_STAGE_IDENTIFY);
		sysfs_errno = 0;
	}
}

TEST_CASE("device: nonsense for a device number is ENODEV at stage identify", "[device][errors]")
{
	for (const char *text : {"", "\n", ":", "1", "1:", "1:x", "x:3", "1:3x", "-1:3", "1: 3",
				 "99999999999999999999:3", "1:99999999999999999999",
				 // 2^32 more than the right numbers
				 "4294967297:3", "1:4294967299"}) {
		const sysfs fake;
		fake.write("dev", text);
		check_failure(fake.open(), ENODEV, QPATTR_STAGE_IDENTIFY);
	}
}

TEST_CASE("device: another ABI version than 4 is EPROTONOSUPPORT at stage abi", "[device][errors]")
{
	for (const char *text : {"3\n", "5\n", "44\n", "0\n", "\n", "", "four\n", "4x\n"}) {
		const sysfs fake;
		fake.write("abi_version", text);
		check_failure(fake.open(), EPROTONOSUPPORT, QPATTR_STAGE_ABI);
	}
}

TEST_CASE("device: an unknown ABI version is the errno of reading it", "[device][errors]")
{
	const sysfs fake;
	fake.remove("abi_version");
	check_failure(fake.open(), ENOENT, QPATTR_STAGE_ABI);
}

TEST_CASE("device: what open refuses is its errno at stage open", "[device][errors]")
{
	for (const int code : {EACCES, EPERM, ENXIO, ENODEV, EMFILE, ENFILE, ENOMEM}) {
		const sysfs fake;
		open_errno = code;
		check_failure(fake.open(), code, QPATTR_STAGE_OPEN);
	}
}

TEST_CASE("device: minor numbers above 255 are compared whole", "[device]")
{
	const sysfs fake;
	fake.write("dev", "1:259\n"); // 259 = 256 + 3: equal to /dev/null's 3 in one byte
	check_failure(fake.open(), ENODEV, QPATTR_STAGE_IDENTIFY);
}

TEST_CASE("device: the C function tells the stage, and takes NULL for it", "[device][errors]")
{
	qpattr_stage stage = QPATTR_STAGE_NONE;
	errno = 0;
	CHECK(qpattr_device_open("/nonexistent", &stage) == -1);
	CHECK(errno == ENOENT);
	CHECK(stage == QPATTR_STAGE_NODE);
	CHECK(qpattr_device_open("/nonexistent", nullptr) == -1);
}
