/* SPDX-License-Identifier: MIT
 * The values of our headers that no prototype reaches, such as those of an int, in a type
 * that one does reach: of others abidiff sees nothing. Compiled with stock's headers and
 * with ours. `baseline` tells which value is forgotten here. */
#include <rdma/rdma_verbs.h>
#ifdef QPATTR_RDMA_CMA_H
#include <qpattr/cm.h>
#endif

#define VALUE(name) is_##name = name

enum public_values {
	VALUE(RDMA_MAX_RESP_RES),
	VALUE(RDMA_MAX_INIT_DEPTH),
	VALUE(RDMA_OPTION_ID),
	VALUE(RDMA_OPTION_IB),
	VALUE(RDMA_OPTION_ID_TOS),
	VALUE(RDMA_OPTION_ID_REUSEADDR),
	VALUE(RDMA_OPTION_ID_AFONLY),
	VALUE(RDMA_OPTION_ID_ACK_TIMEOUT),
	VALUE(RDMA_OPTION_IB_PATH),
	VALUE(RDMA_UDP_QKEY),
	VALUE(RAI_PASSIVE),
	VALUE(RAI_NUMERICHOST),
	VALUE(RAI_NOROUTE),
	VALUE(RAI_FAMILY),
#ifdef RAI_SA /* stock: since 65.0 */
	VALUE(RAI_SA),
	VALUE(RAI_DNS),
#endif
#ifdef QPATTR_CM_H
	VALUE(QPATTR_ID_NO_PATH),
#endif
};

/* Wider than an int, which ISO C does not let an enumerator be. */
__extension__ enum public_wide_values {
	VALUE(RDMA_IB_IP_PS_MASK),
	VALUE(RDMA_IB_IP_PORT_MASK),
	VALUE(RDMA_IB_IP_PS_TCP),
	VALUE(RDMA_IB_IP_PS_UDP),
	VALUE(RDMA_IB_PS_IB),
};

void public_values(enum public_values, enum public_wide_values, enum rdma_cm_join_mc_attr_mask,
		   enum rdma_cm_mc_join_flags);
void public_values(enum public_values value, enum public_wide_values wide,
		   enum rdma_cm_join_mc_attr_mask mask, enum rdma_cm_mc_join_flags flags)
{
	(void)value, (void)wide, (void)mask, (void)flags;
}
