// SPDX-License-Identifier: MIT
// An event of the connection manager with its status. What else ends a connection is in
// completion.cpp.
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/explain/explain.hpp"

namespace qpattr::tool {
namespace {

struct event {
	const char *name;
	const char *is;
	const char *next;
};
// By number, as enum rdma_cm_event_type has them.
constexpr std::array events{
	event{"ADDR_RESOLVED",
	      "the destination's address is resolved: the id has a device and a port",
	      "rdma_create_qp() and rdma_resolve_route(). rdma_init_qp_attr() answers INIT's "
	      "attributes from here on, with no access flags"},
	event{"ADDR_ERROR", "the address was not resolved; the status is an errno",
	      "rdma_resolve_addr() again, or destroy the id"},
	event{"ROUTE_RESOLVED", "the path is known", "rdma_connect()"},
	event{"ROUTE_ERROR", "no path (InfiniBand: the subnet manager's answer)",
	      "rdma_resolve_route() again"},
	event{"CONNECT_REQUEST",
	      "the listener has got a request; the event's id is a new one, with the peer's offer "
	      "in "
	      "param.conn",
	      "rdma_create_qp() on the new id, then rdma_accept() or rdma_reject(). INIT, RTR and "
	      "RTS "
	      "are answered now, the read depths with the peer's offer"},
	event{"CONNECT_RESPONSE",
	      "the peer has accepted, and the id has no QP of librdmacm's: the program moves it",
	      "rdma_init_qp_attr() for INIT, RTR and RTS, then rdma_establish() or rdma_accept()"},
	event{"CONNECT_ERROR", "the connection failed on this side; the status is an errno",
	      "destroy the id"},
	event{"UNREACHABLE",
	      "nobody answered (status -110), or a datagram request was refused (status 1: nobody "
	      "listens, 2: rejected). From kernel 6.1 on it also comes, with -110, when the peer's "
	      "hardware address changes: then nothing has ended",
	      "ask for INIT: EINVAL means that the connection is over"},
	event{"REJECTED", "the peer has refused; the status is the reason", "destroy the id"},
	event{"ESTABLISHED", "the connection is up", "send and receive"},
	event{"DISCONNECTED",
	      "this side or the peer has disconnected; status -110: the peer did not answer that",
	      "rdma_disconnect() to answer, then destroy. rdma_init_qp_attr() is EINVAL from here "
	      "on, "
	      "even before the event is read"},
	event{"DEVICE_REMOVAL", "the RDMA device goes away", "destroy the id: all else is ENXIO"},
	event{"MULTICAST_JOIN", "the group is joined; param.ud has its address and Q_Key",
	      "send to it"},
	event{"MULTICAST_ERROR", "the group was not joined; the status is an errno", "join again"},
	event{"ADDR_CHANGE", "the interface under the id has moved to another port (bonding)",
	      "a new connection over the new port"},
	event{"TIMEWAIT_EXIT",
	      "after DISCONNECTED: the QP number may be used for a new connection from here on",
	      "nothing"},
};

struct reason {
	int status;
	const char *text;
};
// Of REJECTED: the InfiniBand connection manager's reasons that are met.
constexpr std::array reject_reasons{
	reason{4, "a timeout: the peer had given up"},
	reason{8, "no such service: nobody listens on that port"},
	reason{10,
	       "stale connection: the peer still has a connection with this QP number, which is "
	       "now ended; use another QP number or wait for TIMEWAIT_EXIT"},
	reason{28,
	       "rdma_reject() of the peer's program, an accept of it that failed, or an id that "
	       "was destroyed before it answered"},
	reason{35, "the vendor option was refused (rdma_reject_ece())"},
};

std::string stripped(std::string name, std::string_view prefix)
{
	return name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : name;
}

std::string status_text(const event &of, std::int64_t status)
{
	if (status == 0)
		return "success";
	const bool of_address = std::strncmp(of.name, "ADDR", 4) == 0;
	if (of_address && status == -ETIMEDOUT)
		return "ETIMEDOUT: nobody answers for that address on its network: ping it";
	if (of_address && status == -ENODEV)
		return "ENODEV: the interface that leads there has no RDMA device: qpattr doctor";
	if (status == -ENETUNREACH || status == -EHOSTUNREACH)
		return fmt::format("{}: no route leads there: ip route get ADDRESS",
				   ::strerrorname_np(static_cast<int>(-status)));
	if (status < 0 && status > -4096) {
		const char *const name = ::strerrorname_np(static_cast<int>(-status));
		return fmt::format("{}: {}", name ? name : "an errno",
				   std::strerror(static_cast<int>(-status)));
	}
	if (std::strcmp(of.name, "REJECTED") == 0)
		for (const reason &each : reject_reasons)
			if (each.status == status)
				return each.text;
	if (std::strcmp(of.name, "UNREACHABLE") == 0 && status <= 2)
		return status == 1 ? "no such service: nobody listens" : "rejected by the peer";
	return "a reason of the connection manager's protocol";
}

} // namespace

void add_event_names(std::vector<std::string> &to)
{
	for (const event &each : events)
		to.emplace_back(each.name);
}

std::optional<page> explain_event(const words &said)
{
	const std::string name = stripped(upper(said.front()), "RDMA_CM_EVENT_");
	const event *found = nullptr;
	for (const event &each : events)
		if (name == each.name)
			found = &each;
	if (!found || said.size() > 2)
		return std::nullopt;
	page out;
	out.data["kind"] = "event";
	out.data["event"] = found->name;
	out.data["number"] = found - events.data();
	section main;
	main.title = fmt::format("{}, event {}", found->name, found - events.data());
	main.facts.push_back({"is", found->is});
	if (said.size() == 2) {
		const bool negative = said[1].front() == '-';
		const auto number = number_of(negative ? said[1].substr(1) : said[1]);
		if (!number || *number > 100000)
			throw failure{
				fmt::format("the status of an event is a number: {} -110, {} 28",
					    found->name, found->name),
				usage_status};
		const auto status = negative ? -static_cast<std::int64_t>(*number)
					     : static_cast<std::int64_t>(*number);
		const std::string text = status_text(*found, status);
		out.data["status"] = status;
		out.data["meaning"] = text;
		main.facts.push_back({fmt::format("status {}", status), text});
	}
	main.facts.push_back({"next", found->next});
	out.sections.push_back(main);
	return out;
}

} // namespace qpattr::tool
