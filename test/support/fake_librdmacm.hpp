// SPDX-License-Identifier: MIT
// A librdmacm whose ids have whatever private layout a test wants. One at a
// time: its functions are plain C functions and find it by a global.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "lib/preload/stock.hpp"

namespace qpattr::test {

class fake_librdmacm {
public:
	// `id_len`: bytes of an id's allocation, public part included.
	explicit fake_librdmacm(std::size_t id_len);
	~fake_librdmacm();
	fake_librdmacm(const fake_librdmacm &) = delete;
	fake_librdmacm &operator=(const fake_librdmacm &) = delete;

	// What stands at an offset of each id.
	void put_handle(std::size_t at);
	void put_rotated_handle(std::size_t at); // of the next id of five
	void put_first_handle(std::size_t at);	 // of the first id made
	void put_pointer(std::size_t at);	 // into the id itself, 8 bytes
	void put_constant(std::size_t at, std::uint32_t value);
	void put_counter(std::size_t at, std::uint32_t start);

	// rdma_create_id fails with `code` after `made` ids.
	void fail_after(int made, int code);

	// rdma_destroy_id leaves the kernel's id alive.
	bool destroys_late = false;

	// Ids come from an allocator of the program's own: a pointer stands in
	// front of each, where glibc would keep the length.
	bool foreign_blocks = false;
	// Each id ends where its mapping does; nothing behind it can be read.
	bool at_page_end = false;
	// Each id begins where its mapping does; nothing in front of it can be read.
	bool at_page_start = false;

	// Makes an id as a program would.
	preload::cm_id *create(preload::event_channel *channel);

	// Stock's answer to rdma_init_qp_attr, and how often it was asked.
	static constexpr int stock_mask = 0x57;
	int stock_calls = 0;
	// Called before stock makes an id, in the thread that makes it.
	std::function<void()> on_create;

	[[nodiscard]] int live() const { return static_cast<int>(ids_.size()); }
	[[nodiscard]] const preload::stock &functions() const { return functions_; }
	[[nodiscard]] std::uint32_t handle_of(const preload::cm_id *id) const;

	int create_id(preload::event_channel *channel, preload::cm_id **id);
	int destroy_id(preload::cm_id *id);

private:
	struct placed {
		std::size_t at;
		std::size_t len;
		std::function<std::uint64_t(std::uint32_t handle, const void *id)> value;
	};
	struct made_id {
		preload::cm_id *id;
		std::uint32_t handle;
	};
	void write_private(const made_id &one);
	void *allocate() const;
	void release(void *id) const;

	std::size_t id_len_;
	std::vector<placed> layout_;
	std::vector<made_id> ids_;
	int fail_after_ = -1;
	int fail_code_ = 0;
	int made_ = 0;
	preload::stock functions_;
};

} // namespace qpattr::test
