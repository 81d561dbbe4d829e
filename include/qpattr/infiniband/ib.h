/* SPDX-License-Identifier: MIT */
/**
 * @file ib.h
 * InfiniBand addresses of sockets' kind: AF_IB and struct sockaddr_ib.
 *
 * Source- and binary-compatible with librdmacm's <infiniband/ib.h>, and under its
 * include guard: whichever of the two headers comes first declares everything.
 * Everything is big-endian, save sib_family and sib_scope_id.
 *
 * Source: the header of librdmacm-dev for names and layout (test/cm/addrinfo
 * compares the two), <rdma/rdma_user_cm.h> for the sizes that the kernel takes.
 */
#ifndef _RDMA_IB_H
#define _RDMA_IB_H

#include <endian.h>
#include <linux/types.h>
#include <string.h>

/* The C library has the numbers where it is new enough. */
#ifndef AF_IB
#define AF_IB 27
#endif
#ifndef PF_IB
#define PF_IB AF_IB
#endif

/** A GID. */
struct ib_addr {
	union {
		__u8 uib_addr8[16];
		__be16 uib_addr16[8];
		__be32 uib_addr32[4];
		__be64 uib_addr64[2];
	} ib_u;
#define sib_addr8 ib_u.uib_addr8
#define sib_addr16 ib_u.uib_addr16
#define sib_addr32 ib_u.uib_addr32
#define sib_addr64 ib_u.uib_addr64
#define sib_raw ib_u.uib_addr8
#define sib_subnet_prefix ib_u.uib_addr64[0]
#define sib_interface_id ib_u.uib_addr64[1]
};

/** Nonzero for the wildcard, 16 bytes of zero. */
static inline int ib_addr_any(const struct ib_addr *a)
{
	return !(a->sib_subnet_prefix | a->sib_interface_id);
}

/** Nonzero for ::1. */
static inline int ib_addr_loopback(const struct ib_addr *a)
{
	return !a->sib_subnet_prefix && a->sib_interface_id == htobe64(1);
}

/** Four big-endian words, first to last. */
static inline void ib_addr_set(struct ib_addr *addr, __be32 w1, __be32 w2, __be32 w3, __be32 w4)
{
	addr->sib_addr32[0] = w1;
	addr->sib_addr32[1] = w2;
	addr->sib_addr32[2] = w3;
	addr->sib_addr32[3] = w4;
}

/** As memcmp(): 0 where they are equal. */
static inline int ib_addr_cmp(const struct ib_addr *a1, const struct ib_addr *a2)
{
	return memcmp(a1, a2, sizeof(*a1));
}

/** An address of family AF_IB, as rdma_bind_addr() and others take it. */
struct sockaddr_ib {
	unsigned short int sib_family; /**< AF_IB */
	__be16 sib_pkey;	       /**< 0xffff: the default partition */
	__be32 sib_flowinfo;	       /**< flow label */
	struct ib_addr sib_addr;       /**< GID */
	__be64 sib_sid;		       /**< service: port space in bits 16 to 31, port in 0 to 15 */
	__be64 sib_sid_mask;	       /**< bits of sib_sid that count */
	__u64 sib_scope_id;	       /**< of a link-local GID: the interface's index */
};

#endif
