// SPDX-License-Identifier: MIT
// An rdma_init_qp_attr with one thing wrong, named by QPATTR_BREAK: what the
// whole conformance run must notice, on the real kernel. It asks stock and spoils
// the answer.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include <rdma/rdma_cma.h>

namespace {

int ask_stock(rdma_cm_id *id, ibv_qp_attr *attr, int *mask)
{
	static void *const library = ::dlopen("librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY);
	static const auto stock = reinterpret_cast<int (*)(rdma_cm_id *, ibv_qp_attr *, int *)>(
		::dlsym(library, "rdma_init_qp_attr"));
	return stock(id, attr, mask);
}

bool broken(const char *what)
{
	static const char *const chosen = std::getenv("QPATTR_BREAK");
	return chosen && std::strcmp(chosen, what) == 0;
}

} // namespace

extern "C" int rdma_init_qp_attr(rdma_cm_id *id, ibv_qp_attr *attr, int *mask)
{
	if (broken("refusal") && id->verbs) {
		errno = EINVAL;
		return -1;
	}
	const int before = errno;
	const int returned = ask_stock(id, attr, mask);
	if (returned == 0) {
		// One bit of a field outside the mask, for one state.
		if (broken("field") && *mask == 0x12E01)
			attr->alt_timeout ^= 1;
		if (broken("mask"))
			*mask |= IBV_QP_CAP;
		if (broken("mask-dropped"))
			*mask &= ~IBV_QP_MIN_RNR_TIMER;
		if (broken("overrun"))
			reinterpret_cast<char *>(attr)[sizeof *attr] = 0;
		if (broken("errno-of-success"))
			errno = before + 1;
	} else {
		if (broken("errno") || (broken("errno-of-gone") && errno == ENOENT))
			errno = EIO;
		if (broken("output-of-failure"))
			*mask = 0;
	}
	return returned;
}
