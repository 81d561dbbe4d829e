// SPDX-License-Identifier: MIT
// lib/cm/qp.cpp and srq.cpp: whose protection domain a QP gets, and that a call which
// fails leaves the caller's attributes alone.
#include "test/support/fake_cm_rig.hpp"

#include <rdma/rdma_verbs.h>

using namespace qpattr;
using namespace qpattr::test;

namespace {

template <class Attr> Attr wanted()
{
	Attr attr{};
	attr.qp_type = IBV_QPT_RC;
	attr.cap = {4, 4, 1, 1, 0};
	return attr;
}

template <class T> bool same(const T &one, const T &other)
{
	return std::memcmp(&one, &other, sizeof one) == 0;
}

rdma_cm_id *on_a_device(rig &on)
{
	auto *id = on.addr_resolved();
	on.kernel.attributes[handle_of(id)] = {};
	return id;
}

// With a QP that is in a group.
rdma_cm_id *joined(rig &on)
{
	auto *id = on.addr_resolved(RDMA_PS_UDP);
	on.kernel.attributes[handle_of(id)] = {};
	auto attr = wanted<ibv_qp_init_attr>();
	attr.qp_type = IBV_QPT_UD;
	REQUIRE(rdma_create_qp(id, nullptr, &attr) == 0);
	REQUIRE(rdma_join_multicast(id, rig::address(), nullptr) == 0);
	const auto group = handle_of(id) + 1;
	on.kernel.raise(group, on.kernel.event_of(group, RDMA_CM_EVENT_MULTICAST_JOIN));
	auto *read = on.event();
	REQUIRE(read->event == RDMA_CM_EVENT_MULTICAST_JOIN);
	CHECK(rdma_ack_cm_event(read) == 0);
	return id;
}

} // namespace

