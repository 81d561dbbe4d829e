// SPDX-License-Identifier: MIT
// An errno: of rdma_init_qp_attr() by the state that was asked for, and of every other
// call by docs/errors.md.
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "lib/attr/names.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/explain/explain.hpp"

namespace qpattr::tool {
namespace {

struct documented {
	const char *where;
	const char *name;
	const char *cause;
	const char *advice;
};
constexpr documented errors_rows[] = {
#include "errors_rows.inc"
};

// For the state of an id: what the answer does not depend on.
constexpr const char *not_asked = "not asked";

constexpr unsigned init = 1U << IBV_QPS_INIT;
constexpr unsigned rtr = 1U << IBV_QPS_RTR;
constexpr unsigned rts = 1U << IBV_QPS_RTS;
constexpr unsigned moves = init | rtr | rts;
constexpr unsigned others =
	1U << IBV_QPS_RESET | 1U << IBV_QPS_SQD | 1U << IBV_QPS_SQE | 1U << IBV_QPS_ERR;
constexpr unsigned every = moves | others;

// A state of the connection manager in which the kernel answers so; the likelier first.
struct cause {
	int number;
	unsigned asked; // bit by QP state
	const char *id_is;
	const char *why;
	const char *next;
};
constexpr std::array causes{
	cause{EINVAL, rtr | rts, "connecting",
	      "too early: the active side has called rdma_connect(), and the peer has not answered",
	      "wait for CONNECT_RESPONSE; then INIT, RTR and RTS are answered, then rdma_accept() "
	      "(with a QP on the id librdmacm does all that inside rdma_get_cm_event())"},
	cause{EINVAL, moves, "disconnected",
	      "too late: this side or the peer has disconnected, and the kernel knows before the "
	      "program has read DISCONNECTED",
	      "rdma_destroy_id(); a new id for a new connection"},
	cause{EINVAL, moves, "rejected or unreachable",
	      "too late: the peer has refused, has not answered, or has gone away before "
	      "rdma_accept()",
	      "read the event, whose status says which; rdma_destroy_id()"},
	cause{EINVAL, every, "without a device",
	      "just created, bound to a wildcard address (0.0.0.0, ::), or its address is being "
	      "resolved",
	      "rdma_bind_addr() to an address of the device, or await ADDR_RESOLVED"},
	cause{EINVAL, every, "a listener bound to a device",
	      "a listener has no connection; the events bring its connections as ids of their own",
	      "ask about the id of the CONNECT_REQUEST event"},
	cause{EINVAL, others, "connecting, connected or ended",
	      "once there is a connection only INIT, RTR and RTS are answered",
	      "ibv_modify_qp() with IBV_QP_STATE alone needs no answer for RESET and ERR"},
	cause{EINVAL, every, "of another descriptor",
	      "the handle was made on another open file than the call was written to",
	      "ask on the channel of the id; rdma_migrate_id() to move it, not an assignment"},
	cause{EINVAL, every, not_asked,
	      "an argument is NULL, or the id has no channel (qpattr; stock librdmacm crashes)",
	      "look at the arguments"},
	cause{ENOENT, every, "destroyed",
	      "the kernel does not know the handle: the id was destroyed, perhaps by another "
	      "thread",
	      "no call on it any more"},
	cause{ENOENT, every, "of UD, or not connected yet",
	      "the partition of the interface is not in the port's P_Key table (InfiniBand)",
	      "compare the interface's P_Key with qpattr doctor's table"},
	cause{ENXIO, every, "without its device", "the RDMA device was removed under the id",
	      "rdma_destroy_id() is the only call that works"},
	cause{EACCES, every, "of other credentials",
	      "the channel was opened before a fork, an exec or a change of credentials (setuid, "
	      "setgroups, capabilities, a new user namespace)",
	      "make channel and ids in the process that uses them, after its credentials are "
	      "final"},
	cause{ENODATA, every, not_asked,
	      "the write was short: the channel's descriptor is not /dev/infiniband/rdma_cm",
	      "look who closed the descriptor: its number was given out again"},
	cause{EBADF, every, not_asked, "the channel's descriptor is closed or not for writing",
	      "look who closed it"},
	cause{ENOSYS, every, "on an unusual port",
	      "the port has neither an InfiniBand nor an iWARP connection manager",
	      "another device"},
	cause{ENOSYS, every, not_asked, "with the preload object: no librdmacm is in the process",
	      "qpattr-coverage PROGRAM tells how the program comes to the function"},
	cause{EADDRNOTAVAIL, every, "of port space IPOIB",
	      "the kernel does not know the broadcast group of the IPoIB interface (yet)",
	      "wait until the interface is up and has joined it"},
	cause{ENOSPC, every, not_asked, "the place for the reply is less than 144 bytes",
	      "of interest only to who writes the command himself"},
	cause{EFAULT, every, not_asked, "the place for the reply cannot be written",
	      "of interest only to who writes the command himself"},
};

// The number of an errno by its name or itself; nothing else than a known one.
std::optional<int> errno_named(const std::string &text)
{
	const std::string name = upper(text);
	std::string_view digits = text;
	if (!digits.empty() && digits.front() == '-')
		digits.remove_prefix(1);
	const auto number = digits.find_first_not_of("0123456789") == std::string_view::npos
				    ? number_of(digits)
				    : std::nullopt;
	for (int each = 1; each < 4096; ++each)
		if (const char *known = ::strerrorname_np(each))
			if (name == known || (number && *number == static_cast<unsigned>(each)))
				return each;
	return std::nullopt;
}

std::string called(int number)
{
	const char *const name = ::strerrorname_np(number);
	return name ? name : fmt::format("errno {}", number);
}

std::vector<remark> causes_of(int number, unsigned asked)
{
	std::vector<remark> out;
	for (const cause &each : causes)
		if (each.number == number && (each.asked & asked))
			out.push_back({attr::severity::problem, each.id_is, "", each.why, each.next,
				       false});
	return out;
}

// nullptr where it is not known.
const char *why_modify_fails(int number)
{
	if (number == EINVAL)
		return "a value does not suit the device or the port (sgid_index not in the table, "
		       "path_mtu above the active MTU, a read depth above the device's), an "
		       "attribute that the transition needs is not in the mask, or the QP was not "
		       "in the state before";
	if (number == EOPNOTSUPP)
		return "a reserved bit of the mask, 21 to 24 (qpattr explain MASK)";
	return nullptr;
}

// As facts: the state of the id, and under it what happened and what is next.
void add_causes(page &to, int number, unsigned asked, const std::string &title)
{
	section main;
	main.title = title;
	auto &list = to.data["causes"] = nlohmann::ordered_json::array();
	for (const remark &each : causes_of(number, asked)) {
		list.push_back({{"id_is", each.id}, {"why", each.reason}, {"next", each.advice}});
		const bool asked_kernel = each.id != not_asked;
		main.facts.push_back({asked_kernel ? "the id is" : "the kernel",
				      asked_kernel ? each.id : "was not asked"});
		main.facts.push_back({"  because", each.reason});
		main.facts.push_back({"  next", each.advice});
	}
	if (main.facts.empty())
		main.facts.push_back(
			{"",
			 "not an errno of its own: it comes of write(2) on the descriptor, or of "
			 "ibv_modify_qp() (see below)"});
	if (const char *const why = asked & (rtr | rts) ? why_modify_fails(number) : nullptr)
		main.facts.push_back({"or", fmt::format("if it was ibv_modify_qp(): {}", why)});
	to.sections.push_back(main);
}

section of_modify(int number, const std::string &title)
{
	section out;
	out.title = title + ", of ibv_modify_qp";
	if (const char *const why = why_modify_fails(number))
		out.facts.push_back({"because", why});
	else
		out.facts.push_back(
			{"", "the device's driver answers so: its manual, or the kernel's log"});
	return out;
}

// The rows of the document, of one function or of all.
void add_documented(page &to, const std::string &name, const std::string &function)
{
	section rows;
	rows.title = function.empty() ? fmt::format("{} of other calls", name)
				      : fmt::format("{} of {}", name, function);
	auto &list = to.data["documented"] = nlohmann::ordered_json::array();
	std::string last;
	for (const documented &each : errors_rows) {
		const std::string where = each.where;
		if (name != each.name || (!function.empty() && where != function))
			continue;
		if (function.empty() && where.find("rdma_init_qp_attr") != std::string::npos)
			continue; // said above, state by state
		std::string text = each.cause;
		if (*each.advice)
			text += fmt::format(" {} {}", arrow(), each.advice);
		rows.facts.push_back({where == last ? "" : where, text});
		last = where;
		list.push_back(
			{{"function", where}, {"cause", each.cause}, {"advice", each.advice}});
	}
	if (!rows.facts.empty())
		to.sections.push_back(rows);
}

bool is_documented(const std::string &function)
{
	for (const documented &each : errors_rows)
		if (function == each.where)
			return true;
	return false;
}

} // namespace

void add_errno_names(std::vector<std::string> &to)
{
	for (int each = 1; each < 4096; ++each)
		if (const char *known = ::strerrorname_np(each))
			to.emplace_back(known);
}

std::optional<page> explain_errno(const words &said)
{
	words rest = said;
	if (rest.size() > 1 && lower(rest.front()) == "errno")
		rest.erase(rest.begin());
	if (rest.size() == 2 && (state_named(rest[0]) || is_documented(rest[0])))
		std::swap(rest[0], rest[1]);
	const std::optional<int> number = errno_named(rest.front());
	if (!number || rest.size() > 2)
		return std::nullopt;
	const std::string name = called(*number);
	page out;
	out.data["kind"] = "errno";
	out.data["errno"] = name;
	out.data["number"] = *number;
	std::string title = fmt::format("{} ({}): {}", name, *number, std::strerror(*number));
	if (rest.size() == 1) {
		const auto written = number_of(rest.front());
		const std::string completion = written ? completion_numbered(*written) : "";
		const bool own = !causes_of(*number, moves).empty();
		if (own)
			add_causes(out, *number, moves,
				   title + fmt::format("; of rdma_init_qp_attr"));
		add_documented(out, name, "");
		if (!own && !out.sections.empty())
			out.sections.front().title = title + "; of these calls";
		if (out.sections.empty()) {
			section main;
			main.title = title;
			main.facts.push_back({"",
					      "no error that the connection manager's calls are "
					      "known to answer with"});
			out.sections.push_back(main);
		}
		if (!completion.empty())
			out.sections.front().facts.push_back(
				{"or", fmt::format("as the status of a completion: qpattr explain {}",
						   completion)});
		if (*number == ETIMEDOUT || *number == ENODEV)
			out.sections.front().facts.push_back(
				{"or", fmt::format("as the status of an event: qpattr explain "
						   "ADDR_ERROR -{0}, UNREACHABLE -{0}",
						   *number)});
		return out;
	}
	if (const auto state = state_named(rest[1]); state || number_of(rest[1])) {
		if (!state && *number == EINVAL && *number_of(rest[1]) > IBV_QPS_ERR) {
			section main;
			main.title = fmt::format("EINVAL for state {}", rest[1]);
			main.facts.push_back({"",
					      "there is no such QP state: attr.qp_state is 0 to 6, "
					      "and was perhaps never set"});
			out.sections.push_back(main);
			return out;
		}
		const std::uint64_t asked = state ? *state : *number_of(rest[1]);
		if (asked > IBV_QPS_ERR)
			throw failure{
				fmt::format("{} is no QP state: RESET (0) to ERR (6)", rest[1]),
				usage_status};
		const char *const called_state =
			attr::qp_state_name(static_cast<std::uint32_t>(asked));
		out.data["state"] = called_state;
		add_causes(out, *number, 1U << asked,
			   fmt::format("{}, asked for {}", title, called_state));
		return out;
	}
	std::string function = rest[1];
	if (const std::size_t end = function.find('('); end != std::string::npos)
		function.erase(end);
	if (function == "ibv_modify_qp") {
		out.data["causes"] = nlohmann::ordered_json::array(); // none of an id
		out.sections.push_back(of_modify(*number, title));
		return out;
	}
	if (is_documented(function)) {
		add_documented(out, name, function);
		if (!out.sections.empty())
			return out;
		throw failure{fmt::format("{} is not known to answer {}: see qpattr explain {}",
					  function, name, name)};
	}
	throw failure{fmt::format("'{}' is no QP state (RTR) and no function with known errors",
				  harmless(rest[1])),
		      usage_status};
}

} // namespace qpattr::tool
