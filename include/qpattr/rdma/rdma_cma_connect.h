/* SPDX-License-Identifier: MIT */
/**
 * @file rdma_cma_connect.h
 * Queue pairs, and connections from request to end; included by
 * <rdma/rdma_cma.h>, which tells what all functions have in common.
 */
#ifndef QPATTR_RDMA_CMA_CONNECT_H
#define QPATTR_RDMA_CMA_CONNECT_H

#ifndef RDMA_CMA_H
#error "include <rdma/rdma_cma.h>, not its parts"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes an id's QP and moves it to INIT (RC) or RTS (UD). From then on the
 * library moves it along with the connection.
 *
 * Kernel: INIT_QP_ATTR; the QP is made by libibverbs.
 *
 * @param id            with a device and without a QP
 * @param pd            its protection domain, of the same device; NULL takes the
 *                      device's default one
 * @param qp_init_attr  [in, out] as for ibv_create_qp(3); the capacities that the
 *                      QP got come back in it. A NULL send_cq or recv_cq has the
 *                      library make one, with a completion channel, as long as
 *                      max_send_wr or max_recv_wr.
 *
 * On success id->qp, pd, send_cq, recv_cq and their channels are set.
 *
 * Ownership: the id's, to be destroyed by rdma_destroy_qp().
 *
 * errno:
 *   - EINVAL: the id has no device, has a QP, or pd is another device's; or the
 *     connection is past the state in which the kernel tells INIT's attributes
 *   - those of ibv_create_qp(3), ibv_create_cq(3) and ibv_modify_qp(3)
 */
QPATTR_RDMA_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
				      struct ibv_qp_init_attr *qp_init_attr);

/**
 * Makes an id's QP with extended attributes; otherwise as rdma_create_qp().
 *
 * @param id            with a device and without a QP
 * @param qp_init_attr  [in, out] as for ibv_create_qp_ex(3). Without
 *                      IBV_QP_INIT_ATTR_PD in comp_mask the default protection
 *                      domain is taken.
 *
 * errno: those of rdma_create_qp() and of ibv_create_qp_ex(3)
 */
QPATTR_RDMA_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id,
					 struct ibv_qp_init_attr_ex *qp_init_attr);

/**
 * Destroys an id's QP, and the CQs and channels that were made with it.
 *
 * @param id  without a QP nothing happens. All completion events must be
 *            acknowledged.
 */
QPATTR_RDMA_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id);

/**
 * Asks which attributes a QP of the program's own needs for a state.
 *
 * Kernel: INIT_QP_ATTR.
 *
 * @param id            the id
 * @param qp_attr       [in, out] qp_state tells the state. On success every other
 *                      field but rate_limit is written, in the mask or not.
 * @param qp_attr_mask  [out] bits for ibv_modify_qp(3), as the kernel gave them
 *
 * qpattr_query() of <qpattr/qpattr.h> is the same by descriptor and handle, and
 * tells more.
 *
 * errno:
 *   - EINVAL: the id has no device, or its connection is not in a state that can
 *     answer
 *   - ENODATA: the channel's descriptor is not the device
 *
 * Signals: async-signal-safe.
 */
QPATTR_RDMA_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr,
					 int *qp_attr_mask);

/**
 * Asks the peer for a connection (RC), or for the QP of its service (UD).
 *
 * Kernel: CONNECT, then ESTABLISHED, UNREACHABLE, REJECTED or CONNECT_ERROR. With
 * a QP of the program's own CONNECT_RESPONSE comes instead of ESTABLISHED.
 *
 * @param id          with a resolved route
 * @param conn_param  copied; may be NULL: no private data, as many RDMA reads as
 *                    possible, 7 retries of each kind. With an RC QP of the
 *                    program's own it must be given, for its number (without is
 *                    EINVAL in the port space of TCP). Private data
 *                    of at most 56 bytes (UD 180; AF_IB 92 and 216).
 *
 * No answer takes the kernel 70 to 100 s to notice. iWARP: this side must send
 * the first message.
 *
 * errno:
 *   - EINVAL: no resolved route, a connection was begun before, too much private
 *     data; in the port space of TCP more responder_resources or initiator_depth
 *     than the device has
 *   - ECONNREFUSED (synchronous): rejected, or nobody listens
 *   - ETIMEDOUT (synchronous): no answer
 */
