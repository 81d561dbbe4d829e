// SPDX-License-Identifier: MIT
#include "lib/preload/discover.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ucma/command.hpp"

namespace qpattr::preload {
namespace {

// Three: zeroed memory reads as handle 0, which may be valid; values of two ids
// can differ by chance and both be live handles. Three that are valid, all
// different, and refused one by one as their ids go, are no chance.
constexpr std::size_t id_count = 3;

// librdmacm's private part was 184 bytes in the versions measured. The limit
// bounds the work, should an allocator report a huge block.
constexpr std::size_t private_len_max = 1024;
constexpr std::size_t slot_max = private_len_max / sizeof(std::uint32_t);

// A descriptor that closes itself.
class descriptor {
public:
	explicit descriptor(int fd) noexcept : fd_{fd} {}
	~descriptor()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	descriptor(const descriptor &) = delete;
	descriptor &operator=(const descriptor &) = delete;
	[[nodiscard]] int get() const noexcept { return fd_; }

private:
	int fd_;
};

// Whether the kernel knows `handle` as an id of this descriptor. QUERY changes
// nothing and answers for an id that has no device yet.
bool is_handle(int device, std::uint32_t handle) noexcept
{
	uapi::query_addr::reply reply{};
	ucma::frame<uapi::query_addr> query{&reply};
	query.body.id = handle;
	query.body.option = uapi::query_addr::option;
	return ucma::send(device, query).ok();
}

// A place in the private part and what stood there in each id.
struct candidate {
	std::size_t offset;
	std::uint32_t handle[id_count];

	[[nodiscard]] bool all_different() const noexcept
	{
		return handle[0] != handle[1] && handle[0] != handle[2] && handle[1] != handle[2];
	}
};

// The ids made for the experiment.
class specimens {
public:
	specimens(const stock &library, int device) noexcept : library_{library}, channel_{device}
	{
		for (cm_id *&id : ids_)
			if (library_.create_id(&channel_, &id, nullptr, port_space_tcp) != 0) {
				code_ = errno;
				id = nullptr;
				return;
			}
	}
	~specimens()
	{
		for (std::size_t i = 0; i < id_count; ++i)
			destroy(i);
	}
	specimens(const specimens &) = delete;
	specimens &operator=(const specimens &) = delete;

	[[nodiscard]] int code() const noexcept { return code_; }
	[[nodiscard]] const cm_id *operator[](std::size_t i) const noexcept { return ids_[i]; }

	void destroy(std::size_t i) noexcept
	{
		if (ids_[i])
			library_.destroy_id(ids_[i]);
		ids_[i] = nullptr;
	}

	// Bytes that may be read in each of them. librdmacm allocates an id as one
	// block, of which the public struct is the head.
	[[nodiscard]] std::size_t readable_len() const noexcept
	{
		std::size_t len = public_id_len + private_len_max;
		for (cm_id *id : ids_) {
			const std::size_t usable = ::malloc_usable_size(id);
			if (usable < len)
				len = usable;
		}
		return len;
	}

private:
	const stock &library_;
	event_channel channel_;
	cm_id *ids_[id_count] = {};
	int code_ = 0;
};

// The candidates still standing.
class candidates {
public:
	explicit candidates(const specimens &ids) noexcept
	{
		const std::size_t end = ids.readable_len();
		for (std::size_t at = public_id_len; at + sizeof(std::uint32_t) <= end;
		     at += sizeof(std::uint32_t)) {
			candidate c{at, {}};
			for (std::size_t i = 0; i < id_count; ++i)
				c.handle[i] = word_at(ids[i], at);
			if (c.all_different())
				list_[count_++] = c;
		}
	}

	// Keeps those whose value for id `i` is a handle or, with `valid` false,
	// is none (any more).
	void keep(int device, std::size_t i, bool valid) noexcept
	{
		std::size_t kept = 0;
		for (std::size_t k = 0; k < count_; ++k)
			if (is_handle(device, list_[k].handle[i]) == valid)
				list_[kept++] = list_[k];
		count_ = kept;
	}

	[[nodiscard]] std::size_t count() const noexcept { return count_; }
	[[nodiscard]] std::size_t offset() const noexcept { return list_[0].offset; }

private:
	candidate list_[slot_max];
	std::size_t count_ = 0;
};

int open_again(int channel_fd) noexcept
{
	const int fd = ::open(QPATTR_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	const int code = errno;
	// Only a device may be opened by way of what the program handed in: opening
	// a FIFO would block, a file would be held open.
	struct stat node;
	if (::fstat(channel_fd, &node) != 0 || !S_ISCHR(node.st_mode)) {
		errno = code;
		return -1;
	}
	char path[32];
	std::snprintf(path, sizeof path, "/proc/self/fd/%d", channel_fd);
	const int again = ::open(path, O_RDWR | O_CLOEXEC);
	if (again < 0)
		errno = code;
	return again;
}

} // namespace

const char *obstacle_text(obstacle what) noexcept
{
	switch (what) {
	case obstacle::none:
		return "found";
	case obstacle::no_stock:
		return "librdmacm.so.1 with rdma_create_id, rdma_destroy_id and "
		       "rdma_init_qp_attr is not in this process";
	case obstacle::no_device:
		return "cannot open " QPATTR_DEVICE_PATH;
	case obstacle::no_id:
		return "rdma_create_id failed on a descriptor of our own";
	case obstacle::no_candidate:
		return "no place in librdmacm's ids holds the kernel's handle";
	case obstacle::ambiguous:
		return "several places in librdmacm's ids could hold the kernel's handle";
	}
	return "unknown";
}

discovery discover(const stock &library, int device) noexcept
{
	specimens ids{library, device};
	if (ids.code() != 0)
		return {0, obstacle::no_id, ids.code()};

	candidates places{ids};
	for (std::size_t i = 0; i < id_count; ++i)
		places.keep(device, i, true);
	// The proof: when stock destroys an id, the kernel forgets the handle that
	// stood in just that id, and the others stay.
	for (std::size_t i = 0; i < id_count; ++i) {
		ids.destroy(i);
		places.keep(device, i, false);
		for (std::size_t later = i + 1; later < id_count; ++later)
			places.keep(device, later, true);
	}

	if (places.count() == 0)
		return {0, obstacle::no_candidate, 0};
	if (places.count() > 1)
		return {0, obstacle::ambiguous, 0};
	return {places.offset(), obstacle::none, 0};
}

discovery discover(int channel_fd) noexcept
{
	const stock library;
	if (!library.complete())
		return {0, obstacle::no_stock, 0};
	const descriptor device{open_again(channel_fd)};
	if (device.get() < 0)
		return {0, obstacle::no_device, errno};
	return discover(library, device.get());
}

} // namespace qpattr::preload
