// SPDX-License-Identifier: MIT
// The completion queues that an id makes for a QP whose creator gave none.
#include <cerrno>

#include "lib/cm/edge.hpp"
#include "lib/cm/qp.hpp"
#include "lib/cm/verbs_error.hpp"

namespace qpattr::cm {
namespace {

result<void> make(identifier &id, std::uint32_t entries, ibv_comp_channel *&channel,
		  ibv_cq *&cq) noexcept
{
	if (!entries)
		return {};
	errno = 0;
	ibv_comp_channel *made = ibv_create_comp_channel(id.verbs);
	if (!made)
		return nothing_made(ENOMEM);
	ibv_cq *queue = ibv_create_cq(id.verbs, static_cast<int>(entries), &id, made, 0);
	if (!queue) {
		const failure why = nothing_made(ENOMEM);
		ibv_destroy_comp_channel(made);
		return why;
	}
	channel = made;
	cq = queue;
	return {};
}

void destroy(ibv_comp_channel *&channel, ibv_cq *&cq) noexcept
{
	if (cq)
		ibv_destroy_cq(cq);
	if (channel)
		ibv_destroy_comp_channel(channel);
	cq = nullptr;
	channel = nullptr;
}

} // namespace

result<void> create_receive_cq(identifier &id, std::uint32_t entries) noexcept
{
	return make(id, entries, id.recv_cq_channel, id.recv_cq);
}

result<void> create_send_cq(identifier &id, std::uint32_t entries) noexcept
{
	return make(id, entries, id.send_cq_channel, id.send_cq);
}

void destroy_cqs(identifier &id) noexcept
{
	// One queue may serve both, where a program put it there.
	if (id.send_cq == id.recv_cq)
		id.send_cq = nullptr;
	if (id.send_cq_channel == id.recv_cq_channel)
		id.send_cq_channel = nullptr;
	destroy(id.recv_cq_channel, id.recv_cq);
	destroy(id.send_cq_channel, id.send_cq);
}

void queues_before::restore(identifier &id) const noexcept
{
	if (!receive_)
		destroy(id.recv_cq_channel, id.recv_cq);
	if (!send_)
		destroy(id.send_cq_channel, id.send_cq);
}

} // namespace qpattr::cm
