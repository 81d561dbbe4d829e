// SPDX-License-Identifier: MIT
// The rdma_cm device for tests of lib/cm, without privileges: open files with ids
// and queues of events behind a wrapped write(2), and the node, sysfs and
// descriptors behind wrapped open, stat, fstat and close (fake_cm_files.cpp).
//
// It knows ids, counts their events, and answers queries with what a test put in;
// it has no state machine: what the library refuses is seen by nothing arriving.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

#include "lib/ucma/command.hpp"

namespace qpattr::test {

class fake_cm_kernel {
public:
	// Descriptors from here on are the device's, one open file each.
	static constexpr int first_fd = 100000;

	static fake_cm_kernel &get();

	// As after boot, with the device under a number that it never had.
	void reset();

	struct written {
		int fd;
		std::vector<unsigned char> bytes;
	};
	[[nodiscard]] std::vector<written> writes();
	void forget_writes();
	// Of one command.
	[[nodiscard]] std::vector<written> writes_of(std::uint32_t command);
	[[nodiscard]] std::size_t count(std::uint32_t command) { return writes_of(command).size(); }

	// The next writes of a command are refused with these, one after the other.
	void refuse(std::uint32_t command, int code, unsigned times = 1);

	struct known_id {
		int fd;
		std::uint64_t uid;
		std::uint32_t reported; // events delivered
	};
	std::map<std::uint32_t, known_id> ids; // and multicast groups, by their handles

	// Called when a command has succeeded and its call has not returned yet: what
	// another thread may do then.
	std::function<void(std::uint32_t command)> between;

	// What QUERY_ROUTE, QUERY(ADDR), QUERY(GID) and INIT_QP_ATTR answer of an id.
	// Without one: no device; zeros; zeros; EINVAL.
	std::map<std::uint32_t, rdma_ucm_query_route_resp> routes;
	std::map<std::uint32_t, rdma_ucm_query_addr_resp> addresses, gids;
	std::map<std::uint32_t, ib_uverbs_qp_attr> attributes;

	// Queues an event of the id or group. Raw: as it is, on the file.
	[[nodiscard]] rdma_ucm_event_resp event_of(std::uint32_t handle, std::uint32_t number,
						   int status = 0);
	void raise(std::uint32_t handle, std::uint32_t number, int status = 0);
	void raise(std::uint32_t handle, const rdma_ucm_event_resp &event);
	void raise_raw(int fd, const rdma_ucm_event_resp &event);
	// A connection request; returns the handle of the id that the kernel made.
	std::uint32_t request(std::uint32_t listener, const rdma_ucm_conn_param &param = {},
			      const rdma_ucm_ece &ece = {});
	// An id that appears by itself, on a file.
	std::uint32_t add_id(int fd);

	// Whether GET_EVENT sleeps on an empty queue (a cancellation point), or is
	// EAGAIN; and how many threads sleep.
	std::atomic<bool> sleeps{false};
	std::atomic<int> sleepers{0};

	// The node and sysfs. An errno other than 0 is what the call answers.
	bool any_device = true; // whether there is an RDMA device at all
	bool loads_module = false; // once it is wanted, the node and sysfs are there
	int module_wanted = 0;
	dev_t device;		// the number that sysfs tells
	dev_t node_device;	// the node's own
	dev_t opened_device;	// what fstat tells of an opened node
	mode_t node_mode;
	int stat_errno, open_errno, fstat_errno, sysfs_errno;
	std::string abi;
	// Every path that was opened, and every descriptor of ours that was closed.
	std::vector<std::string> opened;
	std::vector<int> open_flags; // of the node's
	std::vector<int> closed;
	[[nodiscard]] std::size_t count_opened(const std::string &path) const;
	void load_module_anew();

	long handle_write(int fd, const void *data, std::size_t len);
	int open_file();
	bool close_file(int fd);

private:
	struct file {
		std::deque<rdma_ucm_event_resp> events;
	};
	long run(int fd, const unsigned char *data, std::size_t len);
	long next_event(int fd, const unsigned char *data, std::unique_lock<std::mutex> &hold);
	long migrate(int fd, const rdma_ucm_migrate_id &command);
	[[nodiscard]] long look_up(int fd, std::uint32_t handle) const;
	std::uint32_t new_id(int fd, std::uint64_t uid);

	std::mutex lock_;
	std::map<int, file> files_;
	std::vector<written> writes_;
	std::map<std::uint32_t, std::deque<int>> refusals_;
	std::uint32_t next_handle_ = 0;
	int next_fd_ = first_fd;
	unsigned minor_ = 200;
};

// A command as it is expected on the wire, spelled by the offsets of the kernel's
// interface, not by the structs that the library uses.
class wire {
public:
	wire(std::uint32_t command, std::uint16_t in, std::uint16_t out) : bytes_(8U + in)
	{
		std::memcpy(bytes_.data(), &command, 4);
		std::memcpy(bytes_.data() + 4, &in, 2);
		std::memcpy(bytes_.data() + 6, &out, 2);
	}
	template <class T> wire &put(std::size_t offset, T value)
	{
		std::memcpy(bytes_.data() + 8 + offset, &value, sizeof value);
		return *this;
	}
	wire &fill(std::size_t offset, std::size_t len, unsigned char value)
	{
		std::memset(bytes_.data() + 8 + offset, value, len);
		return *this;
	}
	[[nodiscard]] const std::vector<unsigned char> &bytes() const { return bytes_; }

private:
	std::vector<unsigned char> bytes_;
};

} // namespace qpattr::test