TEST_CASE("qp: no protection domain is the device's, after one of the program's too")
{
	rig on;
	auto *id = on_a_device(on);
	ibv_pd *const usual = id->pd;
	REQUIRE(usual != nullptr);
	auto attr = wanted<ibv_qp_init_attr>();
	REQUIRE(rdma_create_qp(id, nullptr, &attr) == 0);
	CHECK(id->qp->pd == usual);
	rdma_destroy_qp(id);

	ibv_pd given{};
	given.context = id->verbs;
	attr = wanted<ibv_qp_init_attr>();
	REQUIRE(rdma_create_qp(id, &given, &attr) == 0);
	CHECK(id->qp->pd == &given);
	CHECK(id->pd == &given);
	rdma_destroy_qp(id);
	CHECK(id->pd == &given); // as with stock
	std::memset(&given, 0xff, sizeof given); // the program has freed it

	attr = wanted<ibv_qp_init_attr>();
	REQUIRE(rdma_create_qp(id, nullptr, &attr) == 0);
	CHECK(id->qp->pd == usual);
	CHECK(id->pd == usual);
	rdma_destroy_qp(id);

	auto wide = wanted<ibv_qp_init_attr_ex>();
	REQUIRE(rdma_create_qp_ex(id, &wide) == 0);
	CHECK(id->qp->pd == usual);
	CHECK(wide.pd == usual);
	CHECK(wide.send_cq == id->send_cq);
	CHECK(wide.recv_cq == id->recv_cq);
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("qp: one that is not made leaves nothing in the caller's attributes")
{
	rig on;
	auto *id = on_a_device(on);
	on.verbs.no_qp = true;
	auto wide = wanted<ibv_qp_init_attr_ex>();
	const auto wide_before = wide;
	CHECK(rdma_create_qp_ex(id, &wide) == -1);
	CHECK(errno == EINVAL);
	CHECK_FALSE(on.verbs.destroyed.empty()); // its queues are gone
	CHECK(same(wide, wide_before));
	auto attr = wanted<ibv_qp_init_attr>();
	const auto before = attr;
	CHECK(rdma_create_qp(id, nullptr, &attr) == -1);
	CHECK(same(attr, before));

	ibv_srq_init_attr_ex shared{};
	shared.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	shared.attr.max_wr = shared.attr.max_sge = 1;
	const auto shared_before = shared;
	CHECK(rdma_create_srq_ex(id, &shared) == -1);
	CHECK(same(shared, shared_before));

	// The same attributes serve when it can be made.
	on.verbs.no_qp = false;
	CHECK(rdma_create_qp_ex(id, &wide) == 0);
	CHECK(wide.send_cq == id->send_cq);
	CHECK((wide.comp_mask & IBV_QP_INIT_ATTR_PD) != 0);
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

// What stock's are: the type of the id decides, not that of the QP.
TEST_CASE("qp: an endpoint that receives by XRC has a domain, an id of another type none")
{
	rig on;
	auto *id = on_a_device(on); // which has no XRC
	auto attr = wanted<ibv_qp_init_attr>();
	attr.qp_type = IBV_QPT_XRC_RECV;
	on.verbs.no_qp = true;
	errno = 0;
	CHECK(rdma_create_qp(id, nullptr, &attr) == -1);
	CHECK(errno == EINVAL); // the device's answer to one without a domain

	on.verbs.no_qp = false;
	id->qp_type = IBV_QPT_XRC_RECV;
	for (const auto type : {IBV_QPT_XRC_RECV, IBV_QPT_RC}) {
		attr.qp_type = type;
		errno = 0;
		CHECK(rdma_create_qp(id, nullptr, &attr) == -1);
		CHECK(errno == EOPNOTSUPP);
		CHECK(id->qp == nullptr);
	}

	ibv_srq_init_attr_ex shared{};
	shared.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	shared.srq_type = IBV_SRQT_XRC;
	shared.attr.max_wr = shared.attr.max_sge = 1;
	errno = 0;
	CHECK(rdma_create_srq_ex(id, &shared) == -1);
	CHECK(errno == EOPNOTSUPP);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("qp: one that is not made leaves the queues that the id had")
{
	rig on;
	auto *id = on_a_device(on);
	ibv_cq *const own = ibv_create_cq(id->verbs, 4, nullptr, nullptr, 0);
	REQUIRE(own != nullptr);
	id->recv_cq = own;
	on.verbs.no_qp = true;
	auto attr = wanted<ibv_qp_init_attr>();
	CHECK(rdma_create_qp(id, nullptr, &attr) == -1);
	CHECK(id->recv_cq == own);
	CHECK(id->send_cq == nullptr);
	CHECK(on.verbs.destroyed.size() == 1); // the one that was made for it

	on.verbs.no_qp = false;
	REQUIRE(rdma_create_qp(id, nullptr, &attr) == 0);
	CHECK(id->recv_cq == own);
	CHECK(id->send_cq != nullptr);
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("qp: one that could not be detached from a group is asked again, or it could never be destroyed")
{
	rig on;
	auto *id = joined(on);
	on.verbs.detach_errno = EAGAIN;
	CHECK(rdma_leave_multicast(id, rig::address()) == 0);
	CHECK(on.verbs.detached == std::vector{EAGAIN, 0});
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("qp: nor can one that is destroyed without that its group was left")
{
	rig on;
	auto *id = joined(on);
	on.verbs.detach_errno = EAGAIN;
	rdma_destroy_qp(id);
	CHECK(on.verbs.detached == std::vector{EAGAIN, 0});
	CHECK(id->qp == nullptr);
	CHECK(rdma_destroy_id(id) == 0);
}

TEST_CASE("qp: an endpoint that the kernel did not destroy is asked for again, as nobody else can")
{
	rig on;
	rdma_cm_id *id = nullptr;
	REQUIRE(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0);
	const auto handle = handle_of(id);
	on.kernel.refuse(uapi::destroy_id::number, EINTR);
	rdma_destroy_ep(id);
	CHECK_FALSE(cm::ids.holds(id));
	CHECK_FALSE(on.kernel.ids.contains(handle));
}
