/* SPDX-License-Identifier: MIT */
/**
 * @file rdma_cma_id.h
 * Event channels, events, ids, devices; included by <rdma/rdma_cma.h>, which
 * tells what all functions have in common.
 */
#ifndef QPATTR_RDMA_CMA_ID_H
#define QPATTR_RDMA_CMA_ID_H

#ifndef RDMA_CMA_H
#error "include <rdma/rdma_cma.h>, not its parts"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Opens a channel on which events of ids arrive.
 *
 * Kernel: none; opens the device.
 *
 * Ownership: the caller's, to be given to rdma_destroy_event_channel(). A
 * program that changes its credentials does so before this call.
 *
 * @return the channel, or NULL
 *
 * errno:
 *   - ENOENT, ENODEV: no rdma_cm device: the module rdma_ucm is not loaded, or
 *     the container was not given the node
 *   - EPROTONOSUPPORT: the kernel speaks another ABI version than 4
 *   - EACCES, EPERM: no permission on the node
 *   - EMFILE, ENFILE: out of descriptors
 *   - ENOMEM: no memory
 */
QPATTR_RDMA_EXPORT struct rdma_event_channel *rdma_create_event_channel(void);

/**
 * Closes a channel.
 *
 * Kernel: none; closes the descriptor, and with it whatever ids are left there.
 *
 * @param channel  may be NULL, or destroyed already: nothing happens. Its ids must
 *                 be destroyed and its events acknowledged before. No thread may
 *                 wait on it: closing does not wake it. One that the program made
 *                 itself must be heap memory: it is freed.
 */
QPATTR_RDMA_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/**
 * Takes the next event from a channel, waiting for one if there is none.
 *
 * Kernel: GET_EVENT; QUERY_ROUTE for ADDR_RESOLVED, ROUTE_RESOLVED and
 * CONNECT_REQUEST, INIT_QP_ATTR and ACCEPT as below. It waits unless O_NONBLOCK is
 * set on channel->fd.
 *
 * A connection whose QP the library made is brought up in here: the QP is moved
 * to RTS when the peer's response comes and the event becomes ESTABLISHED; a QP
 * is attached to its multicast group. If that fails the event tells so.
 *
 * @param channel  where to look; also one that the program made itself, of an open
 *                 descriptor of the device
 * @param event    [out] the event
 *
 * An event that is nobody's (its id was destroyed, or none of this library had it)
 * is passed over; so is a request for which no id can be made, and its peer refused.
 *
 * Ownership: the event and its private data are the library's until
 * rdma_ack_cm_event(), which must follow each success. The id of a
 * CONNECT_REQUEST is the caller's, to be accepted or rejected, and destroyed.
 *
 * errno:
 *   - EAGAIN: no event, and the descriptor is non-blocking
 *   - EINTR: a signal handler ran
 *   - EPROTO, ENODATA: the descriptor is not the device
 *
 * Threads: several may wait on one channel. A cancellation point. An event that the
 * kernel had handed over already is for the next call on the channel; poll(2) does
 * not tell of it.
 */
QPATTR_RDMA_EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel,
					 struct rdma_cm_event **event);

/**
 * Gives an event back.
 *
 * Kernel: none.
 *
 * @param event  of rdma_get_cm_event(), once. It and its private data are gone
 *               afterwards; its id is not. Not for id->event.
 *
 * errno:
 *   - EINVAL: event is NULL, acknowledged already, or not of rdma_get_cm_event()
 */
QPATTR_RDMA_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event);

/**
 * The name of an event: "RDMA_CM_EVENT_ESTABLISHED".
 *
 * @param event  any value
 * @return a constant string, never NULL; "UNKNOWN EVENT" for other numbers.
 *         errno is untouched.
 */
QPATTR_RDMA_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event);

/**
 * Makes an id: what a socket is to TCP.
 *
 * Kernel: CREATE_ID.
 *
 * @param channel  where its events go; NULL makes the id synchronous, with a
 *                 channel of the library's
 * @param id       [out] the id: 'channel', 'context', 'ps' and 'qp_type' are set,
 *                 everything else is zero
 * @param context  the caller's, kept in id->context; may be NULL
 * @param ps       RDMA_PS_TCP makes an RC id, RDMA_PS_UDP and RDMA_PS_IPOIB a UD
 *                 one; RDMA_PS_IB is for rdma_create_ep(), which knows the type
 *
 * Ownership: the caller's, to be given to rdma_destroy_id(). The channel must
 * live as long.
 *
 * errno:
 *   - EINVAL: ps is none of the four (and nothing was made)
 *   - with a NULL channel those of rdma_create_event_channel()
 */
QPATTR_RDMA_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
				      void *context, enum rdma_port_space ps);

