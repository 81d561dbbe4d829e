// SPDX-License-Identifier: MIT
// What the programs of this directory test: the rdma_init_qp_attr that a program
// reaches by calling it. They run under LD_PRELOAD with the preload object.
//
// Every call is counted here, and from outside of the process by probes on the
// entry of both functions. The guest script holds one against the other: a call
// that the preload object passed on to stock shows there and nowhere else.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "tools/conformance/endpoint.hpp"
#include "tools/conformance/question.hpp"
#include "test/support/check.hpp"

namespace subject {

using conformance::outcome;
using conformance::question;

// Calls the function as any program does, and stock's own past the preload.
[[nodiscard]] outcome ask(const question &what) noexcept;
[[nodiscard]] outcome ask_stock(const question &what) noexcept;
[[nodiscard]] question about(rdma_cm_id *id, int state = IBV_QPS_INIT) noexcept;

// Calls made in another way: of ours by librdmacm itself, of stock's by ours,
// which passed them on.
void count_ours(unsigned calls) noexcept;
void count_stock(unsigned calls) noexcept;

// Fails the case if the two answer the question differently.
void agree(check::test &t, rdma_cm_id *id, int state = IBV_QPS_INIT);
// The same for each state and pattern.
void agree_in_all(check::test &t, rdma_cm_id *id);
// Fails the case unless the answer is the known one, as stock's would be.
void answered(check::test &t, const outcome &of, const question &what,
	      int mask = conformance::mask_init);
void refused(check::test &t, const outcome &of, const question &what, int code);

// The device's address, from QPATTR_VM_IPV4.
[[nodiscard]] conformance::address device_address();
// An id with the device, on a channel of its own, outliving neither.
struct bound {
	conformance::channel_ptr channel = conformance::make_channel();
	conformance::id_ptr id =
		conformance::make_bound_id(channel, RDMA_PS_TCP, device_address());
};

[[nodiscard]] std::size_t open_descriptors();

// Runs `body` in a fork child, which fails the case by throwing or by failing a
// case of its own. A child that hangs is killed.
void in_child(check::test &t, const std::function<void(check::test &)> &body);

// A program's cases, of which argv[1] chooses. run_mode is the whole of main: it
// ends with what was counted, for the guest script.
struct mode {
	const char *name;
	void (*run)();
};
[[nodiscard]] int run_mode(int argc, char **argv, std::span<const mode> modes);

} // namespace subject
