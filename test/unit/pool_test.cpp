// SPDX-License-Identifier: MIT
// lib/cm/pool.hpp: what is live, what is not, and what never was; growing and running
// out of memory. Threads: pool_race_test.cpp.
#include "lib/cm/pool.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <vector>

#include "test/support/catch.hpp"
#include "test/support/fake_cm_memory.hpp"

using qpattr::cm::pool;
using qpattr::test::cm_out_of_memory;

namespace {

struct thing {
	std::array<unsigned char, 40> bytes;
	std::atomic<std::uint32_t> owner;
};
using things = pool<thing, 2>; // chunks of 4, 8, 16, ...

// The whole state of an empty pool is zeros and ones: it may be static in C.
constinit things static_pool;

} // namespace

TEST_CASE("pool: what was taken is held, owned and found by its uid")
{
	const auto all = std::make_unique<things>();
	thing *one = all->take();
	REQUIRE(one != nullptr);
	CHECK(all->holds(one));
	CHECK(all->owns(one));
	const auto uid = all->uid_of(one);
	CHECK(uid != 0);
	CHECK(all->find(uid) == one);
	CHECK(all->uid_of(one) == uid);
	thing *other = all->take();
	REQUIRE(other != nullptr);
	CHECK(other != one);
	CHECK(all->uid_of(other) != uid);
	CHECK(all->find(uid) == one);
	CHECK(static_pool.find(uid) == nullptr);
	CHECK_FALSE(static_pool.holds(one));
}

TEST_CASE("pool: what was given back is owned, neither held nor found")
{
	const auto all = std::make_unique<things>();
	thing *one = all->take();
	REQUIRE(one != nullptr);
	const auto uid = all->uid_of(one);
	all->give(one);
	CHECK_FALSE(all->holds(one));
	CHECK(all->owns(one));
	CHECK(all->find(uid) == nullptr);
}

TEST_CASE("pool: a cell taken anew has another uid, and the stale one finds nothing")
{
	const auto all = std::make_unique<things>();
	std::set<std::uint64_t> uids;
	thing *first = all->take();
	REQUIRE(first != nullptr);
	for (int times = 0; times < 100; ++times) {
		const auto uid = all->uid_of(first);
		CHECK(uids.insert(uid).second);
		all->give(first);
		REQUIRE(all->take() == first); // the one free cell is used before a fresh one
		CHECK(all->find(uid) == nullptr);
		CHECK(all->find(all->uid_of(first)) == first);
	}
}

TEST_CASE("pool: the cell given back last is taken first")
{
	const auto all = std::make_unique<things>();
	std::array<thing *, 6> taken{};
	for (auto &one : taken)
		REQUIRE((one = all->take()) != nullptr);
	for (auto *one : taken)
		all->give(one);
	for (std::size_t at = taken.size(); at-- > 0;)
		CHECK(all->take() == taken[at]);
	// None is left of those: a fresh one, which is none of them.
	thing *fresh = all->take();
	CHECK(std::find(taken.begin(), taken.end(), fresh) == taken.end());
}

TEST_CASE("pool: memory is zero at first and when it is used again")
{
	const auto all = std::make_unique<things>();
	thing *one = nullptr;
	for (int times = 0; times < 2; ++times) {
		one = all->take();
		REQUIRE(one != nullptr);
		CHECK(one->bytes == std::array<unsigned char, 40>{});
		CHECK(one->owner == 0);
		one->bytes.fill(0xff);
		one->owner = 0xffffffff;
		all->give(one);
	}
}

TEST_CASE("pool: a forged uid finds nothing")
{
	const auto all = std::make_unique<things>();
	// Before anything was taken there is no memory to look at.
	for (const std::uint64_t uid : {std::uint64_t{1}, std::uint64_t{1} << 32 | 1, ~std::uint64_t{0}})
		CHECK(all->find(uid) == nullptr);
	thing *one = all->take();
	thing *freed = all->take();
	REQUIRE(one != nullptr);
	REQUIRE(freed != nullptr);
	const auto uid = all->uid_of(one);
	const auto freed_uid = all->uid_of(freed);
	all->give(freed);
	const auto slot = static_cast<std::uint32_t>(uid);
	const auto generation = uid & ~std::uint64_t{0xffffffff};
	CHECK(all->find(0) == nullptr);
	CHECK(all->find(generation) == nullptr); // slot 0
	// Slots never used: the next, of a chunk that is there; in none; the highest.
	for (const std::uint32_t never : {3U, 4U, 5U, 13U, 0x7fffffffU, 0x80000000U, 0xffffffffU})
		CHECK(all->find(generation | never) == nullptr);
	// Generations that the slot had not, will have, or that stand for free.
	for (const std::uint64_t other : {0ULL, 2ULL, 3ULL, 0xffffffffULL})
		CHECK(all->find(other << 32 | slot) == nullptr);
	// The very generation of a free cell, which is even.
	CHECK(all->find(freed_uid + (std::uint64_t{1} << 32)) == nullptr);
	CHECK(all->find(uid) == one);
}

