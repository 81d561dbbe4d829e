/* SPDX-License-Identifier: MIT */
/**
 * @file rdma_cma_types.h
 * The constants and structures of <rdma/rdma_cma.h>, which includes this file.
 *
 * Layouts, names and values are librdmacm's (33.2 to 65.0): a program compiled
 * with either header runs with either library. test/abi/rdma-headers holds them.
 * Addresses, ports and P_Keys are big-endian; everything else is in host order.
 */
#ifndef QPATTR_RDMA_CMA_TYPES_H
#define QPATTR_RDMA_CMA_TYPES_H

#ifndef RDMA_CMA_H
#error "include <rdma/rdma_cma.h>, not its parts"
#endif

/**
 * What happened to an id. rdma_event_str() names them.
 *
 * 'status' of the event is 0 on success, a negative errno, or a positive reason
 * of the transport (InfiniBand's reject reason or SIDR status).
 * A program should have a default case: newer kernels send newer numbers.
 */
enum rdma_cm_event_type {
	/** rdma_resolve_addr() is done: the id has a device. */
	RDMA_CM_EVENT_ADDR_RESOLVED = 0,
	/** It failed; status is a negative errno. It may be tried again. */
	RDMA_CM_EVENT_ADDR_ERROR = 1,
	/** rdma_resolve_route() is done, or a path was set by option. */
	RDMA_CM_EVENT_ROUTE_RESOLVED = 2,
	/** It failed (InfiniBand only: elsewhere nothing is asked). */
	RDMA_CM_EVENT_ROUTE_ERROR = 3,
	/** A peer wants to connect to listen_id; id is a new one for it. */
	RDMA_CM_EVENT_CONNECT_REQUEST = 4,
	/** The peer accepted, and the id has no QP of ours: the program moves its
	 *  QP and calls rdma_establish(). */
	RDMA_CM_EVENT_CONNECT_RESPONSE = 5,
	/** Connecting failed for another reason than the next two. */
	RDMA_CM_EVENT_CONNECT_ERROR = 6,
	/** No answer (status -ETIMEDOUT), or no such datagram service (positive
	 *  SIDR status). Kernels from 6.1 also send it on a RoCE id whose
	 *  neighbour changes its hardware address; that id goes on working. */
	RDMA_CM_EVENT_UNREACHABLE = 7,
	/** The other side said no. InfiniBand: status is the reason, 28 from
	 *  rdma_reject(), 8 nobody listens, 10 the QP number is still in use
	 *  there, 35 from rdma_reject_ece(). iWARP: a negative errno. */
	RDMA_CM_EVENT_REJECTED = 8,
	/** Connected. For datagrams: param.ud tells how to reach the service. */
	RDMA_CM_EVENT_ESTABLISHED = 9,
	/** The connection is over, by whichever side. */
	RDMA_CM_EVENT_DISCONNECTED = 10,
	/** The device goes away: only rdma_destroy_id() is left to do. */
	RDMA_CM_EVENT_DEVICE_REMOVAL = 11,
	/** Joined; param.ud has the group's address, QP number and Q_Key, and
	 *  param.ud.private_data is the context given to the join. */
	RDMA_CM_EVENT_MULTICAST_JOIN = 12,
	/** The join failed, or the group was lost later. */
	RDMA_CM_EVENT_MULTICAST_ERROR = 13,
	/** The network interface has another hardware address now (bonding). */
	RDMA_CM_EVENT_ADDR_CHANGE = 14,
	/** After DISCONNECTED, up to seconds later: the QP number may be used
	 *  again. Not on iWARP. */
	RDMA_CM_EVENT_TIMEWAIT_EXIT = 15,
	/** rdma_resolve_addrinfo() is done. Stock: since 65.0, as the next three. */
	RDMA_CM_EVENT_ADDRINFO_RESOLVED = 16,
	/** It failed; status is a negative errno or positive SA status. */
	RDMA_CM_EVENT_ADDRINFO_ERROR = 17,
	/** Written by rdma_write_cm_event(); param.arg is the writer's. */
	RDMA_CM_EVENT_USER = 18,
	/** Used between a library and itself; no program meets it. */
	RDMA_CM_EVENT_INTERNAL = 19
};

/** Which service an id is for. The port numbers of each are its own. */
enum rdma_port_space {
	RDMA_PS_IPOIB = 0x0002, /**< datagrams to the QPs of IP over InfiniBand */
	RDMA_PS_TCP = 0x0106,	/**< reliable connections (RC) */
	RDMA_PS_UDP = 0x0111,	/**< datagrams and multicast (UD) */
	RDMA_PS_IB = 0x013F	/**< any type: the id's qp_type tells (UD, UC, RC, XRC) */
};

/*
 * How a 64-bit InfiniBand service id (sockaddr_ib's sib_sid, in host order) is
 * made of a port space and a port.
 */
