/* SPDX-License-Identifier: MIT */
/**
 * @file rdma_cma_resolve.h
 * From a name to an address, a device and a route; included by
 * <rdma/rdma_cma.h>, which tells what all functions have in common.
 */
#ifndef QPATTR_RDMA_CMA_RESOLVE_H
#define QPATTR_RDMA_CMA_RESOLVE_H

#ifndef RDMA_CMA_H
#error "include <rdma/rdma_cma.h>, not its parts"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Looks up a host and a service, as getaddrinfo(3) does for sockets.
 *
 * Kernel: none; asks the resolver.
 *
 * @param node     a name or a numeric address; may be NULL
 * @param service  a port number or a name of services(5); may be NULL
 * @param hints    what kind of answer; may be NULL, which is not the same as
 *                 empty ones (see getaddrinfo(3)). Used: RAI_PASSIVE,
 *                 RAI_NUMERICHOST, ai_family (RAI_FAMILY or not), ai_qp_type,
 *                 ai_port_space, and ai_src_addr where it is not RAI_PASSIVE.
 *                 AF_IB reads a numeric IPv6 address as a GID, if RAI_NUMERICHOST
 *                 and RAI_FAMILY are both set. ai_dst_addr counts only where node
 *                 and service are NULL: the answer then repeats the hints. RAI_SA,
 *                 RAI_DNS and RAI_NOROUTE change nothing. One of the three must be
 *                 given.
 * @param res      [out] one answer, the resolver's first. With RAI_PASSIVE the
 *                 address to listen on is in ai_src_addr, else the peer's in
 *                 ai_dst_addr. It has no names, route or private data.
 *
 * Ownership: the answer is the caller's, to be given to rdma_freeaddrinfo().
 *
 * @return 0; -1 with errno; or a negative EAI_ code of <netdb.h> for
 *         gai_strerror(3): EAI_NONAME no such node or service, EAI_FAMILY no such
 *         family, EAI_ADDRFAMILY the node has no address of it, EAI_SERVICE no
 *         such service, EAI_AGAIN the resolver does not answer now, EAI_SOCKTYPE
 *         type and port space do not fit
 *
 * errno:
 *   - EINVAL: node, service and hints are all NULL; res is NULL; or an address of
 *     the hints is NULL and has a length
 *   - ENODEV: there is no RDMA device
 *   - ENOMEM: no memory
 *
 * Threads: any. Signals: as getaddrinfo(3).
 */
QPATTR_RDMA_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
					const struct rdma_addrinfo *hints,
					struct rdma_addrinfo **res);

/**
 * Frees an answer of rdma_getaddrinfo(), with what hangs on its ai_next.
 *
 * @param res  may be NULL: nothing happens. Once only: it is heap memory, as
 *             are the addresses in it.
 */
QPATTR_RDMA_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *res);

/**
 * Would look up without waiting, and tell by an ADDRINFO_RESOLVED event. Not
 * implemented: ENOSYS, as librdmacm says on kernels that cannot (before 7.2).
 *
 * Kernel: none.
 *
 * @param id       an id that lives
 * @param node     not looked at
 * @param service  not looked at
 * @param hints    not looked at
 *
 * errno: nothing was started, no event follows
 *   - EINVAL: id is none
 *   - ENOSYS: always else; use rdma_getaddrinfo()
 *
 * Since: librdmacm 65.0.
 */
QPATTR_RDMA_EXPORT int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
					     const char *service,
					     const struct rdma_addrinfo *hints);

/**
 * Would give the answer to rdma_resolve_addrinfo(). Not implemented: ENOSYS.
 *
 * Kernel: none.
 *
 * @param id    an id that lives
 * @param info  not NULL; untouched
 *
 * errno:
 *   - EINVAL: id is none, or info is NULL
 *   - ENOSYS: always else
 *
 * Since: librdmacm 65.0.
 */
QPATTR_RDMA_EXPORT int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

/**
 * Gives an id a local address, and, unless that is a wildcard, the device that
 * has it.
 *
 * Kernel: BIND, QUERY_ROUTE (and QUERY for the addresses of AF_IB).
 *
 * @param id    a fresh id
 * @param addr  the address; port 0 takes a free one (rdma_get_src_port() tells).
 *              Copied.
 *
 * On success id->route.addr.src_addr is set, and with a device id->verbs,
 * port_num, pd.
 *
 * errno: the id stays fresh
 *   - EINVAL: already bound, unknown family, link-local IPv6 without a scope, or
 *     RDMA_PS_IPOIB on an interface that is not IP over InfiniBand
 *   - EADDRNOTAVAIL: not an address of this machine
 *   - ENODEV: no RDMA device has it
 *   - EADDRINUSE: another id has address and port
 *   - EACCES: a port below 1024 without CAP_NET_BIND_SERVICE
 */
QPATTR_RDMA_EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);

/**
 * Finds the device, the source and the link address that lead to a destination.
 *
 * Kernel: RESOLVE_ADDR, then the ADDR_RESOLVED or ADDR_ERROR event; reading the
 * first asks QUERY_ROUTE.
 *
 * @param id          fresh or bound, or after ADDR_ERROR. A second call on a
 *                    resolving or resolved id is refused here: kernel 5.10 would
 *                    forget the destination.
 * @param src_addr    may be NULL: chosen by the routing tables, or as bound.
 *                    Ignored if the id is bound. Copied.
 * @param dst_addr    the peer, of the same family. Copied.
 * @param timeout_ms  milliseconds to wait for the neighbour's answer, > 0
 *
 * At once route.addr.dst_addr is as given. When ADDR_RESOLVED has been read both
 * addresses, id->verbs, port_num and pd are set.
 *
 * errno, or as the event's status:
 *   - EINVAL: already resolving or resolved, listening, or families differ
 *   - EADDRNOTAVAIL, ENODEV: src_addr, as for rdma_bind_addr()
 *   - ENETUNREACH, EHOSTUNREACH: no route to dst_addr
 *   - ETIMEDOUT: the neighbour does not answer
 *   - ENODEV: the interface that leads there has no RDMA device
 */
QPATTR_RDMA_EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
					 struct sockaddr *dst_addr, int timeout_ms);

/**
 * Finds the route. InfiniBand asks the subnet administrator; RoCE and iWARP make
 * the route from the addresses, and from the options TOS and ACK_TIMEOUT.
 *
 * Kernel: RESOLVE_ROUTE, then the ROUTE_RESOLVED or ROUTE_ERROR event; reading the
 * first asks QUERY_ROUTE (not with QPATTR_ID_NO_PATH of <qpattr/cm.h>).
 *
 * @param id          with a resolved address, whose ADDR_RESOLVED was read
 * @param timeout_ms  milliseconds, > 0: kernels from 6.1 on refuse 0
 *
 * When ROUTE_RESOLVED has been read id->route.path_rec and num_paths are set. On
 * RoCE dlid, slid, numb_path and preference of a path mean nothing, and differ from
 * librdmacm's.
 *
 * errno, or as the event's status:
 *   - EINVAL: no resolved address, no device, or timeout_ms is 0
 *   - ENODEV: the address is a loopback one, which RoCE has no route for
 *   - ETIMEDOUT: no answer from the subnet administrator
 */
QPATTR_RDMA_EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
