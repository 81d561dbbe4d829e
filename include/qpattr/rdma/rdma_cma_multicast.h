/* SPDX-License-Identifier: MIT */
/**
 * @file rdma_cma_multicast.h
 * Multicast groups of UD ids; included by <rdma/rdma_cma.h>, which tells what all
 * functions have in common.
 */
#ifndef QPATTR_RDMA_CMA_MULTICAST_H
#define QPATTR_RDMA_CMA_MULTICAST_H

#ifndef RDMA_CMA_H
#error "include <rdma/rdma_cma.h>, not its parts"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Joins a group to send to it and to receive from it.
 *
 * Kernel: JOIN_MCAST, then the MULTICAST_JOIN or MULTICAST_ERROR event. Reading
 * the event attaches id->qp to the group; a program with a QP of its own calls
 * ibv_attach_mcast(3).
 *
 * @param id       a UD id with a device
 * @param addr     the group; copied
 * @param context  the caller's; the events have it as param.ud.private_data. May
 *                 be NULL.
 *
 * Ownership: the membership is the id's until rdma_leave_multicast() or
 * rdma_destroy_id().
 *
 * errno:
 *   - EINVAL: the id has no device, or is not for datagrams; addr is of no known
 *     family
 *   - ENOTSUP (524 as the kernel spells it): an IPv6 group on RoCE v2
 */
QPATTR_RDMA_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
					   void *context);

/**
 * Joins a group in a chosen way; otherwise as rdma_join_multicast().
 *
 * Kernel: JOIN_MCAST.
 *
 * @param id            a UD id with a device
 * @param mc_join_attr  the group and the way; copied. A send-only member's QP is
 *                      not attached, and on RoCE nobody is told of the
 *                      membership. InfiniBand's subnet manager may refuse it.
 * @param context       as for rdma_join_multicast()
 *
 * errno:
 *   - EINVAL: comp_mask lacks a bit, or a join flag without meaning
 *   - EOPNOTSUPP: comp_mask has a bit that this header does not know
 *   - EOPNOTSUPP: the subnet manager knows no send-only members
 */
QPATTR_RDMA_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id,
					      struct rdma_cm_join_mc_attr_ex *mc_join_attr,
					      void *context);

/**
 * Leaves a group, also one whose join is not done yet.
 *
 * Kernel: LEAVE_MCAST; id->qp is detached from the group. Waits until the join's
 * events that were taken are acknowledged. What was received before may still complete afterwards.
 *
 * @param id    the id
 * @param addr  the group, as it was given to the join; of several joins the last
 *
 * errno:
 *   - EADDRNOTAVAIL: the id did not join that group
 *   - EINVAL: addr is of no known family
 */
QPATTR_RDMA_EXPORT int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr);

#ifdef __cplusplus
}
#endif

#endif
