// SPDX-License-Identifier: MIT
#include "lib/audit/spaces.hpp"

#include <atomic>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
#include <utility>

#include "lib/audit/objects.hpp"
#include "lib/say.hpp"

namespace qpattr::audit {
namespace {

using init_qp_attr_fn = int(void *id, void *attr, int *mask);

std::uintptr_t preloaded_function = 0;
char preloaded_path[PATH_MAX];

// As many as glibc has, and the first.
constexpr std::size_t spaces_max = 16;

struct space_state {
	std::atomic<init_qp_attr_fn *> serves{nullptr};
	std::atomic<init_qp_attr_fn *> stock{nullptr};
	std::atomic<void *> handle{nullptr}; // of the preload object loaded for it
};
space_state spaces[spaces_max];

// A handler that calls rdma_init_qp_attr too would find the dynamic linker in the
// middle of loading for its own thread.
class signals_off {
public:
	signals_off() noexcept
	{
		sigset_t all;
		::sigfillset(&all);
		::pthread_sigmask(SIG_SETMASK, &all, &before_);
	}
	~signals_off() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
	signals_off(const signals_off &) = delete;
	signals_off &operator=(const signals_off &) = delete;

private:
	sigset_t before_;
};

// The first call in a namespace. Threads that come at once each load, and those
// that come late unload again, which is counting for the dynamic linker.
[[gnu::cold, gnu::noinline]] init_qp_attr_fn *load(std::size_t which) noexcept
{
	const signals_off guard;
	space_state &space = spaces[which];
	void *handle =
		::dlmopen(static_cast<Lmid_t>(which), preloaded_path, RTLD_NOW | RTLD_LOCAL);
	auto *function = reinterpret_cast<init_qp_attr_fn *>(
		handle ? ::dlsym(handle, function_name) : nullptr);
	if (!function) {
		const char *why = ::dlerror();
		say("rdma_init_qp_attr is served by stock librdmacm in namespace %zu (pid %d): %s",
		    which, static_cast<int>(::getpid()), why ? why : "no reason given");
		function = space.stock;
	}
	void *nothing = nullptr;
	if (handle && !space.handle.compare_exchange_strong(nothing, handle))
		::dlclose(handle);
	space.serves.store(function, std::memory_order_release);
	return function;
}

// Apart, so that the step itself needs no stack.
template <std::size_t Which>
[[gnu::cold, gnu::noinline]] int first_step(void *id, void *attr, int *mask) noexcept
{
	return load(Which)(id, attr, mask);
}

template <std::size_t Which> int step(void *id, void *attr, int *mask) noexcept
{
	init_qp_attr_fn *const serves = spaces[Which].serves.load(std::memory_order_acquire);
	if (!serves) [[unlikely]]
		return first_step<Which>(id, attr, mask);
	return serves(id, attr, mask);
}

template <std::size_t... Which>
init_qp_attr_fn *step_of(std::size_t wanted, std::index_sequence<Which...>) noexcept
{
	init_qp_attr_fn *const steps[] = {&step<Which>...};
	return steps[wanted];
}

} // namespace

void preloaded(std::uintptr_t function, const char *path) noexcept
{
	if (preloaded_function != 0)
		return;
	preloaded_function = function;
	// The program may change its directory.
	if (!::realpath(path, preloaded_path))
		preloaded_path[0] = '\0';
}

bool is_preloaded() noexcept
{
	return preloaded_function != 0;
}

std::uintptr_t function_for(Lmid_t space, std::uintptr_t stock) noexcept
{
	if (space == LM_ID_BASE)
		return preloaded_function;
	const auto which = static_cast<std::size_t>(space);
	if (!is_preloaded() || !preloaded_path[0] || which >= spaces_max)
		return 0;
	spaces[which].stock = reinterpret_cast<init_qp_attr_fn *>(stock);
	return reinterpret_cast<std::uintptr_t>(
		step_of(which, std::make_index_sequence<spaces_max>{}));
}

void forget(Lmid_t space) noexcept
{
	const auto which = static_cast<std::size_t>(space);
	if (space == LM_ID_BASE || which >= spaces_max)
		return;
	spaces[which].serves.store(nullptr, std::memory_order_release);
	// Inside of a dlclose this only counts down: the preload object goes with
	// the rest, else it would hold the namespace, of which there are few.
	if (void *handle = spaces[which].handle.exchange(nullptr))
		::dlclose(handle);
}

} // namespace qpattr::audit