QPATTR_RDMA_EXPORT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);

/**
 * Completes a connection that was asked for with a QP of the program's own: after
 * CONNECT_RESPONSE, when that QP is in RTS. The peer then gets ESTABLISHED, this
 * side no event.
 *
 * Kernel: ACCEPT.
 *
 * @param id  without a QP of the library's
 *
 * errno:
 *   - EINVAL: id->qp is set, there was no CONNECT_RESPONSE, or it was done already:
 *     refused here, as the kernel would end the connection. Also on iWARP.
 */
QPATTR_RDMA_EXPORT int rdma_establish(struct rdma_cm_id *id);

/**
 * Has requests to an id's address and port reported.
 *
 * Kernel: LISTEN; a CONNECT_REQUEST event for each.
 *
 * @param id       bound; a fresh one is bound to the IPv4 wildcard and a free port
 * @param backlog  how many requests may wait unread; 0, negative or more than the
 *                 sysctl net.rdma_ucm.max_backlog means that. What is more is
 *                 dropped, and sent again by the peer seconds later. A sysctl of 0
 *                 lets nothing through.
 *
 * errno:
 *   - EINVAL: listening already, connecting or connected
 *   - EADDRINUSE: another id listens there
 */
QPATTR_RDMA_EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog);

/**
 * Waits for the next request to a synchronous listener. A listener made by
 * rdma_create_ep() with QP attributes gives the new id a QP.
 *
 * Kernel: GET_EVENT, QUERY_ROUTE, MIGRATE_ID, and what rdma_create_qp() sends.
 *
 * @param listen  synchronous, and listening
 * @param id      [out] the new id, synchronous too. Its 'event' is the request
 *                until the next call on it.
 *
 * Ownership: the caller's; accept or reject it, then destroy it.
 *
 * errno:
 *   - EINVAL: listen is asynchronous, or does not listen
 *   - EINTR: a signal handler ran
 *   - those of rdma_create_event_channel() and rdma_create_qp(): the request is lost,
 *     the peer is refused
 */
QPATTR_RDMA_EXPORT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);

/**
 * Accepts a request. The library's QP is moved to RTS first.
 *
 * Kernel: INIT_QP_ATTR, ACCEPT; on this side the ESTABLISHED event follows (RC).
 *
 * @param id          that a CONNECT_REQUEST brought
 * @param conn_param  copied; may be NULL: what the request asks for, as far as
 *                    the device goes, and no private data. With a QP of the
 *                    program's own it must be given, for its number. At most 196
 *                    bytes of private data (UD 136).
 *
 * May point into the request's event, if that is not acknowledged yet.
 *
 * errno:
 *   - EINVAL: not a request, answered already, too much private data; in the port
 *     space of TCP more responder_resources or initiator_depth than the device has:
 *     refused here, as the kernel would end the connection. What was wrong with the
 *     parameters may be put right and tried again.
 *   - EINVAL: the peer gave up meanwhile; destroy the id
 *   - those of ibv_modify_qp(3), of the id's QP: it stays in the state that it got to,
 *     and with another one the request may still be accepted
 */
QPATTR_RDMA_EXPORT int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);

/**
 * Refuses a request, or, asking, the peer's answer. The other side gets REJECTED
 * with reason 28.
 *
 * Kernel: REJECT.
 *
 * @param id                with a request, or (active, own QP) CONNECT_RESPONSE;
 *                          only good to be destroyed afterwards
 * @param private_data      for the peer; copied; NULL: none, whatever the length
 * @param private_data_len  0 to 148 bytes (UD 136)
 *
 * errno:
 *   - EINVAL: nothing to refuse, established, or too much private data (the
 *     request then still waits for an answer)
 *   - EINVAL: accepted, or connecting: refused here, as rdma_destroy_id() would then
 *     wait for a minute and more. Destroy the id instead.
 */
QPATTR_RDMA_EXPORT int rdma_reject(struct rdma_cm_id *id, const void *private_data,
				   uint8_t private_data_len);

