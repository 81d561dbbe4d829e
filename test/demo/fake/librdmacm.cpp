// SPDX-License-Identifier: MIT
// A librdmacm for the test of the witness: writes a command, as the real one
// does, to wherever the channel leads, and answers what it is told to.
#include <cerrno>
#include <cstdint>
#include <unistd.h>

#include <rdma/rdma_cma.h>

extern "C" int rdma_init_qp_attr(rdma_cm_id *id, ibv_qp_attr *attr, int *mask)
{
	const std::uint32_t command[6] = {11};
	if (::write(id->channel->fd, command, sizeof command) != sizeof command)
		return -1;
	if (attr->qp_state == IBV_QPS_ERR) {
		errno = EINVAL;
		return -1;
	}
	ibv_qp_attr reply{};
	reply.qp_state = attr->qp_state;
	reply.rate_limit = attr->rate_limit;
	reply.timeout = 14;
	reply.retry_cnt = 7;
	*attr = reply;
	*mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT;
	return 0;
}
