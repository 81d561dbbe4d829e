/* SPDX-License-Identifier: MIT */
/**
 * @file rdma_verbs.h
 * Verbs by connection manager id, declared by qpattr: shared receive queues, and
 * short forms of registering memory, posting work and taking completions.
 *
 * Source- and binary-compatible with librdmacm's <rdma/rdma_verbs.h> from 33.2 to
 * 65.0; it shares that header's include guard. The functions with a body here are
 * compiled into the program: they need libibverbs, and nothing of qpattr.
 *
 * What <rdma/rdma_cma.h> says of all functions holds here, too: -1 (or NULL) with
 * errno, EINVAL for a NULL pointer. Where librdmacm's header stops the program by
 * an assertion these return EINVAL.
 *
 * Threads: as the verbs they stand for. None locks, allocates or logs. Signals:
 * no function is safe in a handler. Fork: ibv_fork_init(3).
 * Source: the manual pages rdma_reg_*(3), rdma_post_*(3), rdma_get_*_comp(3),
 * rdma_create_srq(3); test/abi/verbs_probe.c compares the two headers' answers.
 */
#ifndef RDMA_VERBS_H
#define RDMA_VERBS_H
#define QPATTR_RDMA_VERBS_H

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>

#include <rdma/rdma_cma.h>

/* Not there if it was stock's <rdma/rdma_cma.h>. */
#ifndef QPATTR_RDMA_EXPORT
#if defined(__GNUC__)
#define QPATTR_RDMA_EXPORT __attribute__((visibility("default")))
#else
#define QPATTR_RDMA_EXPORT
#endif
#endif

/* For programs that are compiled with warnings of casts in either language. */
#ifdef __cplusplus
#define QPATTR_RDMA_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#define QPATTR_RDMA_TO(type, value) static_cast<type>(value)
#else
#define QPATTR_RDMA_ADDRESS(pointer) ((uintptr_t)(pointer))
#define QPATTR_RDMA_TO(type, value) ((type)(value))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Turns the return value of a verb into that of an rdma_ function.
 *
 * @param ret  0, or an errno value
 * @return 0 with errno untouched, or -1 with errno set to ret
 */
static inline int rdma_seterrno(int ret)
{
	if (ret == 0)
		return 0;
	errno = ret;
	return -1;
}

/**
 * Makes an id's shared receive queue.
 *
 * Kernel: none of the connection manager's; made by libibverbs.
 *
 * @param id    with a device and without an SRQ
 * @param pd    may be NULL: the device's default one
 * @param attr  [in, out] as for ibv_create_srq(3); the capacities come back in it
 *
 * On success id->srq and pd are set. A QP made afterwards by rdma_create_qp()
 * uses the SRQ if qp_init_attr->srq names it.
 *
 * Ownership: the id's, to be destroyed by rdma_destroy_srq().
 *
 * errno:
 *   - EINVAL: the id has no device
 *   - those of ibv_create_srq(3)
 */
QPATTR_RDMA_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
				       struct ibv_srq_init_attr *attr);

/**
 * Makes an id's shared receive queue with extended attributes (XRC); otherwise as
 * rdma_create_srq().
 *
 * @param id    with a device and without an SRQ
 * @param attr  [in, out] as for ibv_create_srq_ex(3), with
 *              IBV_SRQ_INIT_ATTR_TYPE in comp_mask. Without
 *              IBV_SRQ_INIT_ATTR_PD there the default protection domain is
 *              taken; an XRC SRQ without an xrcd gets the device's default one, and
 *              without a cq one with a completion channel, in id->recv_cq and
 *              recv_cq_channel.
 *
 * errno:
 *   - EINVAL: the id has no device, or comp_mask no type
 *   - EOPNOTSUPP: an unknown bit of comp_mask, or XRC on a device without
 *   - those of ibv_create_srq_ex(3)
 */
QPATTR_RDMA_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);

/**
 * Destroys an id's SRQ, and the CQ and channel that were made with it.
 *
 * @param id  without an SRQ nothing happens. The QPs that use it must be gone.
 */
QPATTR_RDMA_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id);

/*
 * Helpers of the functions below. The access of a registration stays a constant in
 * the call of ibv_reg_mr(), whose macro looks at that.
 */

static inline int qpattr_rdma_refuse(void)
{
	errno = EINVAL;
	return -1;
}

static inline struct ibv_pd *qpattr_rdma_pd(struct rdma_cm_id *id)
{
	if (id && id->pd)
		return id->pd;
	errno = EINVAL;
	return NULL;
}

/* One buffer as a list of one entry; false if a list cannot hold it. */
static inline int qpattr_rdma_one(struct ibv_sge *sge, void *addr, size_t length,
				  const struct ibv_mr *mr)
{
	if (length > UINT32_MAX)
		return 0;
	sge->addr = QPATTR_RDMA_ADDRESS(addr);
	sge->length = QPATTR_RDMA_TO(uint32_t, length);
	sge->lkey = mr ? mr->lkey : 0;
	return 1;
}

