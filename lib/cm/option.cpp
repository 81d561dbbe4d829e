// SPDX-License-Identifier: MIT
// Options of an id and its ECE (enhanced connection establishment) values.
#include "lib/cm/option.hpp"

#include "lib/cm/complete.hpp"
#include "lib/cm/edge.hpp"

namespace qpattr::cm {

result<void> set_option(const identifier &id, int level, int optname, const void *optval,
			std::size_t optlen) noexcept
{
	ucma::frame<uapi::set_option> command;
	command.body.id = id.handle;
	command.body.level = static_cast<std::uint32_t>(level);
	command.body.optname = static_cast<std::uint32_t>(optname);
	command.body.optval = reinterpret_cast<std::uintptr_t>(optval);
	command.body.optlen = static_cast<std::uint32_t>(optlen);
	return tell(id, command);
}

} // namespace qpattr::cm

using namespace qpattr::cm;

int rdma_set_option(rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	const call made;
	// The kernel's length has 32 bits.
	if (!usable(id) || optlen > UINT32_MAX)
		return refuse(EINVAL);
	return made.finish(set_option(*own(id), level, optname, optval, optlen));
}

// For QPs of the program's own; the library's QP tells its ECE itself.
int rdma_set_local_ece(rdma_cm_id *id, ibv_ece *ece)
{
	if (!known(id) || id->qp || !ece || !ece->vendor_id || ece->comp_mask)
		return refuse(EINVAL);
	own(id)->local_ece = {ece->vendor_id, ece->options};
	return 0;
}

int rdma_get_remote_ece(rdma_cm_id *id, ibv_ece *ece)
{
	if (!known(id) || id->qp || !ece)
		return refuse(EINVAL);
	const auto &peer = own(id)->remote_ece;
	ece->vendor_id = peer.vendor_id;
	ece->options = peer.attr_mod;
	ece->comp_mask = 0;
	return 0;
}
