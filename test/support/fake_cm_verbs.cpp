// SPDX-License-Identifier: MIT
#include "test/support/fake_cm_verbs.hpp"

#include <cerrno>
#include <utility>

// The header puts functions of its own under these names.
#undef ibv_get_device_list
#undef ibv_query_port

using qpattr::test::fake_cm_verbs;

namespace {

ibv_device the_device;
ibv_context the_context;
ibv_pd the_pd;
ibv_cq the_cq;
ibv_comp_channel the_channel;
ibv_device *the_list[] = {&the_device, nullptr};

} // namespace

namespace qpattr::test {

fake_cm_verbs &fake_cm_verbs::get()
{
	static fake_cm_verbs one;
	return one;
}

void fake_cm_verbs::reset()
{
	*this = {};
}

ibv_qp *fake_cm_verbs::make_qp(std::uint32_t number, ibv_srq *srq)
{
	qp.context = &the_context;
	qp.qp_num = number;
	qp.srq = srq;
	return &qp;
}

} // namespace qpattr::test

extern "C" {

ibv_device **ibv_get_device_list(int *count)
{
	auto &verbs = fake_cm_verbs::get();
	++verbs.lists;
	if (verbs.list_errno) {
		errno = verbs.list_errno;
		return nullptr;
	}
	*count = 1;
	return the_list;
}

void ibv_free_device_list(ibv_device **) {}

__be64 ibv_get_device_guid(ibv_device *)
{
	return fake_cm_verbs::guid;
}

int ibv_get_device_index(ibv_device *)
{
	return fake_cm_verbs::index;
}

ibv_context *ibv_open_device(ibv_device *device)
{
	the_context.device = device;
	return &the_context;
}

int ibv_close_device(ibv_context *)
{
	return 0;
}

int ibv_query_device(ibv_context *, ibv_device_attr *limits)
{
	limits->max_qp_rd_atom = fake_cm_verbs::max_responder_resources;
	limits->max_qp_init_rd_atom = fake_cm_verbs::max_initiator_depth;
	return 0;
}

int ibv_query_port(ibv_context *, uint8_t, _compat_ibv_port_attr *attributes)
{
	reinterpret_cast<ibv_port_attr *>(attributes)->link_layer = IBV_LINK_LAYER_ETHERNET;
	return 0;
}

ibv_pd *ibv_alloc_pd(ibv_context *context)
{
	the_pd.context = context;
	return &the_pd;
}

int ibv_dealloc_pd(ibv_pd *)
{
	return 0;
}

ibv_comp_channel *ibv_create_comp_channel(ibv_context *)
{
	return &the_channel;
}

int ibv_destroy_comp_channel(ibv_comp_channel *)
{
	return 0;
}

ibv_cq *ibv_create_cq(ibv_context *, int, void *, ibv_comp_channel *, int)
{
	return &the_cq;
}

int ibv_destroy_cq(ibv_cq *cq)
{
	fake_cm_verbs::get().destroyed.push_back(cq);
	return 0;
}

ibv_qp *ibv_create_qp(ibv_pd *pd, ibv_qp_init_attr *)
{
	auto &verbs = fake_cm_verbs::get();
	if (verbs.no_qp)
		return nullptr;
	verbs.qp.pd = pd;
	return verbs.make_qp(77);
}

int ibv_destroy_qp(ibv_qp *)
{
	return 0;
}

int ibv_modify_qp(ibv_qp *, ibv_qp_attr *attr, int mask)
{
	auto &verbs = fake_cm_verbs::get();
	verbs.moves.push_back({*attr, mask});
	return verbs.modify_errno;
}

int ibv_query_ece(ibv_qp *, ibv_ece *ece)
{
	*ece = fake_cm_verbs::get().offered;
	return 0;
}

int ibv_set_ece(ibv_qp *, ibv_ece *ece)
{
	fake_cm_verbs::get().set.push_back(*ece);
	return 0;
}

ibv_srq *ibv_create_srq(ibv_pd *, ibv_srq_init_attr *)
{
	return nullptr;
}

int ibv_destroy_srq(ibv_srq *)
{
	return 0;
}

int ibv_attach_mcast(ibv_qp *, const ibv_gid *, uint16_t)
{
	return 0;
}

int ibv_detach_mcast(ibv_qp *, const ibv_gid *, uint16_t)
{
	auto &verbs = fake_cm_verbs::get();
	verbs.detached.push_back(verbs.detach_errno);
	return std::exchange(verbs.detach_errno, 0);
}

}