/* What all send requests share; the caller adds where to. */
static inline struct ibv_send_wr qpattr_rdma_send_wr(void *context, struct ibv_sge *sgl, int nsge,
						     enum ibv_wr_opcode opcode, int flags)
{
	struct ibv_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = QPATTR_RDMA_ADDRESS(context);
	wr.sg_list = sgl;
	wr.num_sge = nsge;
	wr.opcode = opcode;
	wr.send_flags = QPATTR_RDMA_TO(unsigned int, flags);
	return wr;
}

static inline int qpattr_rdma_send(struct rdma_cm_id *id, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (!id || !id->qp)
		return qpattr_rdma_refuse();
	return rdma_seterrno(ibv_post_send(id->qp, wr, &bad));
}

/*
 * Polls, and sleeps only after it asked to be woken and polled once more: what
 * completed between the first poll and the asking would wake nobody.
 */
static inline int qpattr_rdma_get_comp(struct ibv_cq *cq, struct ibv_comp_channel *channel,
				       struct ibv_wc *wc)
{
	int armed = 0;

	if (!cq || !wc)
		return qpattr_rdma_refuse();
	for (;;) {
		struct ibv_cq *woken;
		void *context;
		int ret = ibv_poll_cq(cq, 1, wc);

		if (ret > 0)
			return ret;
		if (ret < 0)
			return rdma_seterrno(ret);
		if (!armed) {
			if (!channel)
				return qpattr_rdma_refuse();
			ret = ibv_req_notify_cq(cq, 0);
			if (ret)
				return rdma_seterrno(ret);
			armed = 1;
			continue;
		}
		ret = ibv_get_cq_event(channel, &woken, &context);
		if (ret)
			return ret;
		ibv_ack_cq_events(woken, 1);
		if (woken != cq)
			return qpattr_rdma_refuse();
		armed = 0;
	}
}

/**
 * Registers buffers to send from, receive into, read into and write from.
 *
 * @param id      with a protection domain
 * @param addr    the first byte
 * @param length  bytes
 *
 * Ownership: the caller's, to be given to rdma_dereg_mr() before the id ends.
 *
 * @return the region, or NULL
 *
 * errno:
 *   - EINVAL: the id has no protection domain (no device yet)
 *   - those of ibv_reg_mr(3)
 */
static inline struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *id, void *addr, size_t length)
{
	struct ibv_pd *pd = qpattr_rdma_pd(id);

	if (!pd)
		return NULL;
	return ibv_reg_mr(pd, addr, length, QPATTR_RDMA_TO(int, IBV_ACCESS_LOCAL_WRITE));
}

/** Registers a buffer that the peer may read; otherwise as rdma_reg_msgs(). */
static inline struct ibv_mr *rdma_reg_read(struct rdma_cm_id *id, void *addr, size_t length)
{
	struct ibv_pd *pd = qpattr_rdma_pd(id);

	if (!pd)
		return NULL;
	return ibv_reg_mr(pd, addr, length, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE);
}

/** Registers a buffer that the peer may write; otherwise as rdma_reg_msgs(). */
static inline struct ibv_mr *rdma_reg_write(struct rdma_cm_id *id, void *addr, size_t length)
{
	struct ibv_pd *pd = qpattr_rdma_pd(id);

	if (!pd)
		return NULL;
	return ibv_reg_mr(pd, addr, length, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
}

/**
 * Ends a registration.
 *
 * @param mr  the region; gone on success
 *
 * errno: those of ibv_dereg_mr(3)
 */
static inline int rdma_dereg_mr(struct ibv_mr *mr)
{
	return mr ? rdma_seterrno(ibv_dereg_mr(mr)) : qpattr_rdma_refuse();
}

/*
 * Posting. The functions that end in v take a list of buffers, the others one.
 * In all of them:
 *
 *   id           with a QP, connected for everything but receives
 *   context      becomes wr_id of the completion; may be NULL
 *   sgl, nsge    the list and its length; the list is copied, the buffers must
 *                stay registered until the completion
 *   addr, length one buffer, at most 2^32 - 1 bytes
 *   mr           its registration; may be NULL where the data go inline
 *   flags        enum ibv_send_flags bits
 *   remote_addr, rkey  the peer's memory and the key that the peer told
 *
 * errno:
 *   - EINVAL: no QP, a longer buffer, or a buffer to receive into outside of its
 *     registration (the last is not checked if NDEBUG is defined)
 *   - those of ibv_post_send(3), ibv_post_recv(3), ibv_post_srq_recv(3)
 */

/** Posts a receive, to the id's SRQ if it has one, else to its QP. */
static inline int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge)
{
	struct ibv_recv_wr wr, *bad;

	if (!id || (!id->srq && !id->qp))
		return qpattr_rdma_refuse();
	memset(&wr, 0, sizeof(wr));
	wr.wr_id = QPATTR_RDMA_ADDRESS(context);
	wr.sg_list = sgl;
	wr.num_sge = nsge;
	return rdma_seterrno(id->srq ? ibv_post_srq_recv(id->srq, &wr, &bad)
				     : ibv_post_recv(id->qp, &wr, &bad));
}

