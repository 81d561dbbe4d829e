// SPDX-License-Identifier: MIT
// A completion's status: by its name, its number, or the words of ibv_wc_status_str().
#include <array>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "tools/qpattr/explain/explain.hpp"

namespace qpattr::tool {
namespace {

struct completion {
	ibv_wc_status number;
	const char *name;
	const char *is;
	const char *causes;
	const char *next;
};
constexpr std::array completions{
	completion{IBV_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR", "no acknowledgement came, retry_cnt + 1 times",
		   "the peer is dead or its QP gone; packets larger than the path carries "
		   "(path_mtu); wrong GID, VLAN or RoCE version; a timeout too short for the "
		   "network",
		   "qpattr compare both ends; qpattr explain timeout CODE, path_mtu CODE"},
	completion{IBV_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR", "the peer had no receive posted, rnr_retry + 1 times",
		   "rnr_retry is small, or the peer posts receives late",
		   "post receives before the connection is accepted; rnr_retry 7; qpattr explain "
		   "rnr_retry CODE"},
	completion{IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR", "the peer refused access to its memory",
		   "its QP's access flags lack REMOTE_READ or REMOTE_WRITE; its region does; wrong "
		   "rkey or address",
		   "qpattr explain qp_access_flags; INIT again once connected gives the flags"},
	completion{IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR", "the peer took the request for invalid",
		   "a READ or atomic above its max_dest_rd_atomic; a message longer than its "
		   "receive; an operation that its QP does not do",
		   "qpattr compare: max_rd_atomic against max_dest_rd_atomic"},
	completion{IBV_WC_REM_OP_ERR, "REM_OP_ERR", "the peer could not complete the request", "its own QP failed",
		   "look at the peer's completions"},
	completion{IBV_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR", "the QP was in error when the request's turn came",
		   "another completion before it, or a disconnect",
		   "look for the first completion that is neither success nor this one"},
	completion{IBV_WC_LOC_LEN_ERR, "LOC_LEN_ERR", "a message is longer than its place here",
		   "a receive that is smaller than the peer's message; a send above the port's "
		   "maximum",
		   "compare the lengths that the two programs post"},
	completion{IBV_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR", "this device could not do the request",
		   "an operation or inline length that this kind of QP does not do; the port or "
		   "the device went down meanwhile",
		   "qpattr doctor; the request's opcode, flags and lengths"},
	completion{IBV_WC_LOC_PROT_ERR, "LOC_PROT_ERR", "a buffer of this side is not its region's",
		   "wrong lkey or address; a region that was deregistered or is another protection "
		   "domain's",
		   "the request's scatter list against ibv_reg_mr()"},
	completion{IBV_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR",
		   "the peer's write with immediate did not suit the memory here",
		   "the region lacks LOCAL_WRITE or REMOTE_WRITE", "ibv_reg_mr()'s access flags"},
	completion{IBV_WC_BAD_RESP_ERR, "BAD_RESP_ERR", "an answer came that suits no request",
		   "the two ends' PSNs or QP numbers are not each other's; a fault of a device",
		   "qpattr compare both ends"},
	completion{IBV_WC_MW_BIND_ERR, "MW_BIND_ERR", "a memory window was not bound",
		   "its region lacks MW_BIND, or it does not lie in it", "ibv_reg_mr()'s access flags"},
	completion{IBV_WC_RESP_TIMEOUT_ERR, "RESP_TIMEOUT_ERR", "the peer's answer took too long",
		   "the peer is slow or dead", "qpattr explain timeout CODE"},
	completion{IBV_WC_FATAL_ERR, "FATAL_ERR", "the device failed", "firmware or hardware",
		   "the kernel's log; qpattr doctor"},
	completion{IBV_WC_GENERAL_ERR, "GENERAL_ERR", "none of the other errors", "the driver's own",
		   "the completion's vendor_err, the device's manual"},
};

// "IBV_WC_RETRY_EXC_ERR", "completion 12", "wc status 12", "transport retry counter exceeded".
const completion *named(const words &said)
{
	std::string whole;
	for (const std::string &each : said)
		whole += (whole.empty() ? "" : " ") + lower(each);
	std::optional<std::uint64_t> number;
	for (const char *before : {"completion ", "wc ", "status ", "wc status ", "completion status "})
		if (whole.starts_with(before))
			number = number_of(whole.substr(std::char_traits<char>::length(before)));
	for (const completion &each : completions)
		if (whole == lower(each.name) || whole == "ibv_wc_" + lower(each.name) ||
		    whole == lower(::ibv_wc_status_str(each.number)) ||
		    (number && *number == static_cast<std::uint64_t>(each.number)))
			return &each;
	return nullptr;
}

} // namespace

void add_completion_names(std::vector<std::string> &to)
{
	for (const completion &each : completions)
		to.push_back(std::string{"IBV_WC_"} + each.name);
}

std::string completion_numbered(std::uint64_t number)
{
	for (const completion &each : completions)
		if (number == static_cast<std::uint64_t>(each.number))
			return std::string{"IBV_WC_"} + each.name;
	return "";
}

std::optional<page> explain_completion(const words &said)
{
	const completion *const is = named(said);
	if (!is)
		return std::nullopt;
	page out;
	out.data["kind"] = "completion";
	out.data["completion"] = std::string{"IBV_WC_"} + is->name;
	out.data["number"] = static_cast<int>(is->number);
	section main;
	main.title = fmt::format("IBV_WC_{}, status {}", is->name, static_cast<int>(is->number));
	main.facts = {{"is", is->is}, {"causes", is->causes}, {"next", is->next}};
	out.sections.push_back(main);
	return out;
}

} // namespace qpattr::tool
