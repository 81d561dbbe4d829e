// SPDX-License-Identifier: MIT
// A qpattr for the test of the witness, which does to its answer what the
// environment tells it to.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include <rdma/rdma_cma.h>

namespace {

bool told(const char *what)
{
	const char *const value = std::getenv("FAKE_QPATTR");
	return value && std::strcmp(value, what) == 0;
}

} // namespace

extern "C" int rdma_init_qp_attr(rdma_cm_id *id, ibv_qp_attr *attr, int *mask)
{
	if (told("asks stock")) {
		void *const stock = ::dlopen("librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY);
		using fn = int(rdma_cm_id *, ibv_qp_attr *, int *);
		return reinterpret_cast<fn *>(::dlsym(stock, "rdma_init_qp_attr"))(id, attr, mask);
	}
	if (attr->qp_state == IBV_QPS_ERR) {
		errno = told("other errno") ? ENOENT : EINVAL;
		attr->timeout = told("touches") ? 1 : attr->timeout;
		return -1;
	}
	ibv_qp_attr reply{};
	reply.qp_state = attr->qp_state;
	reply.rate_limit = told("writes rate_limit") ? attr->rate_limit + 1 : attr->rate_limit;
	reply.timeout = told("other timeout") ? 15 : 14;
	reply.retry_cnt = 7;
	*attr = reply;
	*mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT;
	*mask |= told("other mask") ? IBV_QP_SQ_PSN : 0;
	errno = told("sets errno") ? EAGAIN : errno;
	return told("other result") ? 1 : 0;
}
