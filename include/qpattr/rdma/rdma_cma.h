/* SPDX-License-Identifier: MIT */
/**
 * @file rdma_cma.h
 * The standard connection manager API, rdma_*, declared by qpattr.
 *
 * Source- and binary-compatible with librdmacm's <rdma/rdma_cma.h> from 33.2 to
 * 65.0, so that building needs libibverbs' and the kernel's headers only:
 *
 *     cc -I PREFIX/include/qpattr main.c -lqpattr -libverbs
 *
 * C99 and C++. It uses librdmacm's include guard: whichever of the two headers
 * comes first declares everything, the other then adds nothing.
 * QPATTR_RDMA_CMA_H is defined if it was this one.
 *
 * What all functions have in common, and their comments do not repeat:
 *
 * Arguments. A pointer must not be NULL unless its text says so, and an id must be
 * one that lives: -1 and EINVAL for NULL, for an id that was destroyed and for one
 * that is not of this library (librdmacm crashes). Functions that return nothing do
 * nothing then. Addresses are AF_INET, AF_INET6 or AF_IB, and as long as their
 * family says. Outputs are written on success only.
 *
 * Kernel. The device /dev/infiniband/rdma_cm, ABI version 4, kernels from 5.10.
 * 'Kernel:' names the commands (RDMA_USER_CM_CMD_...) that a function sends. An
 * id lives in the network namespace of the thread that made it.
 *
 * Asynchronous ids have an event channel: calls that take time return at once and
 * an event tells the outcome. Synchronous ids (made with a NULL channel) wait
 * inside the call for that event and leave it in id->event; if it tells of a
 * failure, the call returns -1 and errno is made of its status: the error if it
 * is negative, ECONNREFUSED for RDMA_CM_EVENT_REJECTED, ENODEV for
 * RDMA_CM_EVENT_DEVICE_REMOVAL, else the status itself. Signals and cancellation end
 * the wait as they end rdma_get_cm_event(); the only other cancellation point is
 * rdma_getaddrinfo(), as getaddrinfo(3) is one. After either, destroy the id.
 *
 * Return. 0, or -1 with errno, or a pointer, or NULL with errno, unless the text
 * says otherwise.
 *
 * errno. Those of the text, and of all functions that send a command:
 *   - EINVAL: the id is in a state that does not allow the call, or its channel
 *     is not the one it was made on or migrated to
 *   - ENOENT: the kernel does not know the id (any more)
 *   - ENXIO: the device of the id was removed; destroy the id
 *   - EACCES: the channel was opened before a fork, an exec or a change of
 *     credentials: the kernel serves only who opened it. Open a new one
 *   - EBADF: the channel's descriptor was closed, or is not open for writing
 *   - EPROTO: the kernel's reply has impossible lengths
 *   - ENOMEM: no memory, here or in the kernel
 *
 * Threads. Any function may run in any thread. One id may be used by several as
 * long as none destroys or migrates it meanwhile; each event goes to one reader. A
 * synchronous id is for one thread at a time, save rdma_get_request(). A QP must not
 * be destroyed while another thread takes an event of its id.
 * Fork. A child cannot use its parent's channels and ids, and must not destroy
 * them; it may make its own. While it keeps the descriptors open, the parent's
 * connections outlive the parent. Signals. No function is safe in a handler.
 * Waiting for an event ends with EINTR if a handler without SA_RESTART ran; waiting
 * for acknowledgements does not end. errno is untouched on success.
 *
 * Source: the manual pages rdma_cm(7) and rdma_*(3), librdmacm's public headers
 * and visible behaviour, <rdma/rdma_user_cm.h>. Since qpattr 0.1, and librdmacm
 * 33.2 or older where no other version is told.
 */
#ifndef RDMA_CMA_H
#define RDMA_CMA_H
#define QPATTR_RDMA_CMA_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <infiniband/sa.h>
#include <infiniband/verbs.h>

/* What the shared library exports. */
#if defined(__GNUC__)
#define QPATTR_RDMA_EXPORT __attribute__((visibility("default")))
#else
#define QPATTR_RDMA_EXPORT
#endif

#include "rdma_cma_types.h"

/* Channels, events, ids, their addresses and options. */
#include "rdma_cma_id.h"

/* Names and addresses of peers, queue pairs, connections, multicast. */
#include "rdma_cma_resolve.h"
#include "rdma_cma_connect.h"
#include "rdma_cma_multicast.h"

#endif
