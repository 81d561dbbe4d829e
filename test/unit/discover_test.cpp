// SPDX-License-Identifier: MIT
// lib/preload/discover.hpp against a librdmacm whose private layout is shuffled,
// over a scripted kernel.
#include "lib/preload/discover.hpp"

#include <algorithm>
#include <cerrno>
#include <malloc.h>
#include <random>
#include <string>
#include <sys/uio.h>
#include <vector>

#include "test/support/catch.hpp"
#include "test/support/fake_kernel.hpp"
#include "test/support/fake_librdmacm.hpp"
#include "test/support/raw_enum.hpp"

using namespace qpattr;
using preload::obstacle;
using test::fake_kernel;
using test::fake_librdmacm;

namespace {

// What process_vm_readv fails with; 0: the real one.
int vm_read_errno = 0;
// What was read by it, while its ids are malloc's: bytes outside the block of an id, and how
// many reads there were. The word in front of a block is malloc's own note of its length.
struct {
	bool on = false;
	std::size_t outside = 0, reads = 0;
} watched;

void watch(const iovec *pieces, unsigned long count)
{
	auto start = reinterpret_cast<std::uintptr_t>(pieces[0].iov_base);
	std::size_t len = 0;
	for (unsigned long i = 0; i < count; ++i)
		len += pieces[i].iov_len;
	++watched.reads;
	if (len == sizeof(std::size_t)) {
		start += len; // the note
		len = 0;
	} else {
		start -= preload::public_id_len;
		len += preload::public_id_len;
	}
	const std::size_t has = ::malloc_usable_size(reinterpret_cast<void *>(start));
	watched.outside += len > has ? len - has : 0;
}

preload::discovery look(fake_librdmacm &library)
{
	const int fd = fake_kernel::get().open_file();
	const auto found = preload::discover(library.functions(), fd);
	// Whatever came out, nothing is left behind.
	CHECK(library.live() == 0);
	return found;
}

// With a page on one side of each id that cannot be read.
void look_at_edges(bool fake_librdmacm::*edge, int code)
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	library.*edge = true;
	library.put_handle(544);
	vm_read_errno = code;
	const auto found = look(library);
	vm_read_errno = 0;
	CHECK(found.what == obstacle::none);
	CHECK(found.offset == 544);
}

} // namespace

extern "C" {

ssize_t __real_process_vm_readv(pid_t pid, const iovec *local, unsigned long local_count,
				const iovec *remote, unsigned long remote_count,
				unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const iovec *local, unsigned long local_count,
				const iovec *remote, unsigned long remote_count,
				unsigned long flags);

ssize_t __wrap_process_vm_readv(pid_t pid, const iovec *local, unsigned long local_count,
				const iovec *remote, unsigned long remote_count,
				unsigned long flags)
{
	if (watched.on)
		watch(remote, remote_count);
	if (!vm_read_errno)
		return __real_process_vm_readv(pid, local, local_count, remote, remote_count,
					       flags);
	errno = vm_read_errno;
	return -1;
}

}

TEST_CASE("discover: the handle is found wherever it lies", "[discover]")
{
	for (std::size_t at = preload::public_id_len; at + 4 <= 600; at += 4) {
		fake_kernel::get().reset();
		fake_librdmacm library{600};
		library.put_handle(at);
		const auto found = look(library);
		REQUIRE(found.what == obstacle::none);
		REQUIRE(found.offset == at);
	}
}

TEST_CASE("discover: shuffled layouts full of decoys", "[discover]")
{
	std::mt19937 random{42};
	for (int round = 0; round < 200; ++round) {
		fake_kernel::get().reset();
		// Ids of others make low numbers valid on another descriptor and move
		// ours up.
		const int other = fake_kernel::get().open_file();
		for (unsigned i = 0; i < random() % 5; ++i)
			fake_kernel::get().create_id(other);

		fake_librdmacm library{600};
		std::vector<std::size_t> places;
		for (std::size_t at = preload::public_id_len; at + 8 <= 600; at += 8)
			places.push_back(at);
		std::shuffle(places.begin(), places.end(), random);
		std::size_t next = 0;
		const std::size_t handle_at = places[next++] + random() % 2 * 4;
		library.put_handle(handle_at);
		library.put_pointer(places[next++]);
		library.put_pointer(places[next++]);
		library.put_constant(places[next++], 0);
		library.put_constant(places[next++], 1);
		library.put_constant(places[next++], 0xffffffff);
		library.put_counter(places[next++], 1000);
		library.put_counter(places[next++], 0x7f000000);
		library.put_first_handle(places[next++]);

		const auto found = look(library);
		REQUIRE(found.what == obstacle::none);
		REQUIRE(found.offset == handle_at);
	}
}

