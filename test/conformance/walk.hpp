// SPDX-License-Identifier: MIT
// Connections led through their stages, both sides in this process, over the
// real kernel. At each stage every id alive is a stop of the report.
#pragma once

#include "test/conformance/endpoint.hpp"
#include "test/conformance/report.hpp"

namespace conformance {

// Whose the QP of a connection is. With one of librdmacm's, librdmacm answers
// the peer's response by itself; with another, the program reads the response.
enum class qp_kind { librdmacm, own };

// RC from the first id to the end of timewait.
void walk_connection(report &to, const address &where, qp_kind kind);
// RC that the peer rejects, that nobody listens for, whose peer destroys its id.
void walk_endings(report &to, const address &where);
// Listeners, on the wildcard address and on a device.
void walk_listeners(report &to, const address &where);
// UD over RDMA_PS_UDP.
void walk_datagrams(report &to, const address &where);
// Ids that the kernel does not know, or not on this descriptor.
void walk_strangers(report &to, const address &where);

} // namespace conformance