/**
 * Refuses because of the ECE options: reason 35; otherwise as rdma_reject().
 *
 * @param id                as for rdma_reject()
 * @param private_data      as for rdma_reject()
 * @param private_data_len  as for rdma_reject()
 */
QPATTR_RDMA_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
				       uint8_t private_data_len);

/**
 * Tells the connection manager of a QP's asynchronous event: that the first data
 * came before the peer's last message of the handshake.
 *
 * Kernel: NOTIFY; the ESTABLISHED event follows.
 *
 * @param id     accepted and not yet established
 * @param event  IBV_EVENT_COMM_EST. IBV_EVENT_PATH_MIG is refused on an id
 *               without an alternate path: it would ruin the connection, and on
 *               kernel 5.10 the kernel.
 *
 * errno:
 *   - EISCONN: established already; all is well
 *   - EINVAL: another event, or not accepted
 */
QPATTR_RDMA_EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);

/**
 * Ends a connection, or answers the peer's end. The library's QP goes to the
 * error state, so posted work completes as flushed.
 *
 * Kernel: DISCONNECT. The peer gets DISCONNECTED at once, this side when the peer
 * disconnects, too, or destroys its id, or after 75 to 100 s without an answer;
 * both get TIMEWAIT_EXIT later. A synchronous id waits for DISCONNECTED.
 *
 * @param id  connected; datagram ids have nothing to end
 *
 * errno:
 *   - EINVAL: never asked for a connection
 *   - EINVAL (synchronous): listening, connecting, or it came to nothing: there is no
 *     DISCONNECTED to wait for
 */
QPATTR_RDMA_EXPORT int rdma_disconnect(struct rdma_cm_id *id);

/**
 * Makes an id from an answer of rdma_getaddrinfo(), and resolves address and
 * route (active), or binds it (RAI_PASSIVE).
 *
 * Kernel: CREATE_ID, RESOLVE_ADDR, RESOLVE_ROUTE or BIND, INIT_QP_ATTR.
 *
 * @param id            [out] a synchronous id, ready for rdma_connect() or
 *                      rdma_listen(); rdma_migrate_id() makes it asynchronous
 * @param res           the answer; its first entry is used. ai_route, if given, is
 *                      the route; ai_connect goes before the private data of
 *                      rdma_connect().
 * @param pd            may be NULL: the device's default one
 * @param qp_init_attr  may be NULL: no QP. [in, out] as for rdma_create_qp(). Of
 *                      a passive id it is kept for the QPs that
 *                      rdma_get_request() makes.
 *
 * Ownership: the caller's, to be given to rdma_destroy_ep().
 *
 * errno: those of the functions that it stands for; nothing is left behind
 *   - EINVAL: the address that it needs (active: ai_dst_addr, passive: ai_src_addr)
 *     is missing
 *   - EFAULT: ai_route_len without ai_route
 */
QPATTR_RDMA_EXPORT int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res,
				      struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);

/**
 * Destroys an id with its QP and SRQ; otherwise as rdma_destroy_id().
 *
 * @param id  of rdma_create_ep(), or any other
 */
QPATTR_RDMA_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id);

/**
 * Sets the ECE options that the next message of the handshake carries, for a QP
 * of the program's own (of the library's, they are the QP's).
 *
 * Kernel: none; CONNECT or ACCEPT take them along.
 *
 * @param id   without a QP of the library's
 * @param ece  of ibv_query_ece(3); copied. 24 bits of vendor_id and 32 of options
 *             travel. comp_mask must be 0.
 *
 * errno:
 *   - EINVAL: id->qp is set, vendor_id is 0, or comp_mask is not
 */
QPATTR_RDMA_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/**
 * The ECE options in the peer's request or response, for ibv_set_ece(3).
 *
 * Kernel: none; the event brought them.
 *
 * @param id   without a QP of the library's
 * @param ece  [out] all fields are written; zero if the peer sent none
 *
 * errno:
 *   - EINVAL: id->qp is set
 */
QPATTR_RDMA_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

#ifdef __cplusplus
}
#endif

#endif
