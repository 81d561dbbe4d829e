// SPDX-License-Identifier: MIT
#include "test/support/fake_librdmacm.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>

#include "test/support/fake_kernel.hpp"

namespace qpattr::test {
namespace {

constexpr std::size_t front_len = 16;
constexpr std::size_t page_len = 4096;
fake_librdmacm *current = nullptr;
std::recursive_mutex lock;

int create_id_entry(preload::event_channel *channel, preload::cm_id **id, void *, int)
{
	return current->create_id(channel, id);
}

int destroy_id_entry(preload::cm_id *id)
{
	return current->destroy_id(id);
}

int init_qp_attr_entry(preload::cm_id *, ibv_qp_attr *, int *mask)
{
	const std::lock_guard hold{lock};
	++current->stock_calls;
	*mask = fake_librdmacm::stock_mask;
	return 0;
}

} // namespace

fake_librdmacm::fake_librdmacm(std::size_t id_len) : id_len_{id_len}
{
	current = this;
	functions_.create_id = create_id_entry;
	functions_.destroy_id = destroy_id_entry;
	functions_.init_qp_attr = init_qp_attr_entry;
}

fake_librdmacm::~fake_librdmacm()
{
	while (!ids_.empty())
		destroy_id(ids_.back().id);
	current = nullptr;
}

void fake_librdmacm::put_handle(std::size_t at)
{
	layout_.push_back({at, 4, [](std::uint32_t handle, const void *) { return handle; }});
}

void fake_librdmacm::put_rotated_handle(std::size_t at)
{
	// Of five ids with the numbers 0 to 4 the next one's.
	layout_.push_back(
		{at, 4, [](std::uint32_t handle, const void *) { return (handle + 1) % 5; }});
}

void fake_librdmacm::put_first_handle(std::size_t at)
{
	layout_.push_back({at, 4, [this](std::uint32_t handle, const void *) {
				   return ids_.empty() ? handle : ids_.front().handle;
			   }});
}

void fake_librdmacm::put_pointer(std::size_t at)
{
	layout_.push_back({at, 8, [](std::uint32_t, const void *id) {
				   return reinterpret_cast<std::uintptr_t>(id);
			   }});
}

void fake_librdmacm::put_constant(std::size_t at, std::uint32_t value)
{
	layout_.push_back({at, 4, [value](std::uint32_t, const void *) { return value; }});
}

void fake_librdmacm::put_counter(std::size_t at, std::uint32_t start)
{
	layout_.push_back({at, 4, [this, start](std::uint32_t, const void *) {
				   return start + static_cast<std::uint32_t>(made_);
			   }});
}

void fake_librdmacm::fail_after(int made, int code)
{
	const std::lock_guard hold{lock};
	fail_after_ = made;
	fail_code_ = code;
	made_ = 0;
}

preload::cm_id *fake_librdmacm::create(preload::event_channel *channel)
{
	preload::cm_id *id = nullptr;
	return create_id(channel, &id) == 0 ? id : nullptr;
}

std::uint32_t fake_librdmacm::handle_of(const preload::cm_id *id) const
{
	const std::lock_guard hold{lock};
	for (const made_id &one : ids_)
		if (one.id == id)
			return one.handle;
	return 0xffffffff;
}

void fake_librdmacm::write_private(const made_id &one)
{
	for (const placed &p : layout_) {
		const std::uint64_t value = p.value(one.handle, one.id);
		const auto handle = static_cast<std::uint32_t>(value);
		std::memcpy(reinterpret_cast<char *>(one.id) + p.at,
			    p.len == sizeof handle ? static_cast<const void *>(&handle) : &value, p.len);
	}
}

void *fake_librdmacm::allocate() const
{
	if (at_page_end) {
		// A page that can be read, and one behind it that cannot.
		auto *const pages = static_cast<char *>(::mmap(nullptr, 2 * page_len, PROT_NONE,
							       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		::mprotect(pages, page_len, PROT_READ | PROT_WRITE);
		return pages + page_len - id_len_;
	}
	if (at_page_start) {
		auto *const pages = static_cast<char *>(::mmap(nullptr, 2 * page_len, PROT_NONE,
							       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		::mprotect(pages + page_len, page_len, PROT_READ | PROT_WRITE);
		return pages + page_len;
	}
	const std::size_t front = foreign_blocks ? front_len : 0;
	auto *const block = static_cast<char *>(std::calloc(1, front + id_len_));
	if (front)
		std::memcpy(block + front - sizeof block, &block, sizeof block);
	return block + front;
}

void fake_librdmacm::release(void *id) const
{
	auto *const block = static_cast<char *>(id);
	if (at_page_end)
		::munmap(block + id_len_ - page_len, 2 * page_len);
	else if (at_page_start)
		::munmap(block - page_len, 2 * page_len);
	else
		std::free(block - (foreign_blocks ? front_len : 0));
}

int fake_librdmacm::create_id(preload::event_channel *channel, preload::cm_id **id)
{
	if (on_create)
		on_create();
	const std::lock_guard hold{lock};
	if (fail_after_ >= 0 && made_ >= fail_after_) {
		errno = fail_code_;
		return -1;
	}
	void *const memory = allocate();
	made_id one{static_cast<preload::cm_id *>(memory),
		    fake_kernel::get().create_id(channel->fd)};
	one.id->channel = channel;
	write_private(one);
	ids_.push_back(one);
	++made_;
	*id = one.id;
	return 0;
}

int fake_librdmacm::destroy_id(preload::cm_id *id)
{
	const std::lock_guard hold{lock};
	const auto found = std::find_if(ids_.begin(), ids_.end(),
					[id](const made_id &one) { return one.id == id; });
	if (found == ids_.end()) {
		errno = ENOENT;
		return -1;
	}
	if (!destroys_late)
		fake_kernel::get().destroy_id(found->handle);
	ids_.erase(found);
	release(id);
	return 0;
}

} // namespace qpattr::test
