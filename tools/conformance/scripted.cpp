// SPDX-License-Identifier: MIT
// The same questions where the answers are scripted. Ids are real ones, so that ours
// finds its way; their commands end in this process.
#include "tools/conformance/party.hpp"
#include "tools/conformance/script.hpp"
#include "tools/conformance/trap.hpp"

namespace conformance {

void walk_scripted(report &to, const place &at)
{
	std::vector<stop> stops;
	for (const scripted_answer &each : script())
		stops.push_back({each.name, side::active, standing::any});
	if (!to.begin(stops, {IBV_QPT_RC, at.by}))
		return;
	const channel_ptr channel = make_channel();
	const id_ptr id = make_bound_id(channel, RDMA_PS_TCP, at.where);
	// The first question of all, on the kernel: ours looks for the handle then.
	for (const auto &[name, function] : to.implementations()) {
		ibv_qp_attr attr{};
		int mask;
		attr.qp_state = IBV_QPS_INIT;
		must(function(id.get(), &attr, &mask), name);
	}
	trap answering;
	rdma_event_channel scripted{answering.fd()};
	rdma_event_channel *const real = id->channel;
	id->channel = &scripted;
	for (const scripted_answer &each : script()) {
		answering.answer(each.reply, each.result);
		to.visit(each.name, side::active, id.get());
	}
	id->channel = real;
}

} // namespace conformance
