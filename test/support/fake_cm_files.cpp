// SPDX-License-Identifier: MIT
// The fake device's node, sysfs and descriptors; everything else is the real
// libc's. The linker options are in test/unit/meson.build.
#include <cerrno>
#include <cstdarg>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/cm/any_device.hpp"
#include "lib/cm/wanted_module.hpp"
#include "test/support/fake_cm_kernel.hpp"

using qpattr::test::fake_cm_kernel;

namespace {

constexpr const char *node_path = "/dev/infiniband/rdma_cm";
const std::string sysfs_dir = "/sys/class/misc/rdma_cm/";

int answer(int code, int otherwise)
{
	if (!code)
		return otherwise;
	errno = code;
	return -1;
}

void describe(struct stat &node, dev_t device)
{
	node = {};
	node.st_mode = fake_cm_kernel::get().node_mode;
	node.st_rdev = device;
}

} // namespace

bool qpattr::cm::any_device() noexcept
{
	return fake_cm_kernel::get().any_device;
}

void qpattr::cm::want_module() noexcept
{
	auto &kernel = fake_cm_kernel::get();
	++kernel.module_wanted;
	if (kernel.loads_module)
		kernel.stat_errno = kernel.sysfs_errno = 0;
}

extern "C" {

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_stat(const char *path, struct stat *node);
int __wrap_stat(const char *path, struct stat *node);
int __wrap_stat64(const char *path, struct stat *node);
int __real_fstat(int fd, struct stat *node);
int __wrap_fstat(int fd, struct stat *node);
int __wrap_fstat64(int fd, struct stat *node);

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	if (fd < fake_cm_kernel::first_fd)
		return __real_write(fd, data, len);
	const long result = fake_cm_kernel::get().handle_write(fd, data, len);
	return result < 0 ? answer(static_cast<int>(-result), 0) : result;
}

// sysfs files are in memory: read() and close() of them are the real ones.
static int in_memory(const std::string &text)
{
	const int fd = ::memfd_create("sysfs", MFD_CLOEXEC);
	if (fd < 0 || __real_write(fd, text.data(), text.size()) < 0)
		return -1;
	::lseek(fd, 0, SEEK_SET);
	return fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	auto &kernel = fake_cm_kernel::get();
	const std::string name = path;
	if (name == node_path) {
		kernel.opened.push_back(name);
		kernel.open_flags.push_back(flags);
		return answer(kernel.open_errno, kernel.open_errno ? -1 : kernel.open_file());
	}
	if (name.starts_with(sysfs_dir)) {
		kernel.opened.push_back(name);
		if (kernel.sysfs_errno)
			return answer(kernel.sysfs_errno, -1);
		if (name.ends_with("/dev"))
			return in_memory(std::to_string(major(kernel.device)) + ":" +
					 std::to_string(minor(kernel.device)) + "\n");
		return in_memory(kernel.abi);
	}
	va_list rest;
	va_start(rest, flags);
	const auto mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return __real_open(path, flags, mode);
}

int __wrap_close(int fd)
{
	if (fd < fake_cm_kernel::first_fd)
		return __real_close(fd);
	return fake_cm_kernel::get().close_file(fd) ? 0 : answer(EBADF, 0);
}

int __wrap_stat(const char *path, struct stat *node)
{
	auto &kernel = fake_cm_kernel::get();
	if (std::string{path} != node_path)
		return __real_stat(path, node);
	describe(*node, kernel.node_device);
	return answer(kernel.stat_errno, 0);
}

int __wrap_fstat(int fd, struct stat *node)
{
	auto &kernel = fake_cm_kernel::get();
	if (fd < fake_cm_kernel::first_fd)
		return __real_fstat(fd, node);
	describe(*node, kernel.opened_device);
	return answer(kernel.fstat_errno, 0);
}

// The names where files may be large; the same there.
int __wrap_open64(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	const auto mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return __wrap_open(path, flags, mode);
}

int __wrap_stat64(const char *path, struct stat *node)
{
	return __wrap_stat(path, node);
}

int __wrap_fstat64(int fd, struct stat *node)
{
	return __wrap_fstat(fd, node);
}

}

std::size_t fake_cm_kernel::count_opened(const std::string &path) const
{
	std::size_t found = 0;
	for (const auto &one : opened)
		found += one == path;
	return found;
}
