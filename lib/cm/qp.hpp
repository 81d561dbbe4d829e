// SPDX-License-Identifier: MIT
// QPs and SRQs on an id, with the completion queues that come with them.
#pragma once

#include "lib/cm/identifier.hpp"
#include "lib/result.hpp"

namespace qpattr::cm {

// rdma_create_qp_ex(). The caller's attributes get what was chosen for them: the
// protection domain, completion queues, SRQ, and the sizes that the device gave.
[[nodiscard]] result<void> create_qp(identifier &id, ibv_qp_init_attr_ex &init) noexcept;

// rdma_create_qp(), with the older attributes.
[[nodiscard]] result<void> create_qp(identifier &id, ibv_pd *pd, ibv_qp_init_attr &init) noexcept;

// What a QP or SRQ gets whose creator names no protection domain: the id's, but the
// device's default one where the id's came with a QP that was destroyed: the program may
// have freed it since. The id shows that one still, as stock's does.
[[nodiscard]] ibv_pd *usual_pd(const identifier &id) noexcept;

// Completion queues of the id's own, where the caller gave none: of `entries`, with
// a channel. Nothing is made for 0 entries.
[[nodiscard]] result<void> create_receive_cq(identifier &id, std::uint32_t entries) noexcept;
[[nodiscard]] result<void> create_send_cq(identifier &id, std::uint32_t entries) noexcept;
void destroy_cqs(identifier &id) noexcept;

// Which queues an id had before something was made that wants some; if it is not made
// after all, those that were made for it go again, and these stay.
class queues_before {
public:
	explicit queues_before(const identifier &id) noexcept
		: receive_{id.recv_cq != nullptr}, send_{id.send_cq != nullptr}
	{
	}
	void restore(identifier &id) const noexcept;

private:
	bool receive_, send_;
};

} // namespace qpattr::cm
