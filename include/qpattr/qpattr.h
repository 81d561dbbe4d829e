/* SPDX-License-Identifier: MIT */
/**
 * @file qpattr.h
 * Queue pair attributes from the RDMA connection manager, without librdmacm.
 *
 * The path on which a program learns with which attributes its queue pair (QP)
 * must be moved to the next state: a descriptor of /dev/infiniband/rdma_cm, the
 * kernel's handle of a connection, the state wanted; and the answer as verbs
 * take it. No rdma_cm_id, no librdmacm, no netlink, no C++ runtime.
 *
 * Plain C99, usable from C++. All functions may be called from many threads at
 * once and take no lock. None prints, exits or aborts.
 */
#ifndef QPATTR_QPATTR_H
#define QPATTR_QPATTR_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the shared library exports. */
#if defined(__GNUC__)
#define QPATTR_EXPORT __attribute__((visibility("default")))
#else
#define QPATTR_EXPORT
#endif

/** Version of this header. qpattr_version() tells the library's. */
#define QPATTR_VERSION "0.1.0"

/** Where the connection manager's device is on every known system. */
#define QPATTR_DEVICE_PATH "/dev/infiniband/rdma_cm"

/**
 * Where an operation failed; docs/errors.md lists what each stage and errno mean.
 * qpattr_device_open() reports NODE to OPEN. ARGUMENT and COMMAND are
 * qpattr_query()'s, which has errno alone for them: they name the rows of the
 * table.
 */
enum qpattr_stage {
	QPATTR_STAGE_NONE = 0,	   /**< nothing failed */
	QPATTR_STAGE_ARGUMENT = 1, /**< an argument was refused before any system call */
	QPATTR_STAGE_NODE = 2,	   /**< the path leads to nothing, or cannot be walked */
	QPATTR_STAGE_IDENTIFY = 3, /**< what is at the path is not the rdma_cm device */
	QPATTR_STAGE_ABI = 4,	   /**< the ABI version is not 4, or not to be learned */
	QPATTR_STAGE_OPEN = 5,	   /**< open(2) of the device */
	QPATTR_STAGE_COMMAND = 6,  /**< the kernel refused the command */
};

/**
 * A short name of a stage, for messages: "node", "identify", "command".
 *
 * @param stage any value
 * @return a constant string, never NULL; "unknown" for a value outside the enum
 * @since 0.1
 */
QPATTR_EXPORT const char *qpattr_stage_name(enum qpattr_stage stage);

/**
 * The version of the library at run time, for example "0.1.0".
 *
 * @return a constant string, never NULL
 * @since 0.1
 */
QPATTR_EXPORT const char *qpattr_version(void);

/**
 * Opens the connection manager's device after checking that it is the one.
 *
 * Kernel: no command. Reads /sys/class/misc/rdma_cm/dev and abi_version, so
 * sysfs must be mounted. A caller without sysfs may open the node by itself:
 * qpattr_query() takes any descriptor.
 *
 * @param path   the node; NULL means QPATTR_DEVICE_PATH
 * @param stage  [out] where it failed; QPATTR_STAGE_NONE on success; may be NULL
 *
 * Ownership: the caller closes the descriptor with close(2). It is
 * close-on-exec, and blocking.
 *
 * @return the descriptor (>= 0), or -1 with errno set. On success errno is
 *         untouched.
 *
 * errno, by stage:
 *   - NODE ENOENT: nothing at the path: the module rdma_ucm is not loaded, or
 *     the container was not given the node
 *   - NODE ENOTDIR, ELOOP, ENAMETOOLONG: the path itself is wrong
 *   - NODE EACCES: a directory of the path may not be searched
 *   - IDENTIFY ENODEV: not a character device, another device, or no rdma_cm
 *     device in sysfs
 *   - IDENTIFY EMFILE, ENFILE, ENOMEM, EACCES: sysfs cannot be read
 *   - ABI EPROTONOSUPPORT: the kernel's ABI version is not 4
 *   - ABI ENOENT (or another errno of open and read): sysfs does not tell the
 *     ABI version
 *   - OPEN EACCES, EPERM: no permission on the node, or forbidden by the
 *     device cgroup
 *   - OPEN ENXIO, ENODEV: a node without a driver behind it
 *   - OPEN EMFILE, ENFILE, ENOMEM: out of descriptors or memory
 *
 * Threads: any. Fork: the kernel refuses (EACCES) every command on the
 * descriptor in a fork child, and after a change of credentials: open a new one
 * there. Signals: async-signal-safe.
 * Source: kernel documentation of sysfs; <rdma/rdma_user_cm.h>.
 * @since 0.1
 */