#define RDMA_IB_IP_PS_MASK 0xFFFFFFFFFFFF0000ULL
#define RDMA_IB_IP_PORT_MASK 0x000000000000FFFFULL
#define RDMA_IB_IP_PS_TCP 0x0000000001060000ULL
#define RDMA_IB_IP_PS_UDP 0x0000000001110000ULL
#define RDMA_IB_PS_IB 0x00000000013F0000ULL

/** The Q_Key of every QP and multicast group of RDMA_PS_UDP and RDMA_PS_IB. */
#define RDMA_UDP_QKEY 0x01234567

/** The InfiniBand address of a connection; on RoCE, GIDs made of IP addresses. */
struct rdma_ib_addr {
	union ibv_gid sgid; /**< ours */
	union ibv_gid dgid; /**< the peer's */
	__be16 pkey;	    /**< partition; 0 on RoCE until a route is known */
};

/** The two ends of an id, zero until known. The family is in src_addr, dst_addr. */
struct rdma_addr {
	__extension__ union {
		struct sockaddr src_addr;
		struct sockaddr_in src_sin;
		struct sockaddr_in6 src_sin6;
		struct sockaddr_storage src_storage;
	};
	__extension__ union {
		struct sockaddr dst_addr;
		struct sockaddr_in dst_sin;
		struct sockaddr_in6 dst_sin6;
		struct sockaddr_storage dst_storage;
	};
	union {
		struct rdma_ib_addr ibaddr; /**< valid once the id has a device */
	} addr;
};

/** The way to the peer. */
struct rdma_route {
	struct rdma_addr addr;
	/** num_paths records, owned by the id; NULL while num_paths is 0. */
	struct ibv_sa_path_rec *path_rec;
	int num_paths; /**< 0 until the route is resolved */
};

/**
 * Where events arrive. A program may change the descriptor's flags and wait for
 * it with poll(2) or epoll(7) (readable: an event is there). Close-on-exec.
 */
struct rdma_event_channel {
	int fd; /**< open descriptor of /dev/infiniband/rdma_cm */
};

/**
 * The public part of an id; what the library needs besides is behind it. Made by
 * rdma_create_id(), rdma_create_ep() or a connection request, never by the
 * program. It may write 'context', and of QPs of its own 'qp' and the CQs;
 * everything else is to be read only.
 */
struct rdma_cm_id {
	/** The device; NULL until the id is bound to one. Shared by all ids of
	 *  the device, closed by the library. */
	struct ibv_context *verbs;
	/** Where its events arrive; of a synchronous id the library's own. */
	struct rdma_event_channel *channel;
	/** The program's. A requested id starts with its listener's. */
	void *context;
	/** Made by rdma_create_qp(), or NULL. */
	struct ibv_qp *qp;
	struct rdma_route route;
	enum rdma_port_space ps;
	/** The device's port, from 1; 0 until the id is bound to a device. */
	uint8_t port_num;
	/** Synchronous ids: what the last call brought, until the next call on
	 *  the id. Never to be acknowledged. NULL for asynchronous ids. */
	struct rdma_cm_event *event;
	/** The next four are rdma_create_qp()'s; NULL where the caller brought
	 *  a CQ of its own. */
	struct ibv_comp_channel *send_cq_channel;
	struct ibv_cq *send_cq;
	struct ibv_comp_channel *recv_cq_channel;
	struct ibv_cq *recv_cq;
	/** Made by rdma_create_srq(), or NULL. */
	struct ibv_srq *srq;
	/** The protection domain of the QP or SRQ: the caller's or the device's
	 *  default one. */
	struct ibv_pd *pd;
	enum ibv_qp_type qp_type;
};

enum {
	/** As responder_resources, initiator_depth: as many as the device and
	 *  (when accepting) the peer's offer allow. */
	RDMA_MAX_RESP_RES = 0xFF,
	RDMA_MAX_INIT_DEPTH = 0xFF
};

/**
 * How a connection shall be, and, in an event, how the peer wants it. For
 * datagrams only the private data count, and qp_num and srq where the id has no
 * QP of the library's.
 */
struct rdma_conn_param {
	/** In a call: copied, may be NULL if the length is 0. In an event: the
	 *  library's until the acknowledgement, NULL if there are none. */
	const void *private_data;
	/** Bytes. The limits are at rdma_connect(), rdma_accept(), rdma_reject().
	 *  An event has the limit instead, padded with zeros, as the true length
	 *  does not travel (iWARP: it does). */
	uint8_t private_data_len;
	/** RDMA reads and atomics of the peer that we serve at a time. In an
	 *  event: those that the peer would like us to serve. */
	uint8_t responder_resources;
	/** Those of ours that the peer serves at a time. */
	uint8_t initiator_depth;
	/** Told to the peer, without other effect. */
	uint8_t flow_control;
	/** 0 to 7, more counts as 7: how often unanswered packets are sent again,
	 *  on both sides. Ignored by rdma_accept(). */
	uint8_t retry_count;
	/** 0 to 7, 7 for ever: how often the peer tries again when we have no
	 *  receive posted. */
	uint8_t rnr_retry_count;
	/** Not 0 if the QP has an SRQ. Ignored, as qp_num, if the library made
	 *  the QP. */
	uint8_t srq;
	/** In a call: our QP, for QPs of the program's. In an event: the peer's. */
	uint32_t qp_num;
};

