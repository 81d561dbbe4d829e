// SPDX-License-Identifier: MIT
// A plugin linked with librdmacm, for plugin_host.cpp.
#include <cstring>

#include <rdma/rdma_cma.h>

// The return value of rdma_init_qp_attr and the mask, for a new id that is bound
// to the address; -2 where librdmacm fails.
extern "C" int plugin_ask(sockaddr *where, int *mask)
{
	rdma_event_channel *channel = ::rdma_create_event_channel();
	rdma_cm_id *id = nullptr;
	int returned = -2;
	if (channel && ::rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP) == 0 &&
	    ::rdma_bind_addr(id, where) == 0) {
		ibv_qp_attr attr;
		std::memset(&attr, 0xa5, sizeof attr);
		attr.qp_state = IBV_QPS_INIT;
		returned = ::rdma_init_qp_attr(id, &attr, mask);
		if (attr.qp_access_flags != 0 || attr.port_num != 1)
			*mask = 0;
	}
	if (id)
		::rdma_destroy_id(id);
	if (channel)
		::rdma_destroy_event_channel(channel);
	return returned;
}
