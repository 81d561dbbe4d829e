// SPDX-License-Identifier: MIT
// <rdma/rdma_user_cm.h>, so that it can stand beside <rdma/rdma_cma.h>.
//
// The two headers name the same enumerators. The kernel's are read here under
// other names, which nothing uses: the public ones are the same numbers
// (layout.cpp).
#pragma once

#define RDMA_PS_IPOIB qpattr_kernel_PS_IPOIB
#define RDMA_PS_IB qpattr_kernel_PS_IB
#define RDMA_PS_TCP qpattr_kernel_PS_TCP
#define RDMA_PS_UDP qpattr_kernel_PS_UDP
#define RDMA_OPTION_ID qpattr_kernel_OPTION_ID
#define RDMA_OPTION_IB qpattr_kernel_OPTION_IB
#define RDMA_OPTION_ID_TOS qpattr_kernel_OPTION_ID_TOS
#define RDMA_OPTION_ID_REUSEADDR qpattr_kernel_OPTION_ID_REUSEADDR
#define RDMA_OPTION_ID_AFONLY qpattr_kernel_OPTION_ID_AFONLY
#define RDMA_OPTION_ID_ACK_TIMEOUT qpattr_kernel_OPTION_ID_ACK_TIMEOUT
#define RDMA_OPTION_IB_PATH qpattr_kernel_OPTION_IB_PATH
#define RDMA_MC_JOIN_FLAG_FULLMEMBER qpattr_kernel_MC_JOIN_FLAG_FULLMEMBER
#define RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER qpattr_kernel_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
#define RDMA_MC_JOIN_FLAG_RESERVED qpattr_kernel_MC_JOIN_FLAG_RESERVED

#include <rdma/rdma_user_cm.h>

#undef RDMA_PS_IPOIB
#undef RDMA_PS_IB
#undef RDMA_PS_TCP
#undef RDMA_PS_UDP
#undef RDMA_OPTION_ID
#undef RDMA_OPTION_IB
#undef RDMA_OPTION_ID_TOS
#undef RDMA_OPTION_ID_REUSEADDR
#undef RDMA_OPTION_ID_AFONLY
#undef RDMA_OPTION_ID_ACK_TIMEOUT
#undef RDMA_OPTION_IB_PATH
#undef RDMA_MC_JOIN_FLAG_FULLMEMBER
#undef RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
#undef RDMA_MC_JOIN_FLAG_RESERVED