/** How to reach a datagram service or a multicast group. */
struct rdma_ud_param {
	/** As in rdma_conn_param. In multicast events the join's context. */
	const void *private_data;
	uint8_t private_data_len;
	/** For ibv_create_ah(). */
	struct ibv_ah_attr ah_attr;
	uint32_t qp_num; /**< 0xffffff for a multicast group */
	uint32_t qkey;
};

/** One event. The library's until rdma_ack_cm_event(). */
struct rdma_cm_event {
	/** Whose event it is; of a CONNECT_REQUEST the new id, which is the
	 *  program's from then on. */
	struct rdma_cm_id *id;
	/** The listener of a CONNECT_REQUEST, else NULL. */
	struct rdma_cm_id *listen_id;
	enum rdma_cm_event_type event;
	int status; /**< see enum rdma_cm_event_type */
	/** 'ud' where the id is for datagrams and in multicast events, 'arg' in
	 *  RDMA_CM_EVENT_USER, else 'conn'. */
	union {
		struct rdma_conn_param conn;
		struct rdma_ud_param ud;
		uint64_t arg; /**< stock: since 65.0 */
	} param;
};

/* ai_flags of rdma_getaddrinfo(). */
#define RAI_PASSIVE 0x00000001	   /* addresses to listen on */
#define RAI_NUMERICHOST 0x00000002 /* the node is a number: look nothing up */
#define RAI_NOROUTE 0x00000004	   /* do not look for paths; we never do */
#define RAI_FAMILY 0x00000008	   /* AF_IB counts; other families do in any case */
#define RAI_SA 0x00000010	   /* for rdma_resolve_addrinfo(); stock: since 65.0 */
#define RAI_DNS 0x00000020	   /* the same */

/** An answer of rdma_getaddrinfo(), or its hints. */
struct rdma_addrinfo {
	int ai_flags;	   /**< RAI_ bits */
	int ai_family;	   /**< AF_INET, AF_INET6, AF_IB */
	int ai_qp_type;	   /**< enum ibv_qp_type; 0 in hints: any */
	int ai_port_space; /**< enum rdma_port_space; 0 in hints: by ai_qp_type */
	socklen_t ai_src_len; /**< bytes at ai_src_addr; 0: none */
	socklen_t ai_dst_len; /**< bytes at ai_dst_addr; 0 if passive */
	struct sockaddr *ai_src_addr;
	struct sockaddr *ai_dst_addr;
	char *ai_src_canonname;
	char *ai_dst_canonname;
	size_t ai_route_len; /**< bytes at ai_route */
	void *ai_route;	     /**< struct ibv_path_data[], or NULL */
	size_t ai_connect_len;
	void *ai_connect; /**< to be sent first among the private data, or NULL */
	struct rdma_addrinfo *ai_next; /**< NULL: the last */
};

/** comp_mask of rdma_cm_join_mc_attr_ex: which fields are set. */
enum rdma_cm_join_mc_attr_mask {
	RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1 << 0,
	RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 1 << 1,
	RDMA_CM_JOIN_MC_ATTR_RESERVED = 1 << 2 /**< the first bit without a field */
};

/** How to join. One of them, not bits. */
enum rdma_cm_mc_join_flags {
	RDMA_MC_JOIN_FLAG_FULLMEMBER = 0,	   /**< send and receive */
	RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER = 1, /**< send; the QP is not attached */
	RDMA_MC_JOIN_FLAG_RESERVED = 2		   /**< the first value without meaning */
};

/** For rdma_join_multicast_ex(). */
struct rdma_cm_join_mc_attr_ex {
	uint32_t comp_mask;    /**< both bits of enum rdma_cm_join_mc_attr_mask */
	uint32_t join_flags;   /**< an enum rdma_cm_mc_join_flags */
	struct sockaddr *addr; /**< the group */
};

/** 'level' of rdma_set_option(). */
enum {
	RDMA_OPTION_ID = 0, /**< the id */
	RDMA_OPTION_IB = 1  /**< InfiniBand's routes */
};

/** 'optname' at RDMA_OPTION_ID. */
enum {
	RDMA_OPTION_ID_TOS = 0,	      /**< uint8_t: traffic class; before the route */
	RDMA_OPTION_ID_REUSEADDR = 1, /**< int: as SO_REUSEADDR */
	RDMA_OPTION_ID_AFONLY = 2,    /**< int: as IPV6_V6ONLY; before listening */
	RDMA_OPTION_ID_ACK_TIMEOUT = 3 /**< uint8_t: 0 to 31, 4.096 us * 2^value */
};

/** 'optname' at RDMA_OPTION_IB. */
enum {
	RDMA_OPTION_IB_PATH = 1 /**< struct ibv_path_data[]: instead of a route look-up */
};

#endif
