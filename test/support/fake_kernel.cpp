// SPDX-License-Identifier: MIT
#include "test/support/fake_kernel.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace qpattr::test {
namespace {

std::recursive_mutex lock;

template <class T> T take(const unsigned char *data)
{
	T value;
	std::memcpy(&value, data + sizeof(rdma_ucm_cmd_hdr), sizeof value);
	return value;
}

} // namespace

fake_kernel &fake_kernel::get()
{
	static fake_kernel one;
	return one;
}

void fake_kernel::reset()
{
	const std::lock_guard hold{lock};
	writes.clear();
	ids.clear();
	script_.clear();
	answers_.clear();
	next_fd_ = first_fd;
}

int fake_kernel::open_file()
{
	const std::lock_guard hold{lock};
	return next_fd_++;
}

std::uint32_t fake_kernel::create_id(int fd)
{
	const std::lock_guard hold{lock};
	// The lowest free number, from 0, as the kernel gives them.
	std::uint32_t handle = 0;
	while (ids.contains(handle))
		++handle;
	ids[handle] = fd;
	return handle;
}

void fake_kernel::destroy_id(std::uint32_t handle)
{
	const std::lock_guard hold{lock};
	ids.erase(handle);
	answers_.erase(handle);
}

void fake_kernel::answer(std::uint32_t handle, const ib_uverbs_qp_attr &reply)
{
	const std::lock_guard hold{lock};
	answers_[handle] = reply;
}

void fake_kernel::script(std::vector<long> returns)
{
	const std::lock_guard hold{lock};
	script_.assign(returns.begin(), returns.end());
}

long fake_kernel::look_up(int fd, std::uint32_t handle) const
{
	const auto found = ids.find(handle);
	if (found == ids.end())
		return -ENOENT;
	return found->second == fd ? 0 : -EINVAL;
}

long fake_kernel::run(int fd, const unsigned char *data, std::size_t len)
{
	rdma_ucm_cmd_hdr header;
	if (len < sizeof header)
		return -EINVAL;
	std::memcpy(&header, data, sizeof header);
	if (header.in + sizeof header > len)
		return -EINVAL;

	if (header.cmd == uapi::query_addr::number) {
		const auto query = take<rdma_ucm_query>(data);
		if (const long refused = look_up(fd, query.id))
			return refused;
		if (header.out < 272)
			return -ENOSPC;
		std::memset(reinterpret_cast<void *>(query.response), 0, header.out);
		return static_cast<long>(len);
	}
	if (header.cmd == uapi::init_qp_attr::number) {
		const auto ask = take<rdma_ucm_init_qp_attr>(data);
		if (header.out < sizeof(ib_uverbs_qp_attr))
			return -ENOSPC;
		if (ask.qp_state > 6)
			return -EINVAL;
		if (const long refused = look_up(fd, ask.id))
			return refused;
		const auto answered = answers_.find(ask.id);
		if (answered == answers_.end())
			return -EINVAL;
		std::memcpy(reinterpret_cast<void *>(ask.response), &answered->second,
			    sizeof(ib_uverbs_qp_attr));
		return static_cast<long>(len);
	}
	return -EINVAL;
}

long fake_kernel::handle_write(int fd, const void *data, std::size_t len)
{
	const std::lock_guard hold{lock};
	const auto *bytes = static_cast<const unsigned char *>(data);
	writes.emplace_back(bytes, bytes + len);
	if (!script_.empty()) {
		const long next = script_.front();
		script_.pop_front();
		return next;
	}
	return run(fd, bytes, len);
}

} // namespace qpattr::test

extern "C" {

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	if (fd < qpattr::test::fake_kernel::first_fd)
		return __real_write(fd, data, len);
	const long result = qpattr::test::fake_kernel::get().handle_write(fd, data, len);
	if (result >= 0)
		return result;
	errno = static_cast<int>(-result);
	return -1;
}

}
