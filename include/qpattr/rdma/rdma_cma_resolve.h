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
 * @param hints    what kind of answer; may be NULL. Used: ai_flags, ai_family
 *                 (with RAI_FAMILY), ai_qp_type, ai_port_space, ai_src_addr,
 *                 ai_dst_addr. One of the three must be given.
 * @param res      [out] a list. With RAI_PASSIVE the address to listen on is in
 *                 ai_src_addr, else the peer's in ai_dst_addr.
 *
 * Ownership: the list is the caller's, to be given to rdma_freeaddrinfo().
 *
 * @return 0; -1 with errno; or a negative EAI_ code of <netdb.h> for
 *         gai_strerror(3): EAI_NONAME no such node or service, EAI_SERVICE no
 *         such service, EAI_AGAIN the resolver does not answer now, EAI_SOCKTYPE
 *         type and port space do not fit
 *
 * errno:
 *   - EINVAL: node, service and hints are all NULL, or RAI_SA together with
 *     RAI_DNS
 *
 * Threads: any. Signals: as getaddrinfo(3).
 */
QPATTR_RDMA_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
					const struct rdma_addrinfo *hints,
					struct rdma_addrinfo **res);

/**
 * Frees a list of rdma_getaddrinfo() or rdma_query_addrinfo().
 *
 * @param res  may be NULL: nothing happens
 */
QPATTR_RDMA_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *res);

/**
 * Looks up like rdma_getaddrinfo(), but without waiting: an ADDRINFO_RESOLVED or
 * ADDRINFO_ERROR event follows.
 *
 * Kernel: RESOLVE_IB_SERVICE (RAI_SA) or WRITE_CM_EVENT (RAI_DNS), since 7.2.
 *
 * @param id       the id; with RAI_SA bound to an InfiniBand port
 * @param node     a name or numeric address; may be NULL, with RAI_SA it must be
 * @param service  a port or service; with RAI_SA the name or number of an
 *                 InfiniBand service
 * @param hints    may be NULL: RAI_DNS
 *
 * errno: nothing was started, no event follows
 *   - EINVAL: RAI_SA together with RAI_DNS, RAI_SA with a node or without a
 *     device, or a kernel before 7.2
 *   - EOPNOTSUPP: RAI_SA on a port without a subnet administrator
 *
 * Since: librdmacm 65.0.
 */
QPATTR_RDMA_EXPORT int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
					     const char *service,
					     const struct rdma_addrinfo *hints);

/**
 * The answer to rdma_resolve_addrinfo(), after its ADDRINFO_RESOLVED event.
 *
 * Kernel: QUERY of services for RAI_SA, since 7.2; else none.
 *
 * @param id    the id that asked
 * @param info  [out] a list
 *
 * Ownership: the caller's, to be given to rdma_freeaddrinfo().
 *
 * errno:
 *   - ENODATA: there is no answer
 *   - EINVAL, ENOSYS: nothing was asked, or a kernel before 7.2
 *
 * Since: librdmacm 65.0.
 */
QPATTR_RDMA_EXPORT int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

/**
 * Gives an id a local address, and, unless that is a wildcard, the device that
 * has it.
 *
 * Kernel: BIND, QUERY.
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
 * Kernel: RESOLVE_ADDR, then the ADDR_RESOLVED or ADDR_ERROR event and a QUERY.
 *
 * @param id          fresh or bound, or after ADDR_ERROR. A second call on a
 *                    resolved id is refused here: kernel 5.10 would forget the
 *                    destination.
 * @param src_addr    may be NULL: chosen by the routing tables, or as bound.
 *                    Ignored if the id is bound. Copied.
 * @param dst_addr    the peer, of the same family. Copied.
 * @param timeout_ms  milliseconds to wait for the neighbour's answer, > 0
 *
 * After ADDR_RESOLVED both addresses, id->verbs, port_num and pd are set.
 *
 * errno, or as the event's status:
 *   - EINVAL: already resolved, or families differ
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
 * Kernel: RESOLVE_ROUTE, then the ROUTE_RESOLVED or ROUTE_ERROR event and a QUERY.
 *
 * @param id          with a resolved address
 * @param timeout_ms  milliseconds, > 0: kernels from 6.1 on refuse 0
 *
 * After ROUTE_RESOLVED id->route.path_rec and num_paths are set.
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
