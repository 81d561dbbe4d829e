// SPDX-License-Identifier: MIT
// The functions of libibverbs that lib/cm calls, with one device behind them:
// tests link this instead of libibverbs.
#pragma once

#include <cstdint>
#include <vector>

#include <infiniband/verbs.h>

namespace qpattr::test {

class fake_cm_verbs {
public:
	// As the kernel tells it of an id, in network byte order as there.
	static constexpr std::uint64_t guid = 0x0102030405060708;
	static constexpr std::uint32_t index = 3;
	// The library keeps what it opened: the same in every test.
	static constexpr int max_responder_resources = 20;
	static constexpr int max_initiator_depth = 10;

	static fake_cm_verbs &get();
	void reset();

	ibv_qp qp{}; // what ibv_create_qp() gives
	ibv_qp *make_qp(std::uint32_t number, ibv_srq *srq = nullptr);

	struct move {
		ibv_qp_attr attr;
		int mask;
	};
	std::vector<move> moves; // of ibv_modify_qp()
	int modify_errno = 0;
	int lists = 0;		 // ibv_get_device_list() was called
	int list_errno = 0;	 // which answers it
	std::vector<int> detached; // what ibv_detach_mcast() answered
	int detach_errno = 0;	   // which it answers once
	bool no_qp = false;	 // ibv_create_qp() fails
	std::vector<ibv_cq *> destroyed; // by ibv_destroy_cq()
	ibv_ece offered{};	 // ibv_query_ece()
	std::vector<ibv_ece> set; // ibv_set_ece()
};

} // namespace qpattr::test
