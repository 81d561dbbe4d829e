// SPDX-License-Identifier: MIT
#include "tools/conformance/cell.hpp"

namespace conformance {

std::span<const kind> all_kinds()
{
	static constexpr kind all[] = {
		{"rc", "RC over RDMA_PS_TCP, QPs of librdmacm", walk_rc},
		{"rc-own-qp", "RC over RDMA_PS_TCP, QPs of the program", walk_rc_own_qp},
		{"endings", "RC that is rejected, refused, given up", walk_endings},
		{"timed-out", "RC that nobody answers", walk_timed_out, true, true},
		{"listeners", "RC, listening", walk_listeners},
		{"strangers", "ids of another channel, ids that are gone", walk_strangers},
		{"synchronous", "RC without a channel", walk_synchronous},
		{"migrated", "RC, moved to another channel", walk_migrated},
		{"options", "RC with options set", walk_options},
		{"values", "RC with the least and the most of READs and retries", walk_values},
		{"ud", "UD over RDMA_PS_UDP", walk_ud},
		{"multicast", "UD, member of a group", walk_multicast},
		{"ipoib", "UD over RDMA_PS_IPOIB", walk_ipoib},
		{"ib-rc", "RC over RDMA_PS_IB", walk_ib_rc},
		{"ib-uc", "UC over RDMA_PS_IB", walk_uc},
		{"ib-ud", "UD over RDMA_PS_IB", walk_ib_ud},
		{"ib-xrc", "XRC over RDMA_PS_IB", walk_xrc},
		{"af-ib", "RDMA_PS_IB at GIDs for addresses", walk_af_ib},
		{"scripted", "answers of InfiniBand and OPA, scripted", walk_scripted, true},
		{"removed", "RC whose device is removed", walk_removed},
	};
	return all;
}

} // namespace conformance