TEST_CASE("discover: valid and different but not its own: refused", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	// Every id holds the handle of another: all valid, all different, and wrong.
	library.put_rotated_handle(480);
	const auto found = look(library);
	CHECK(found.what == obstacle::no_candidate);
	CHECK_FALSE(found.transient());
}

TEST_CASE("discover: without the proof that destroying gives, refused", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	library.destroys_late = true;
	library.put_rotated_handle(480);
	CHECK(look(library).what == obstacle::no_candidate);
}

TEST_CASE("discover: rotated beside the right one: the right one", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	library.put_rotated_handle(480);
	library.put_handle(544);
	const auto found = look(library);
	CHECK(found.what == obstacle::none);
	CHECK(found.offset == 544);
}

TEST_CASE("discover: of malloc's ids nothing outside their blocks is read", "[discover]")
{
	for (const std::size_t len : {560UL, 600UL, 604UL, 616UL, 700UL, 900UL}) {
		fake_kernel::get().reset();
		fake_librdmacm library{len};
		library.put_handle(544);
		watched = {true, 0, 0};
		const auto found = look(library);
		watched.on = false;
		CHECK(found.offset == 544);
		CHECK(watched.reads >= 10);
		CHECK(watched.outside == 0);
	}
}

TEST_CASE("discover: ids of an allocator that is not glibc's", "[discover][memcheck]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	library.foreign_blocks = true;
	library.put_handle(544);
	const auto found = look(library);
	// Words behind a block are read along here, and may look like handles: then
	// it is stock's turn, and never a wrong place.
	CHECK((found.what == obstacle::ambiguous || found.offset == 544));
}

TEST_CASE("discover: where the kernel may not read for us, pages are probed", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	library.put_handle(544);
	vm_read_errno = EPERM;
	const auto found = look(library);
	vm_read_errno = 0;
	CHECK(found.what == obstacle::none);
	CHECK(found.offset == 544);
}

TEST_CASE("discover: ids at the very end of what is mapped", "[discover][memcheck]")
{
	look_at_edges(&fake_librdmacm::at_page_end, 0);
}

TEST_CASE("discover: ids that begin where what is mapped does", "[discover][memcheck]")
{
	look_at_edges(&fake_librdmacm::at_page_start, 0);
}

TEST_CASE("discover: ids at both edges, where the kernel may not read for us", "[discover]")
{
	look_at_edges(&fake_librdmacm::at_page_end, EPERM);
	look_at_edges(&fake_librdmacm::at_page_start, EPERM);
}

TEST_CASE("discover: a second copy of the handle is ambiguous", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	library.put_handle(480);
	library.put_handle(544);
	const auto found = look(library);
	CHECK(found.what == obstacle::ambiguous);
	CHECK_FALSE(found.transient());
}

TEST_CASE("discover: no private part, or none with a handle", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm bare{preload::public_id_len};
	CHECK(look(bare).what == obstacle::no_candidate);
	fake_kernel::get().reset();
	fake_librdmacm without{600};
	CHECK(look(without).what == obstacle::no_candidate);
}

TEST_CASE("discover: a handle behind the window is not looked for", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{8192};
	library.put_handle(8000);
	CHECK(look(library).what == obstacle::no_candidate);
	CHECK(fake_kernel::get().writes.size() < 200);
}

TEST_CASE("discover: stock that cannot make an id is worth another try", "[discover]")
{
	for (int made = 0; made < 5; ++made) {
		fake_kernel::get().reset();
		fake_librdmacm library{600};
		library.put_handle(544);
		library.fail_after(made, ENOMEM);
		const auto found = look(library);
		CHECK(found.what == obstacle::no_id);
		CHECK(found.code == ENOMEM);
		CHECK(found.transient());
	}
}

TEST_CASE("discover: what takes every command is not the device: no id is made there", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	library.put_handle(544);
	fake_kernel::get().script({24});
	const auto found = look(library);
	CHECK(found.what == obstacle::no_device);
	CHECK(found.code == ENODEV);
	CHECK(fake_kernel::get().writes.size() == 1);
}

TEST_CASE("discover: the kernel is asked little", "[discover]")
{
	fake_kernel::get().reset();
	fake_librdmacm library{600};
	library.put_handle(544);
	library.put_pointer(424);
	library.put_pointer(440);
	library.put_pointer(456);
	library.put_pointer(472);
	REQUIRE(look(library).what == obstacle::none);
	CHECK(fake_kernel::get().writes.size() <= 60);
}

TEST_CASE("discover: every obstacle has a text", "[discover]")
{
	for (const auto what : {obstacle::none, obstacle::no_stock, obstacle::no_device,
				obstacle::no_id, obstacle::no_candidate, obstacle::ambiguous})
		CHECK(std::string{preload::obstacle_text(what)} != "unknown");
	CHECK(std::string{preload::obstacle_text(test::raw_enum<obstacle>(99))} == "unknown");
}