TEST_CASE("pool: a pointer that is none of its cells is not held")
{
	const auto all = std::make_unique<things>();
	const auto other = std::make_unique<things>();
	std::vector<thing *> taken;
	for (int times = 0; times < 12; ++times) // two whole chunks
		taken.push_back(all->take());
	thing *foreign = other->take();
	thing on_stack{};
	const auto on_heap = std::make_unique<thing>();
	CHECK_FALSE(all->holds(nullptr));
	CHECK_FALSE(all->owns(nullptr));
	for (const void *not_ours : {static_cast<const void *>(foreign), static_cast<const void *>(&on_stack),
				     static_cast<const void *>(on_heap.get()),
				     static_cast<const void *>(all.get()),
				     reinterpret_cast<const void *>(~std::uintptr_t{0}),
				     reinterpret_cast<const void *>(std::uintptr_t{1})}) {
		CHECK_FALSE(all->holds(not_ours));
		CHECK_FALSE(all->owns(not_ours));
	}
	std::size_t held = 0;
	for (const thing *one : taken) {
		CHECK(all->holds(one));
		// Every other address in the cell, what the pool keeps there too.
		const auto *bytes = reinterpret_cast<const unsigned char *>(one);
		for (std::size_t at = 1; at < sizeof(thing) + 12; ++at)
			held += all->holds(bytes + at) || all->owns(bytes + at);
	}
	CHECK(held == 0);
	// The ends of the chunks: cells 0 to 3 are the first, 4 to 11 the second.
	const auto cell = static_cast<std::size_t>(reinterpret_cast<unsigned char *>(taken[1]) -
						   reinterpret_cast<unsigned char *>(taken[0]));
	CHECK_FALSE(all->owns(reinterpret_cast<unsigned char *>(taken[0]) - cell));
	CHECK_FALSE(all->owns(reinterpret_cast<unsigned char *>(taken[11]) + cell));
}

TEST_CASE("pool: a cell that was never taken is not held")
{
	const auto all = std::make_unique<things>();
	thing *one = all->take();
	thing *two = all->take();
	REQUIRE(two != nullptr);
	const auto *never = two + (two - one); // the third cell of the chunk
	CHECK_FALSE(all->holds(reinterpret_cast<const unsigned char *>(two) +
			       (reinterpret_cast<const unsigned char *>(two) -
				reinterpret_cast<const unsigned char *>(one))));
	CHECK_FALSE(all->holds(never));
}

TEST_CASE("pool: it grows over chunks, and nothing moves")
{
	const auto all = std::make_unique<things>();
	constexpr std::uint32_t many = 5000; // eleven chunks
	std::vector<thing *> taken;
	std::vector<std::uint64_t> uids;
	for (std::uint32_t at = 0; at < many; ++at) {
		taken.push_back(all->take());
		REQUIRE(taken.back() != nullptr);
		taken.back()->owner = at;
		uids.push_back(all->uid_of(taken.back()));
	}
	CHECK(std::set<thing *>(taken.begin(), taken.end()).size() == many);
	CHECK(std::set<std::uint64_t>(uids.begin(), uids.end()).size() == many);
	std::uint32_t wrong = 0;
	for (std::uint32_t at = 0; at < many; ++at)
		wrong += !all->holds(taken[at]) || all->find(uids[at]) != taken[at] ||
			 taken[at]->owner != at;
	CHECK(wrong == 0);
	// Every second one given: they and no others are gone.
	for (std::uint32_t at = 0; at < many; at += 2)
		all->give(taken[at]);
	for (std::uint32_t at = 0; at < many; ++at)
		wrong += all->holds(taken[at]) != (at % 2 == 1) ||
			 (all->find(uids[at]) != nullptr) != (at % 2 == 1);
	CHECK(wrong == 0);
}

TEST_CASE("pool: out of memory at each chunk is nullptr, harms nothing, and passes")
{
	// The first cell of each chunk: 1, 5, 13, 29.
	for (const std::size_t before : {0U, 4U, 12U, 28U}) {
		const auto all = std::make_unique<things>();
		std::vector<thing *> taken;
		for (std::size_t at = 0; at < before; ++at)
			taken.push_back(all->take());
		cm_out_of_memory = true;
		thing *none = all->take();
		thing *still_none = all->take();
		cm_out_of_memory = false;
		CHECK(none == nullptr);
		CHECK(still_none == nullptr);
		CHECK(all->find(std::uint64_t{1} << 32 | (before + 1)) == nullptr);
		std::size_t wrong = 0;
		for (thing *one : taken)
			wrong += !all->holds(one) || all->find(all->uid_of(one)) != one;
		CHECK(wrong == 0);
		// A cell that is free needs no memory.
		if (!taken.empty()) {
			all->give(taken.back());
			cm_out_of_memory = true;
			thing *again = all->take();
			cm_out_of_memory = false;
			CHECK(again == taken.back());
		}
		thing *one = all->take();
		REQUIRE(one != nullptr);
		CHECK(static_cast<std::uint32_t>(all->uid_of(one)) == before + 1);
		CHECK(all->holds(one));
	}
}
