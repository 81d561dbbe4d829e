// SPDX-License-Identifier: MIT
#include "lib/ucma/device.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uapi/command.hpp"

namespace qpattr::ucma {
namespace {

// Reads a small sysfs file whole. sysfs gives a value in one read.
result<std::size_t> read_value(const char *path, qpattr_stage stage, char *buf,
			       std::size_t len) noexcept
{
	const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return failure{errno, stage};
	const ssize_t got = ::read(fd, buf, len - 1);
	const int code = errno;
	::close(fd);
	if (got < 0)
		return failure{code, stage};
	buf[got] = '\0';
	return static_cast<std::size_t>(got);
}

// Reads a decimal number of 32 bits and steps over it; -1 where there is none or
// where it does not fit.
std::int64_t take_number(const char *&text) noexcept
{
	if (*text < '0' || *text > '9')
		return -1;
	std::int64_t value = 0;
	for (; *text >= '0' && *text <= '9'; ++text) {
		value = value * 10 + (*text - '0');
		if (value > std::int64_t{UINT32_MAX})
			return -1;
	}
	return value;
}

// makedev(), whose parts glibc without optimisation takes from a function that no
// other libc has. The kernel's numbers have 12 bits and 20; dev_t has room for 32 each.
dev_t device_number(std::uint64_t major_number, std::uint64_t minor_number) noexcept
{
	return static_cast<dev_t>((major_number & 0xfffff000) << 32 | (major_number & 0xfff) << 8 |
				  (minor_number & 0xffffff00) << 12 | (minor_number & 0xff));
}

// "10:124\n" as sysfs writes a device number.
result<dev_t> registered_device(const char *path) noexcept
{
	constexpr failure unknown{ENODEV, QPATTR_STAGE_IDENTIFY};
	char buf[32];
	if (const auto got = read_value(path, unknown.stage, buf, sizeof buf); !got)
		// Not there: sysfs knows no such device. Anything else, such as no
		// descriptor left, says nothing about the device.
		return got.why().code == ENOENT || got.why().code == ENOTDIR ? unknown : got.why();
	const char *text = buf;
	const std::int64_t major_number = take_number(text);
	if (major_number < 0 || *text++ != ':')
		return unknown;
	const std::int64_t minor_number = take_number(text);
	if (minor_number < 0 || (*text != '\n' && *text != '\0'))
		return unknown;
	return device_number(static_cast<std::uint64_t>(major_number),
			     static_cast<std::uint64_t>(minor_number));
}

result<void> check_abi(const char *path) noexcept
{
	char buf[16];
	if (const auto got = read_value(path, QPATTR_STAGE_ABI, buf, sizeof buf); !got)
		return got.why();
	const char *text = buf;
	const std::int64_t version = take_number(text);
	if (version != std::int64_t{uapi::abi_version} || (*text != '\n' && *text != '\0'))
		return failure{EPROTONOSUPPORT, QPATTR_STAGE_ABI};
	return {};
}

} // namespace

bool is_device(const struct stat &node, dev_t device) noexcept
{
	return S_ISCHR(node.st_mode) && node.st_rdev == device;
}

result<int> open_node(const char *path, dev_t device) noexcept
{
	const int fd = ::open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return failure{errno, QPATTR_STAGE_OPEN};
	struct stat node;
	if (::fstat(fd, &node) != 0 || !is_device(node, device)) {
		::close(fd);
		return failure{ENODEV, QPATTR_STAGE_IDENTIFY};
	}
	return fd;
}

result<int> open_device(const device_paths &paths) noexcept
{
	struct stat node;
	if (::stat(paths.node, &node) != 0)
		return failure{errno, QPATTR_STAGE_NODE};
	const auto device = registered_device(paths.sysfs_dev);
	if (!device)
		return device.why();
	if (!is_device(node, device.value()))
		return failure{ENODEV, QPATTR_STAGE_IDENTIFY};
	if (const auto abi = check_abi(paths.sysfs_abi); !abi)
		return abi.why();

	return open_node(paths.node, device.value());
}

} // namespace qpattr::ucma
