// SPDX-License-Identifier: MIT
// Between the C functions and the rooms: errors become -1 and errno, commands go
// out on the channel of an id.
#pragma once

#include <cerrno>

#include "lib/cm/live.hpp"
#include "lib/say.hpp"
#include "lib/ucma/command.hpp"

namespace qpattr::cm {

[[nodiscard]] inline int refuse(int code) noexcept
{
	errno = code;
	return -1;
}

// A public call: errno is the caller's again where the call succeeds, whatever
// libibverbs and libc left in it.
class call {
public:
	call() noexcept : saved_{errno} {}
	[[nodiscard]] int finish(const result<void> &what) const noexcept
	{
		if (!what)
			return refuse(what.why().code);
		errno = saved_;
		return 0;
	}
	void succeeded() const noexcept { errno = saved_; }

private:
	int saved_;
};

inline failure wrong(int code) noexcept
{
	return {code, QPATTR_STAGE_ARGUMENT};
}

// EACCES has one cause that surprises people; say it where it is asked for.
inline failure explained(failure why, const char *command) noexcept
{
	if (why.code == EACCES)
		say("%s: EACCES: the event channel was opened before a fork, an exec or a change "
		    "of credentials; open a new one in the process that uses it",
		    command);
	return why;
}

template <uapi::command C>
[[nodiscard]] result<void> tell(int fd, const ucma::frame<C> &command) noexcept
{
	if (const auto sent = ucma::send(fd, command); !sent)
		return explained(sent.why(), C::name);
	return {};
}

template <uapi::command C>
[[nodiscard]] result<void> tell(const identifier &id, const ucma::frame<C> &command) noexcept
{
	return tell(id.channel->fd, command);
}

// What every function asks of an id before anything else: that it is one, of ours
// and not destroyed. Reads no memory of the id before it knows.
[[nodiscard]] inline bool known(const rdma_cm_id *id) noexcept
{
	return ids.holds(id);
}

// And that commands can be sent for it.
[[nodiscard]] inline bool usable(const rdma_cm_id *id) noexcept
{
	return known(id) && id->channel;
}

} // namespace qpattr::cm
