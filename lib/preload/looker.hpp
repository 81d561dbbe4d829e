// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <pthread.h>

namespace qpattr::preload {

// Who is looking at the moment, and in which process.
//
// A thread that is in the list already came here from inside its own look, by an
// allocator of the program's, say. In a child that was forked during a look the
// list stays as it was, and so may locks inside librdmacm that the looking thread
// held. Neither looks; both are served by stock.
class looker {
public:
	looker() noexcept;
	~looker()
	{
		if (slot_)
			slot_->store(0);
	}
	looker(const looker &) = delete;
	looker &operator=(const looker &) = delete;

	[[nodiscard]] bool may_look() const noexcept { return slot_ != nullptr; }

private:
	std::atomic<pthread_t> *slot_ = nullptr;
};

} // namespace qpattr::preload
