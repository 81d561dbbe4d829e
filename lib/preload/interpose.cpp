// SPDX-License-Identifier: MIT
// The symbol that stands in for stock librdmacm's: the whole way of one call.
#include "lib/attr/translate.hpp"
#include "lib/preload/served.hpp"
#include "lib/ucma/command.hpp"

using namespace qpattr;

extern "C" [[gnu::visibility("default")]] int
rdma_init_qp_attr(preload::cm_id *id, ibv_qp_attr *attr, int *mask)
{
	const int place = preload::handle_place.load(std::memory_order_relaxed);
	if (__builtin_expect(!id, 0) || __builtin_expect(!attr, 0) || __builtin_expect(!mask, 0) ||
	    __builtin_expect(!id->channel, 0) || __builtin_expect(place <= 0, 0))
		return preload::serve_slowly(id, attr, mask);

	// Not cleared: the kernel writes all of it or refuses.
	uapi::init_qp_attr::reply reply;
	ucma::frame<uapi::init_qp_attr> command{&reply};
	command.body.id = preload::word_at(id, static_cast<std::size_t>(place));
	command.body.qp_state = static_cast<std::uint32_t>(attr->qp_state);

	const long written = sys::write(id->channel->fd, &command, sizeof command);
	if (written != static_cast<long>(sizeof command)) [[unlikely]]
		return preload::refused(written);

	attr::translate(reply, *attr);
	*mask = static_cast<int>(reply.qp_attr_mask);
	return 0;
}