/** Posts a send. */
static inline int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge, int flags)
{
	struct ibv_send_wr wr = qpattr_rdma_send_wr(context, sgl, nsge, IBV_WR_SEND, flags);

	return qpattr_rdma_send(id, &wr);
}

/** Posts an RDMA read, into the buffers. */
static inline int rdma_post_readv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr wr = qpattr_rdma_send_wr(context, sgl, nsge, IBV_WR_RDMA_READ, flags);

	wr.wr.rdma.remote_addr = remote_addr;
	wr.wr.rdma.rkey = rkey;
	return qpattr_rdma_send(id, &wr);
}

/** Posts an RDMA write, from the buffers. */
static inline int rdma_post_writev(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				   int nsge, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr wr = qpattr_rdma_send_wr(context, sgl, nsge, IBV_WR_RDMA_WRITE, flags);

	wr.wr.rdma.remote_addr = remote_addr;
	wr.wr.rdma.rkey = rkey;
	return qpattr_rdma_send(id, &wr);
}

/** Posts a receive into one buffer, which must be registered. */
static inline int rdma_post_recv(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr)
{
	struct ibv_sge sge;

	if (!mr || !qpattr_rdma_one(&sge, addr, length, mr))
		return qpattr_rdma_refuse();
#ifndef NDEBUG
	/* Below the start wraps to a large offset. */
	if (QPATTR_RDMA_ADDRESS(addr) - QPATTR_RDMA_ADDRESS(mr->addr) > mr->length ||
	    length > mr->length - (QPATTR_RDMA_ADDRESS(addr) - QPATTR_RDMA_ADDRESS(mr->addr)))
		return qpattr_rdma_refuse();
#endif
	return rdma_post_recvv(id, context, &sge, 1);
}

/** Posts a send of one buffer. */
static inline int rdma_post_send(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr, int flags)
{
	struct ibv_sge sge;

	if (!qpattr_rdma_one(&sge, addr, length, mr))
		return qpattr_rdma_refuse();
	return rdma_post_sendv(id, context, &sge, 1, flags);
}

/** Posts an RDMA read into one buffer, which must be registered. */
static inline int rdma_post_read(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge;

	if (!mr || !qpattr_rdma_one(&sge, addr, length, mr))
		return qpattr_rdma_refuse();
	return rdma_post_readv(id, context, &sge, 1, flags, remote_addr, rkey);
}

/** Posts an RDMA write from one buffer. */
static inline int rdma_post_write(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				  struct ibv_mr *mr, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge;

	if (!qpattr_rdma_one(&sge, addr, length, mr))
		return qpattr_rdma_refuse();
	return rdma_post_writev(id, context, &sge, 1, flags, remote_addr, rkey);
}

/**
 * Posts a datagram of one buffer, with the Q_Key RDMA_UDP_QKEY.
 *
 * @param ah          the peer's address, of ibv_create_ah(3)
 * @param remote_qpn  the peer's QP number
 */
static inline int rdma_post_ud_send(struct rdma_cm_id *id, void *context, void *addr,
				    size_t length, struct ibv_mr *mr, int flags, struct ibv_ah *ah,
				    uint32_t remote_qpn)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	if (!ah || !qpattr_rdma_one(&sge, addr, length, mr))
		return qpattr_rdma_refuse();
	wr = qpattr_rdma_send_wr(context, &sge, 1, IBV_WR_SEND, flags);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = remote_qpn;
	wr.wr.ud.remote_qkey = RDMA_UDP_QKEY;
	return qpattr_rdma_send(id, &wr);
}

/**
 * Takes a completion of a send, read or write, waiting for one if there is none
 * (unless the completion channel's descriptor is non-blocking).
 *
 * @param id  with a send CQ that no other id or purpose shares
 * @param wc  [out] the completion; wr_id is the context of the request
 *
 * @return 1, or -1 with errno
 *
 * errno:
 *   - EINVAL: the id has no send CQ, or none to be waited for, or its channel
 *     told of another CQ
 *   - EAGAIN: nothing completed, and the descriptor is non-blocking
 *   - EINTR: a signal handler ran
 *   - those of ibv_req_notify_cq(3); if polling fails, the provider's own
 *     (negative) value, as librdmacm's header has it
 */
static inline int rdma_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	if (!id)
		return qpattr_rdma_refuse();
	return qpattr_rdma_get_comp(id->send_cq, id->send_cq_channel, wc);
}

/** Takes a completion of a receive; otherwise as rdma_get_send_comp(). */
static inline int rdma_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	if (!id)
		return qpattr_rdma_refuse();
	return qpattr_rdma_get_comp(id->recv_cq, id->recv_cq_channel, wc);
}

#ifdef __cplusplus
}
#endif

#undef QPATTR_RDMA_ADDRESS
#undef QPATTR_RDMA_TO

#endif
