// SPDX-License-Identifier: MIT
// lib/cm/pool.hpp with threads: another one in between each two steps, made to come
// there, and many at once.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "test/support/catch.hpp"

// The pool's atomics let a test in after each load: what another thread does there.
namespace qpattr::test {
thread_local int steps_before = -1;
thread_local void (*in_between)() = nullptr;

inline void step() noexcept
{
	if (steps_before < 0 || steps_before-- > 0)
		return;
	in_between();
}
} // namespace qpattr::test
namespace qpattr::cm::std {
using namespace ::std;
template <class T> class atomic : public ::std::atomic<T> {
public:
	constexpr atomic() noexcept = default;
	constexpr atomic(T value) noexcept : ::std::atomic<T>{value} {}
	[[nodiscard]] T load(::std::memory_order order) const noexcept
	{
		const T value = ::std::atomic<T>::load(order);
		test::step();
		return value;
	}
};
} // namespace qpattr::cm::std

#include "lib/cm/pool.hpp"

namespace {

struct thing {
	std::array<unsigned char, 40> bytes;
	std::atomic<std::uint32_t> owner;
};
using things = qpattr::cm::pool<thing, 2>; // chunks of 4, 8, 16, ...

// Volatile, since the compiler knows calloc() as a function that looks at nothing.
// Runs once within the next calloc: what another thread does meanwhile.
void (*volatile meanwhile)() = nullptr;
// What it gave last, and what was freed last.
void *volatile last_calloc = nullptr;
void *volatile last_free = nullptr;

things *raced = nullptr;
thing *taken_meanwhile = nullptr;

} // namespace

extern "C" {

void *__real_calloc(std::size_t count, std::size_t size);
void *__wrap_calloc(std::size_t count, std::size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

void *__wrap_calloc(std::size_t count, std::size_t size)
{
	if (auto *other = meanwhile) {
		meanwhile = nullptr;
		other();
	}
	void *made = __real_calloc(count, size);
	last_calloc = made;
	return made;
}

void __wrap_free(void *memory)
{
	last_free = memory;
	__real_free(memory);
}

}

TEST_CASE("pool_race: two threads that grow it at once have one chunk and two cells")
{
	const auto all = std::make_unique<things>();
	raced = all.get();
	taken_meanwhile = nullptr;
	// The other thread comes while this one allocates, and is through first.
	meanwhile = [] { taken_meanwhile = raced->take(); };
	thing *one = all->take();
	REQUIRE(one != nullptr);
	REQUIRE(taken_meanwhile != nullptr);
	CHECK(one != taken_meanwhile);
	CHECK(all->holds(one));
	CHECK(all->holds(taken_meanwhile));
	CHECK(all->find(all->uid_of(taken_meanwhile)) == taken_meanwhile);
	const auto apart = reinterpret_cast<std::uintptr_t>(one) -
			   reinterpret_cast<std::uintptr_t>(taken_meanwhile);
	CHECK(apart <= 2 * (sizeof(thing) + 12)); // neighbours in the same chunk

	// The next chunk: what the slower one allocated is freed.
	CHECK(all->take() != nullptr);
	CHECK(all->take() != nullptr);
	meanwhile = [] { taken_meanwhile = raced->take(); };
	last_free = nullptr;
	thing *fifth = all->take();
	const void *superfluous = last_calloc;
	const void *freed = last_free;
	REQUIRE(fifth != nullptr);
	CHECK(all->holds(fifth));
	CHECK(fifth != taken_meanwhile);
	CHECK(freed == superfluous);
	CHECK_FALSE(all->owns(superfluous));
}

TEST_CASE("pool_race: another thread in between any two steps spoils nothing")
{
	static things *shared;
	static std::vector<thing *> live; // what the other thread holds
	using act = void (*)();
	const act takes_one = [] { live.push_back(shared->take()); };
	const act takes_two_gives_one = [] { // the head is as before, what follows is not
		thing *one = shared->take();
		live.push_back(shared->take());
		shared->give(one);
	};
	const act gives = [] {
		shared->give(live.back());
		live.pop_back();
	};
	for (const act other : {takes_one, takes_two_gives_one, gives})
		for (const bool taking : {true, false})
			for (int at = 0; at < 8; ++at) {
				const auto all = std::make_unique<things>();
				shared = all.get();
				std::array<thing *, 5> cells{};
				for (auto &cell : cells)
					cell = all->take();
				live = {cells[3]};
				thing *mine = cells[4];
				for (std::size_t freed = 0; freed < 3; ++freed)
					all->give(cells[freed]);
				qpattr::test::in_between = other;
				qpattr::test::steps_before = at;
				if (taking)
					live.push_back(all->take());
				else
					all->give(mine);
				qpattr::test::steps_before = -1;
				if (taking)
					live.push_back(mine);
				// All five are live or free, each once.
				while (live.size() < 5)
					live.push_back(all->take());
				INFO("step " << at << (taking ? " of take" : " of give"));
				CHECK(std::set<thing *>(live.begin(), live.end()) ==
				      std::set<thing *>(cells.begin(), cells.end()));
			}
}

TEST_CASE("pool_race: many threads take and give at once")
{
	const auto all = std::make_unique<things>();
	constexpr std::uint32_t threads = 8;
	constexpr int rounds = 20000;
	constexpr std::size_t at_most = 7;
	std::atomic<std::uint32_t> wrong{0};
	std::atomic<bool> start{false};
	std::vector<std::thread> running;
	for (std::uint32_t number = 1; number <= threads; ++number)
		running.emplace_back([&all, &wrong, &start, number] {
			while (!start)
				std::this_thread::yield();
			std::array<thing *, at_most> mine{};
			std::array<std::uint64_t, at_most> uids{};
			for (int round = 0; round < rounds; ++round) {
				const std::size_t count = 1 + static_cast<std::size_t>(round) % at_most;
				for (std::size_t at = 0; at < count; ++at) {
					mine[at] = all->take();
					if (!mine[at] || mine[at]->owner.exchange(number) != 0) {
						++wrong;
						return;
					}
					uids[at] = all->uid_of(mine[at]);
				}
				for (std::size_t at = 0; at < count; ++at) {
					wrong += mine[at]->owner != number || !all->holds(mine[at]) ||
						 all->find(uids[at]) != mine[at];
					all->give(mine[at]);
					wrong += all->find(uids[at]) != nullptr;
				}
			}
		});
	start = true;
	for (auto &one : running)
		one.join();
	CHECK(wrong == 0);
	// As many cells as were live at once, at most: none was lost, none is there twice.
	std::set<thing *> cells;
	std::uint32_t highest = 0;
	for (std::size_t at = 0; at < threads * at_most; ++at) {
		thing *one = all->take();
		REQUIRE(one != nullptr);
		cells.insert(one);
		highest = std::max(highest, static_cast<std::uint32_t>(all->uid_of(one)));
	}
	CHECK(cells.size() == threads * at_most);
	CHECK(highest <= threads * at_most);
}
