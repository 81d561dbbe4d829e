// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/connections.hpp"

namespace qpattr::tool {

// A QP that is asked about INIT was not in RTR or RTS before, and a connection keeps
// its addresses.
bool connections::another(const known &before, const call_record &call)
{
	if (call.asked == "INIT" && !before.answered.empty() && before.answered != "INIT")
		return true;
	const auto differs = [](const std::string &then, const std::optional<std::string> &now) {
		return now && !then.empty() && then != *now;
	};
	return differs(before.dst, call.dst) || (call.dst && differs(before.src, call.src));
}

connections::place connections::of(const call_record &call)
{
	const auto [at, inserted] = by_id_.try_emplace({call.pid, call.id}, known{count_, "", "", ""});
	known &is = at->second;
	const bool first = inserted || another(is, call);
	if (first) {
		is = {count_, "", "", ""};
		++count_;
	}
	place out{is.number, first, is.answered};
	if (out.before.empty() && call.asked == "INIT")
		out.before = "RESET";
	if (!call.failed())
		is.answered = call.asked;
	// The source may be complete only once the address is resolved.
	if (call.dst) {
		is.dst = *call.dst;
		is.src = call.src.value_or("");
	}
	return out;
}

} // namespace qpattr::tool
