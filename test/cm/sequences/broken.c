/* SPDX-License-Identifier: MIT */
/* Ours with a fault put in (-Wl,--wrap): what rdma_reject() is given does not reach the
 * peer. `finds` shows that it is found, and made short. */
#include <rdma/rdma_cma.h>

int __real_rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
int __wrap_rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);

int __wrap_rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return __real_rdma_reject(id, private_data, private_data_len ? private_data_len - 1 : 0);
}