/**
 * Destroys an id. A connection of it ends, a join of it leaves, a request that
 * was not answered is rejected; nothing of it is reported any more.
 *
 * Kernel: DESTROY_ID. The kernel may hold the call for as long as a peer that
 * does not answer is tried (up to 100 s), if the id was rejected while its own
 * message was unanswered; no signal ends that.
 *
 * @param id  its QP and SRQ must be destroyed before
 *
 * Waits until every event of the id that was taken is acknowledged: who calls it
 * between taking and acknowledging such an event waits for ever. With QPATTR_DEBUG=1
 * in the environment a line on standard error tells of it after 2 s.
 *
 * On failure the id is as it was.
 *
 * Threads: no other may use the id. id->event is gone, too.
 */
QPATTR_RDMA_EXPORT int rdma_destroy_id(struct rdma_cm_id *id);

/**
 * Moves an id, with the events that wait for it, to another channel.
 *
 * Kernel: MIGRATE_ID.
 *
 * @param id       the id
 * @param channel  its new channel; NULL makes the id synchronous
 *
 * On success id->channel is the new one, and id->event NULL. Waits until the
 * events of the id that were taken are acknowledged. A thread that already waits
 * on either channel is not woken by the moved events. Requests that a listener
 * has not read go along; the kernel leaves the ids that they bring on the old
 * channel's descriptor, and reading them moves those, too: keep it open so long.
 *
 * errno:
 *   - EINVAL: channel is NULL and the id is synchronous already
 *   - EBADF: the new channel's descriptor is closed
 *   - ENOENT: the old one's is
 *   - with a NULL channel those of rdma_create_event_channel()
 *
 * Threads: no other may use the id or take events from its old channel.
 */
QPATTR_RDMA_EXPORT int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);

/**
 * Changes a setting of an id.
 *
 * Kernel: SET_OPTION; for RDMA_OPTION_IB_PATH the ROUTE_RESOLVED event follows.
 *
 * @param id       the id
 * @param level    RDMA_OPTION_ID or RDMA_OPTION_IB
 * @param optname  one of the level's; the enums tell type, unit and the latest
 *                 time to set it
 * @param optval   the value; copied. NULL is EFAULT.
 * @param optlen   its size in bytes: exactly the type's, for paths a multiple of
 *                 sizeof(struct ibv_path_data)
 *
 * errno:
 *   - EINVAL: optlen does not fit, too late for this option, ACK_TIMEOUT on an id
 *     that is not RC (or XRC's sending side), or no usable path
 *   - EFAULT: optval is NULL
 *   - ENOSYS: the kernel knows no such level or option
 */
QPATTR_RDMA_EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
				       size_t optlen);

/**
 * Puts an event of the caller's own into the channel of an id, to wake who waits
 * there.
 *
 * Kernel: WRITE_CM_EVENT, since 7.2.
 *
 * @param id      whose event it shall be
 * @param event   RDMA_CM_EVENT_USER
 * @param status  any value, for event->status
 * @param arg     any value, for event->param.arg
 *
 * errno:
 *   - EINVAL: another event
 *   - ENOSYS: the kernel is older than 7.2
 *
 * Since: librdmacm 65.0.
 */
QPATTR_RDMA_EXPORT int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event,
					   int status, uint64_t arg);

/**
 * The local address of an id.
 *
 * @param id  not NULL, which is not checked
 * @return the id's own sockaddr, never NULL; all zero until the id is bound
 */
static inline struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.src_addr;
}

/**
 * The peer's address.
 *
 * @param id  not NULL, which is not checked
 * @return the id's own sockaddr, never NULL; all zero until the id is resolved
 */
static inline struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.dst_addr;
}

/**
 * The local port of an id.
 *
 * Kernel: none.
 *
 * @param id  the id; NULL and what is no id give 0
 * @return big-endian; 0 if the id is not bound. Of AF_IB the low 16 bits of the
 *         service id. errno is untouched.
 */
QPATTR_RDMA_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id);

/**
 * The peer's port; otherwise as rdma_get_src_port().
 *
 * @param id  the id; NULL and what is no id give 0
 * @return big-endian; 0 if there is no peer
 */
QPATTR_RDMA_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id);

/**
 * All RDMA devices of the system, opened.
 *
 * Kernel: none; opens the devices by libibverbs, once for the process.
 *
 * @param num_devices  [out] how many; may be NULL
 *
 * Ownership: the array is the caller's, to be given to rdma_free_devices(). The
 * contexts are the library's, stay open, and are the ones that ids have.
 *
 * @return an array with a NULL behind the last, or NULL. A device that cannot be
 *         opened is left out, so the array may be empty.
 *
 * errno:
 *   - ENODEV: libibverbs cannot list devices
 *   - ENOMEM: no memory
 */
QPATTR_RDMA_EXPORT struct ibv_context **rdma_get_devices(int *num_devices);

/**
 * Gives back the array of rdma_get_devices(), not the devices.
 *
 * @param list  may be NULL: nothing happens
 */
QPATTR_RDMA_EXPORT void rdma_free_devices(struct ibv_context **list);

#ifdef __cplusplus
}
#endif

#endif
