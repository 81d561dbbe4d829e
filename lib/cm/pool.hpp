// SPDX-License-Identifier: MIT
// Memory for what programs hold pointers to and the kernel holds numbers of: ids,
// events, channels, multicast groups.
//
// A pool never gives memory back, so that a pointer to something that was
// released, or to something that never was ours, can be told from a live one
// without touching memory that may be gone; and so can the uid that comes with an
// event. Cells lie in chunks that double in size; free ones hang in a stack.
// Lock-free: every operation is a few atomic steps.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace qpattr::cm {

template <class T, unsigned first_bits> class pool {
	static_assert(std::is_trivially_destructible_v<T>);

public:
	// Zeroed; nullptr where there is no memory.
	[[nodiscard]] T *take() noexcept
	{
		std::uint32_t slot = pop();
		if (!slot)
			slot = take_fresh();
		if (!slot)
			return nullptr;
		cell &taken = cell_at(slot);
		T *value = new (&taken.value) T{};
		taken.generation.fetch_add(1, std::memory_order_release); // odd: live
		return value;
	}

	// It must be live. Nothing finds it from here on.
	void give(T *value) noexcept
	{
		cell &freed = *reinterpret_cast<cell *>(value);
		freed.generation.fetch_add(1, std::memory_order_release);
		push(freed);
	}

	// Whether the pointer is to something live of this pool. Reads memory of the
	// pool only.
	[[nodiscard]] bool holds(const void *value) const noexcept
	{
		const cell *found = cell_of(value);
		return found && (found->generation.load(std::memory_order_acquire) & 1);
	}

	// Whether the memory is the pool's, live or not.
	[[nodiscard]] bool owns(const void *value) const noexcept { return cell_of(value); }

	// A number for the kernel, never 0, that no other object of the pool had or
	// will have (until 2^31 were in the same cell).
	[[nodiscard]] std::uint64_t uid_of(const T *value) const noexcept
	{
		const cell &of = *reinterpret_cast<const cell *>(value);
		return (std::uint64_t{of.generation.load(std::memory_order_relaxed)} << 32) |
		       of.slot;
	}

	// What has this uid and is live, or nullptr.
	[[nodiscard]] T *find(std::uint64_t uid) noexcept
	{
		const auto slot = static_cast<std::uint32_t>(uid);
		const auto generation = static_cast<std::uint32_t>(uid >> 32);
		if (slot == 0 || slot >= fresh_.load(std::memory_order_acquire))
			return nullptr; // never used
		cell &found = cell_at(slot);
		if (!(generation & 1) ||
		    found.generation.load(std::memory_order_acquire) != generation)
			return nullptr;
		return &found.value;
	}

private:
	struct cell {
		T value; // first: a pointer to it is one to the cell
		std::uint32_t slot;
		std::atomic<std::uint32_t> generation; // odd: live
		std::atomic<std::uint32_t> next_free;
	};
	static constexpr unsigned chunks = 31 - first_bits;

	static constexpr std::uint32_t chunk_size(unsigned chunk) noexcept
	{
		return 1U << (first_bits + chunk);
	}
	// Slot 1 is the first cell of the first chunk; 0 means none.
	static constexpr unsigned chunk_of(std::uint32_t slot) noexcept
	{
		const std::uint32_t shifted = slot - 1 + (1U << first_bits);
		return static_cast<unsigned>(std::bit_width(shifted)) - 1 - first_bits;
	}
	static constexpr std::uint32_t place_in(std::uint32_t slot, unsigned chunk) noexcept
	{
		return slot - 1 + (1U << first_bits) - chunk_size(chunk);
	}

	// Of a slot that was used.
	cell &cell_at(std::uint32_t slot) noexcept
	{
		const unsigned chunk = chunk_of(slot);
		if (chunk >= chunks)
			__builtin_unreachable(); // gcc 12 warns of it otherwise
		return directory_[chunk].load(std::memory_order_acquire)[place_in(slot, chunk)];
	}

	const cell *cell_of(const void *value) const noexcept
	{
		const auto address = reinterpret_cast<std::uintptr_t>(value);
		for (unsigned chunk = 0; chunk < chunks; ++chunk) {
			const cell *base = directory_[chunk].load(std::memory_order_acquire);
			if (!base)
				break;
			const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(base);
			if (offset >= chunk_size(chunk) * sizeof(cell))
				continue;
			if (offset % sizeof(cell) != 0)
				break;
			return base + offset / sizeof(cell);
		}
		return nullptr;
	}

	bool have_chunk(unsigned chunk) noexcept
	{
		if (directory_[chunk].load(std::memory_order_acquire))
			return true;
		auto *made =
			static_cast<cell *>(std::calloc(chunk_size(chunk), sizeof(cell)));
		if (!made)
			return false;
		cell *none = nullptr;
		if (!directory_[chunk].compare_exchange_strong(none, made,
							       std::memory_order_acq_rel))
			std::free(made); // another thread was first
		return true;
	}

	std::uint32_t take_fresh() noexcept
	{
		std::uint32_t slot = fresh_.load(std::memory_order_acquire);
		do {
			if (slot > 0x7fffffffU - (1U << first_bits) || !have_chunk(chunk_of(slot)))
				return 0;
		} while (!fresh_.compare_exchange_weak(slot, slot + 1, std::memory_order_acq_rel));
		cell_at(slot).slot = slot;
		return slot;
	}

	// The head counts its changes, so that a cell that was taken and put back
	// meanwhile is noticed.
	static constexpr std::uint64_t next_head(std::uint64_t head, std::uint32_t slot) noexcept
	{
		return (((head >> 32) + 1) << 32) | slot;
	}

	std::uint32_t pop() noexcept
	{
		std::uint64_t head = free_.load(std::memory_order_acquire);
		while (const auto slot = static_cast<std::uint32_t>(head)) {
			const std::uint32_t next =
				cell_at(slot).next_free.load(std::memory_order_relaxed);
			if (free_.compare_exchange_weak(head, next_head(head, next),
							std::memory_order_acq_rel))
				return slot;
		}
		return 0;
	}

	void push(cell &freed) noexcept
	{
		std::uint64_t head = free_.load(std::memory_order_acquire);
		do
			freed.next_free.store(static_cast<std::uint32_t>(head),
					      std::memory_order_relaxed);
		while (!free_.compare_exchange_weak(head, next_head(head, freed.slot),
						    std::memory_order_acq_rel));
	}

	std::atomic<cell *> directory_[chunks]{};
	std::atomic<std::uint32_t> fresh_{1};
	std::atomic<std::uint64_t> free_{0}; // count << 32 | slot
};

} // namespace qpattr::cm