QPATTR_EXPORT int qpattr_device_open(const char *path, enum qpattr_stage *stage);

/**
 * Asks the kernel with which attributes a connection's QP is to be moved to a
 * state.
 *
 * Kernel: RDMA_USER_CM_CMD_INIT_QP_ATTR, ABI version 4. One write(2).
 *
 * @param fd     a descriptor of the rdma_cm device on which the handle was
 *               created or to which it was migrated
 * @param handle the kernel's number of the id, as CREATE_ID or a
 *               CONNECT_REQUEST event gave it; 0 is a valid handle
 * @param state  the state that the QP is to be moved to: IBV_QPS_RESET (0) to
 *               IBV_QPS_ERR (6); others are for the kernel to refuse
 * @param attr   [out] not NULL. On success every field is written, in the mask
 *               or not, but qp_state and rate_limit, which are left alone. Set
 *               attr->qp_state to @p state before ibv_modify_qp().
 * @param mask   [out] not NULL. On success the kernel's enum
 *               ibv_qp_attr_mask bits, raw: the ones for ibv_modify_qp().
 *
 * Before there is a connection, an id that has a device answers every state with
 * INIT's attributes (mask 0x39), RTR and RTS too; an id of UD (0x71) always. So RTR's are
 * those of which the mask has IBV_QP_AV.
 *
 * Values are the kernel's, in verbs' units: timeout is an exponent (4.096 us *
 * 2^timeout, 0 = for ever), min_rnr_timer a code 0 to 31 (0 = 655.36 ms),
 * path_mtu an enum ibv_mtu, PSNs and QP numbers 24 bits in host byte order.
 *
 * @return 0, or -1 with errno set and both outputs untouched. On success errno
 *         is untouched.
 *
 * errno:
 *   - EINVAL: attr or mask is NULL
 *   - EINVAL: the connection is not in a state that can answer (RTR and RTS
 *     while it waits for the peer's answer; all when disconnected), the id has no
 *     device yet, the state is above 6, or the handle belongs to another open file
 *   - ENOENT: no such handle, or it was destroyed
 *   - ENXIO: the RDMA device was removed under the id
 *   - EACCES: the descriptor was opened before a fork, an exec or a change of
 *     credentials
 *   - EBADF: fd is not open, or not open for writing
 *   - ENODATA: the write was short: fd is not the rdma_cm device
 *   - ENOSYS: the port has neither an InfiniBand nor an iWARP connection
 *     manager
 *   - any other errno of write(2) on fd
 *
 * Threads: any, also on the same fd and handle. The kernel waits for another
 * command in progress on the same handle. Fork: see EACCES. Signals:
 * async-signal-safe; not interrupted.
 * Source: <rdma/rdma_user_cm.h>, <rdma/ib_user_verbs.h>, ibv_modify_qp(3).
 * @since 0.1
 */
QPATTR_EXPORT int qpattr_query(int fd, uint32_t handle, enum ibv_qp_state state,
			       struct ibv_qp_attr *attr, int *mask);

/**
 * The attributes that a mask selects as text, one line each: its name, its value,
 * and what the value means in units, for example
 *
 *     timeout                        19          2.15 s
 *     dest_qp_num                    0x000011    17
 *
 * The text is for people: its layout may change. Bits of the mask that belong to
 * no known attribute are named in a last line.
 *
 * Kernel: no command.
 *
 * @param attr  not NULL. Read only where the mask says so.
 * @param mask  enum ibv_qp_attr_mask bits, as qpattr_query() or
 *              rdma_init_qp_attr() gave them
 * @param buf   [out] the text, UTF-8, always terminated where @p len is not 0; each
 *              line ends with a newline. What does not fit is cut off at the end. May
 *              be NULL where @p len is 0.
 * @param len   bytes of @p buf with the terminating zero
 *
 * @return as snprintf: the bytes that the whole text needs without the terminating
 *         zero, so that the text is whole if it is less than @p len; 0 for a mask of
 *         no attributes. -1 with errno set on failure. On success errno is
 *         untouched.
 *
 * errno:
 *   - EINVAL: attr is NULL, or buf is NULL and len is not 0
 *
 * Threads: any. Signals: async-signal-safe where the C library's snprintf is;
 * nothing is allocated, and the locale plays no part.
 * Source: ibv_modify_qp(3); InfiniBand Architecture Specification volume 1 for the
 * units.
 * @since 0.1
 */
QPATTR_EXPORT int qpattr_describe(const struct ibv_qp_attr *attr, int mask, char *buf,
				  size_t len);

#ifdef __cplusplus
}
#endif

#endif
