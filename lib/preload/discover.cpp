// SPDX-License-Identifier: MIT
#include "lib/preload/discover.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/preload/memory.hpp"
#include "lib/ucma/command.hpp"

namespace qpattr::preload {
namespace {

// Zeroed memory reads as handle 0, which may be valid, and values of two ids can
// differ by chance and both be live handles. Five that are valid, all different,
// and refused one by one as their ids go, are no chance.
constexpr std::size_t id_count = 5;

// How far behind the public part is looked. librdmacm's private part was 184
// bytes in the versions measured. Where an id's allocation ends is not known for
// sure; what lies behind it and is read along must pass the same proof.
constexpr std::size_t window_len = 512;
constexpr std::size_t slot_count = window_len / sizeof(std::uint32_t);

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

// Whether it is the rdma_cm device: that one refuses an id that nobody has.
// Another, such as a /dev/null over the node, may take every command and answer
// none; librdmacm would then wait for events that its stack happens to tell of.
bool is_device(int device) noexcept
{
	constexpr std::uint32_t nobodys = 0xffffffffU;
	return !is_handle(device, nobodys);
}

// How long glibc made an id's block, by the word that it keeps in front: its
// malloc_usable_size would read the same, but believe it, and crash where the
// program brought an allocator of its own. Here it is a hint: no_hint where it
// does not look like one.
constexpr std::size_t no_hint = 0;

std::size_t block_len_hint(const memory &own, const cm_id *id) noexcept
{
	constexpr std::size_t flags = 7, mapped = 2, granule = 2 * sizeof(std::size_t);
	std::size_t word = 0;
	if (own.read(reinterpret_cast<std::uintptr_t>(id) - sizeof word, &word, sizeof word) !=
	    sizeof word)
		return no_hint;
	const std::size_t chunk = word & ~flags;
	if ((word & mapped) || chunk % granule != 0 || chunk <= public_id_len + sizeof word ||
	    chunk > public_id_len + window_len)
		return no_hint;
	return chunk - sizeof word;
}

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

	// What an id's allocation is not longer than: what is looked at, the least
	// distance between two of them, and what glibc says of all alike.
	[[nodiscard]] std::size_t block_len_max(const memory &own) const noexcept
	{
		std::size_t least = public_id_len + window_len;
		for (std::size_t i = 1; i < id_count; ++i)
			for (std::size_t j = 0; j < i; ++j) {
				const auto a = reinterpret_cast<std::uintptr_t>(ids_[i]);
				const auto b = reinterpret_cast<std::uintptr_t>(ids_[j]);
				const std::size_t gap = a > b ? a - b : b - a;
				least = gap < least ? gap : least;
			}
		const std::size_t hint = block_len_hint(own, ids_[0]);
		bool alike = hint != no_hint && hint < least;
		for (std::size_t i = 1; alike && i < id_count; ++i)
			alike = block_len_hint(own, ids_[i]) == hint;
		if (alike)
			least = hint;
		return least < public_id_len ? public_id_len : least;
	}

	void destroy(std::size_t i) noexcept
	{
		// What could not be destroyed stays stock's memory: tried again at the end.
		if (ids_[i] && library_.destroy_id(ids_[i]) == 0)
			ids_[i] = nullptr;
	}

private:
	const stock &library_;
	event_channel channel_;
	cm_id *ids_[id_count] = {};
	int code_ = 0;
};

// The places still standing, and what stood there in each id. Small: it lives
// on the stack of whoever makes the first call.
class candidates {
public:
	explicit candidates(const specimens &ids) noexcept
	{
		const memory own;
		std::size_t len = ids.block_len_max(own) - public_id_len;
		for (std::size_t i = 0; i < id_count; ++i) {
			const auto start = reinterpret_cast<std::uintptr_t>(ids[i]) + public_id_len;
			len = own.read(start, words_[i], len);
		}
		for (std::size_t slot = 0; slot < len / sizeof(std::uint32_t); ++slot)
			if (all_different(slot))
				slots_[count_++] = static_cast<std::uint8_t>(slot);
	}

	// Keeps those whose value for id `i` is a handle or, with `valid` false,
	// is none (any more).
	void keep(int device, std::size_t i, bool valid) noexcept
	{
		std::size_t kept = 0;
		for (std::size_t k = 0; k < count_; ++k)
			if (is_handle(device, words_[i][slots_[k]]) == valid)
				slots_[kept++] = slots_[k];
		count_ = kept;
	}

	[[nodiscard]] std::size_t count() const noexcept { return count_; }
	[[nodiscard]] std::size_t offset() const noexcept
	{
		return public_id_len + slots_[0] * sizeof(std::uint32_t);
	}

private:
	[[nodiscard]] bool all_different(std::size_t slot) const noexcept
	{
		for (std::size_t i = 1; i < id_count; ++i)
			for (std::size_t j = 0; j < i; ++j)
				if (words_[i][slot] == words_[j][slot])
					return false;
		return true;
	}

	static_assert(slot_count <= 256);
	std::uint32_t words_[id_count][slot_count] = {};
	std::uint8_t slots_[slot_count] = {};
	std::size_t count_ = 0;
};

// How /proc names a file that was removed or replaced.
bool is_gone(const char *path) noexcept
{
	constexpr const char *mark = " (deleted)";
	const std::size_t len = std::strlen(path), mark_len = std::strlen(mark);
	return len > mark_len && std::strcmp(path + len - mark_len, mark) == 0;
}

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
	case obstacle::several:
		return "several librdmacm are in this process, and their ids differ";
	}
	return "unknown";
}

discovery discover(const stock &library, int device) noexcept
{
	if (!is_device(device))
		return {0, obstacle::no_device, ENODEV};
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
	const copies all;
	const descriptor device{open_again(channel_fd)};
	const int code = errno;
	discovery found{0, obstacle::no_stock, 0};
	// False where it settles the matter.
	const auto look_at = [&](const stock &library) noexcept {
		const discovery one = device.get() < 0
					      ? discovery{0, obstacle::no_device, code}
					      : discover(library, device.get());
		const bool differ = found.what == obstacle::none &&
				    one.what == obstacle::none && found.offset != one.offset;
		found = differ ? discovery{0, obstacle::several, 0} : one;
		return found.what == obstacle::none;
	};

	if (all.count() < 2) {
		if (const stock library; library.complete()) {
			look_at(library);
			return found;
		}
	}
	if (all.more())
		return {0, obstacle::several, 0};
	// Each of them keeps its ids as it likes. One that is loaded later is not
	// seen here: the auditor keeps it away from us.
	for (std::size_t i = 0; i < all.count(); ++i) {
		const stock library{all[i]};
		if (library.complete() && !look_at(library))
			return found;
		// One whose file is gone cannot be looked at.
		if (!library.complete() && is_gone(all[i]))
			return {0, obstacle::several, 0};
	}
	return found;
}

} // namespace qpattr::preload
