// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/qpattr/probe/message.hpp"
#include "tools/qpattr/probe/plan.hpp"

namespace qpattr::tool::probe {
namespace {

// Reasons of a REJECTED event, by the InfiniBand specification's numbers.
constexpr int reason_no_service = 8;
constexpr int reason_consumer = 28;
constexpr int datagram_no_service = 1;

struct advice {
	int code;
	const char *call; // "": whichever
	const char *text;
};

// Where the layer's own hint does not say what to do with this command.
constexpr advice advices[] = {
	{EADDRINUSE, "", "something listens on this port already: choose another one, or end it "
			 "(rdma resource show cm_id)"},
	{EADDRNOTAVAIL, "", "the address is not of this machine: ip address"},
	{EACCES, "rdma_bind_addr", "a port below 1024 wants root"},
	{ENODEV, "rdma_bind_addr", "no RDMA device has this address: qpattr doctor lists those that "
				   "lead to one"},
	{ENODEV, "rdma_resolve_addr", "no RDMA device leads there: qpattr doctor, ip route get"},
	{ENETUNREACH, "", "there is no route: ip route get"},
	{EHOSTUNREACH, "", "no neighbour answers there: ping"},
	{EINVAL, "rdma_resolve_route", "the interface's MTU is too small for RoCE, or the route is "
				       "none: qpattr doctor"},
	{EINVAL, "rdma_resolve_addr", "the address is none that can be reached so"},
};

std::string unversioned(unsigned theirs, const std::string &peer)
{
	return fmt::format("the probe at {} speaks version {} of the protocol, this one {}: use the "
			   "same qpattr at both ends",
			   peer, theirs, protocol_version);
}

} // namespace

std::string told(error why, const std::string &about)
{
	std::string fix = why.hint();
	for (const advice &each : advices)
		if (each.code == why.code && (!*each.call || std::strcmp(each.call, why.call) == 0)) {
			fix = each.text;
			break;
		}
	if (fix.empty())
		fix = "see qpattr doctor";
	return fmt::format("{}: {}: {}: {}", about, why.call, std::strerror(why.code), fix);
}

channel opened_channel()
{
	auto made = channel::create();
	if (!made) {
		error why = made.why();
		throw failure{fmt::format("{}: {}: {}; see qpattr doctor", QPATTR_DEVICE_PATH,
					  std::strerror(why.code),
					  *why.hint() ? why.hint() : "it cannot be opened")};
	}
	channel out = std::move(made).value();
	// A request that there are no means for is refused, and who reads it would wait for another.
	if (const auto done = out.set_nonblocking(true); !done)
		throw failure{fmt::format("{}: it cannot be told not to block: {}",
					  QPATTR_DEVICE_PATH, std::strerror(done.why().code))};
	return out;
}

std::string refusal(const event &came, const std::string &peer, bool udp)
{
	const int status = came.status();
	const auto nobody = [&] {
		return fmt::format("nobody listens at {}: start `qpattr probe --listen{}` there", peer,
				   udp ? " --udp" : "");
	};
	if (came.is(RDMA_CM_EVENT_REJECTED)) {
		if (status == reason_no_service)
			return nobody();
		if (const auto said = greeting_in(came.private_data())) {
			if (said->kind == greeting_kind::other_version)
				return unversioned(said->version, peer);
			return fmt::format("the probe at {} has too many clients: try again", peer);
		}
		if (status == reason_consumer)
			return fmt::format("what listens at {} refused: it is no qpattr probe, or it "
					   "ended just now; start `qpattr probe --listen` there",
					   peer);
		return fmt::format("{} rejected the connection, reason {}: see the cm's reasons in "
				   "the InfiniBand specification, and qpattr doctor there",
				   peer, status);
	}
	if (came.is(RDMA_CM_EVENT_UNREACHABLE)) {
		if (status == datagram_no_service)
			return nobody();
		return fmt::format("{} does not answer: is net.rdma_ucm.max_backlog 0 there (qpattr "
				   "doctor), and is UDP port 4791 let through?",
				   peer);
	}
	const int code = came.status_errno();
	if (came.is(RDMA_CM_EVENT_ADDR_ERROR) || came.is(RDMA_CM_EVENT_ROUTE_ERROR))
		return told({code ? code : EPROTO,
			     came.is(RDMA_CM_EVENT_ADDR_ERROR) ? "rdma_resolve_addr"
							       : "rdma_resolve_route"},
			    peer);
	return fmt::format("{}: the connection ended by {}{}{}", peer, came.name(),
			   code ? ": " : "", code ? std::strerror(code) : "");
}

void insist_on_probe(std::span<const std::byte> private_data, const std::string &peer)
{
	const auto said = greeting_in(private_data);
	if (!said)
		throw failure{fmt::format("what listens at {} is no qpattr probe: start `qpattr probe "
					  "--listen` there, on a port of its own",
					  peer)};
	if (said->version != protocol_version)
		throw failure{unversioned(said->version, peer)};
}

end_facts facts_of(const id_ref &id, const char *end, bool udp, std::uint32_t qp_num)
{
	end_facts out;
	out.end = end;
	out.id = fmt::format("{}", static_cast<const void *>(id.native_handle()));
	out.device = id.verbs() ? ::ibv_get_device_name(id.verbs()->device) : "";
	out.port = id.port_num();
	out.udp = udp;
	out.qp_num = qp_num;
	out.src = text_of(id.local_address().get());
	out.dst = text_of(id.peer_address().get());
	return out;
}

parameters parameters_of(const queue &of, std::span<const std::byte> data)
{
	const auto byte_of = [](int limit) {
		return static_cast<std::uint8_t>(std::clamp(limit, 0, 255));
	};
	parameters out;
	out.private_data = data;
	out.qp_num = of.number();
	out.responder_resources = byte_of(of.limits().max_qp_rd_atom);
	out.initiator_depth = byte_of(of.limits().max_qp_init_rd_atom);
	return out;
}

} // namespace qpattr::tool::probe
