// SPDX-License-Identifier: MIT
// A scripted connection manager: the rdma_* functions that the C++ layer calls,
// without a kernel. It keeps count of what lives, and of every way in which a
// program can end something wrongly.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <rdma/rdma_cma.h>

namespace qpattr::test {

class fake_rdma_cm {
public:
	static fake_rdma_cm &get();

	// Forgets everything; every test begins with it.
	void reset();

	// The next call of the function fails with this errno. ibv_modify_qp(): 0 or less
	// is -1 as the answer, with errno as much above 0.
	void fail(const std::string &function, int code) { failing[function] = code; }

	// Puts an event into the channel's queue. For a CONNECT_REQUEST `id` is the
	// listener and a new id is made.
	rdma_cm_event *put(rdma_event_channel *on, rdma_cm_event_type type, rdma_cm_id *id,
			   int status = 0);

	// What is not destroyed or acknowledged yet.
	[[nodiscard]] bool nothing_left() const
	{
		return channels.empty() && ids.empty() && held.empty() && queues.empty();
	}
	// Every call in order: "rdma_bind_addr".
	std::vector<std::string> calls;
	[[nodiscard]] std::size_t count(const std::string &function) const;

	// What a program did wrong: "double ack", "destroyed with a live event".
	std::vector<std::string> wrong;

	// The arguments of the last call.
	struct {
		rdma_conn_param conn{};
		std::string private_data;
		bool conn_is_null = false;
		const sockaddr *source = nullptr, *destination = nullptr;
		int timeout_ms = -1, backlog = -1, level = -1, option = -1, notified = -1;
		std::string option_value;
		rdma_cm_join_mc_attr_ex join{};
		void *context = nullptr;
		rdma_port_space space{};
		rdma_event_channel *channel = nullptr;
		ibv_qp_state state{};
		ibv_ece ece{};
		ibv_qp_attr modified{};
		int modified_mask = 0;
	} last;

	// What rdma_init_qp_attr() answers.
	ibv_qp_attr attr{};
	int mask = 0;

	// The innards, for the functions of fake_rdma_cm.cpp.
	bool fails(const char *function); // records the call too
	void complain(const char *what) { wrong.emplace_back(what); }
	rdma_cm_id *make_id(rdma_event_channel *on, void *context, rdma_port_space space);
	std::set<rdma_event_channel *> channels;
	std::set<rdma_cm_id *> ids;
	std::set<rdma_cm_event *> held;
	std::map<rdma_event_channel *, std::deque<rdma_cm_event *>> queues;
	std::map<std::string, int> failing;
};

} // namespace qpattr::test
