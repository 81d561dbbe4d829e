/* SPDX-License-Identifier: MIT */
/**
 * @file cm.h
 * What qpattr's connection manager offers beside the standard rdma_* names, which
 * <rdma/rdma_cma.h> declares (include/qpattr/rdma).
 *
 * Plain C99, usable from C++.
 */
#ifndef QPATTR_CM_H
#define QPATTR_CM_H

#include <rdma/rdma_cma.h>

#include <qpattr/qpattr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What qpattr_id_create() may be asked for. */
enum qpattr_id_flags {
	/**
	 * The path records (id->route.path_rec) are not wanted: they stay NULL and
	 * num_paths 0 on the active side, and a connection costs one command less.
	 */
	QPATTR_ID_NO_PATH = 1 << 0,
};

/**
 * rdma_create_id() with flags.
 *
 * Kernel: RDMA_USER_CM_CMD_CREATE_ID, ABI version 4.
 *
 * @param channel  the channel on which the id's events are read; NULL: the id gets
 *                 one of its own and its calls wait for their events
 * @param id       [out] not NULL; untouched on failure
 * @param context  the program's own, in (*id)->context
 * @param ps       the port space
 * @param flags    enum qpattr_id_flags, or 0
 *
 * Ownership: the caller destroys the id with rdma_destroy_id(), before the channel.
 *
 * @return 0, or -1 with errno set
 *
 * errno:
 *   - EINVAL: id is NULL, a flag is unknown, or the kernel does not know the port
 *     space
 *   - EACCES: the channel was opened before a fork, an exec or a change of
 *     credentials
 *   - EBADF: the channel's descriptor was closed
 *   - ENOMEM, and what opening a channel gives (channel == NULL): see
 *     qpattr_device_open()
 *
 * Threads: any. Fork: see EACCES. Signals: not async-signal-safe.
 * Source: rdma_create_id(3), <rdma/rdma_user_cm.h>.
 * @since 0.1
 */
QPATTR_EXPORT int qpattr_id_create(struct rdma_event_channel *channel, struct rdma_cm_id **id,
				   void *context, enum rdma_port_space ps, unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
