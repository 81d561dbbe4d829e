// SPDX-License-Identifier: MIT
// A scripted rdma_cm device behind a wrapped write(2) (linker option
// --wrap=write), for what needs no privileges and for what no software device
// answers. Writes to other descriptors go to the real write.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "uapi/command.hpp"

namespace qpattr::test {

class fake_kernel {
public:
	// Descriptors from here on are the device's, one open file each.
	static constexpr int first_fd = 100000;

	static fake_kernel &get();

	// Forgets everything: ids, scripts, records.
	void reset();

	int open_file();
	std::uint32_t create_id(int fd);
	void destroy_id(std::uint32_t handle);

	// INIT_QP_ATTR's answer for an id; without one the kernel refuses with
	// EINVAL, as for an id without a device.
	void answer(std::uint32_t handle, const ib_uverbs_qp_attr &reply);

	// The next writes return these instead: a count of bytes (short or whole,
	// nothing is written to the reply), or a negative errno.
	void script(std::vector<long> returns);

	// Every write as it came, oldest first.
	std::vector<std::vector<unsigned char>> writes;

	// Live ids: handle to descriptor.
	std::map<std::uint32_t, int> ids;

	long handle_write(int fd, const void *data, std::size_t len);

private:
	long run(int fd, const unsigned char *data, std::size_t len);
	long look_up(int fd, std::uint32_t handle) const;

	int next_fd_ = first_fd;
	std::deque<long> script_;
	std::map<std::uint32_t, ib_uverbs_qp_attr> answers_;
};

} // namespace qpattr::test
