// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <pthread.h>

namespace qpattr::preload {

// Who is looking at the moment, and in which process: in librdmacm or in the dynamic
// linker on behalf of a call that stock would answer without either. A fork waits until
// nobody is, and nobody begins while one is under way, lest their locks stay taken in
// the child. Neither waits for more than a second.
//
// A thread that is in the list already came here from inside its own look, by an
// allocator of the program's, say. In a child that was forked during a look, past
// pthread_atfork or after the second, the list stays as it was, and so may those
// locks. Neither looks; both are served by stock.
class looker {
public:
	looker() noexcept { join(); }
	~looker() { leave(); }
	looker(const looker &) = delete;
	looker &operator=(const looker &) = delete;

	[[nodiscard]] bool may_look() const noexcept { return slot_ != nullptr; }

	// Out of the list, for a call that is not ours, and back.
	void leave() noexcept
	{
		if (slot_)
			slot_->store(0);
		slot_ = nullptr;
	}
	void join() noexcept;

private:
	std::atomic<pthread_t> *slot_ = nullptr;
};

} // namespace qpattr::preload
