// SPDX-License-Identifier: MIT
// The symbol that stands in for stock librdmacm's: the whole way of one call.
#include "lib/preload/served.hpp"
#include "lib/query.hpp"
#include "lib/ucma/command.hpp"

using namespace qpattr;

// Without a word of the stack protector's in its frame, which costs a call four
// instructions: nothing here is written by an index or a length, and the kernel writes the
// reply whole or not at all.
#if __has_cpp_attribute(gnu::no_stack_protector)
#define UNPROTECTED_STACK gnu::no_stack_protector
#else
#define UNPROTECTED_STACK gnu::visibility("default")
#endif

extern "C" [[gnu::visibility("default"), UNPROTECTED_STACK]] int
rdma_init_qp_attr(preload::cm_id *id, ibv_qp_attr *attr, int *mask)
{
	const int place = preload::handle_place.load(std::memory_order_relaxed);
	// Each check stands before the load that it guards, and not all in one
	// condition, which gcc would turn into arithmetic on flags.
	if (!id) [[unlikely]]
		return preload::refused(-EINVAL);
	const preload::event_channel *const channel = id->channel;
	if (!attr) [[unlikely]]
		return preload::refused(-EINVAL);
	const auto state = state_asked(*attr);
	if (place <= 0) [[unlikely]]
		return preload::serve_slowly(id, attr, mask, __builtin_return_address(0));
	const std::uint32_t handle = preload::word_at(id, static_cast<std::size_t>(place));
	if (!channel) [[unlikely]]
		return preload::refused(-EINVAL);
	const int fd = channel->fd;
	if (!mask) [[unlikely]]
		return preload::refused(-EINVAL);

	// The reply is not cleared: the kernel writes all of it or refuses.
	struct exchange {
		uapi::init_qp_attr::reply reply;
		ucma::frame<uapi::init_qp_attr> command{&reply};
	} x;
	x.command.body.id = handle;
	x.command.body.qp_state = state;
	const long written = sys::write(fd, &x.command, sizeof x.command);
	if (written != static_cast<long>(sizeof x.command)) [[unlikely]]
		return preload::refused(written);

	attr::translate(x.reply, *attr);
	*mask = static_cast<int>(x.reply.qp_attr_mask);
	return 0;
}
