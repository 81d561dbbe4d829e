// SPDX-License-Identifier: MIT
// What one end of a probe's connection was told, as records of a trace: what is shown,
// written for `qpattr compare`, and sent to the other end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <qpattr/qpattr.hpp>

namespace qpattr::tool::probe {

// Of the end as a whole.
struct end_facts {
	std::string end; // "client", "server"
	std::string id;	 // where the program has it
	std::string device;
	unsigned port = 0;
	bool udp = false;
	std::uint32_t qp_num = 0;
	std::string src, dst;
};

// One question to the kernel.
struct answer {
	ibv_qp_state asked = IBV_QPS_RESET;
	std::uint64_t time_ns = 0; // CLOCK_REALTIME
	std::uint64_t duration_ns = 0;
	error why; // of one that failed
	attributes got;
};

[[nodiscard]] answer ask(const id_ref &id, ibv_qp_state state);

// JSON Lines: one of the process, one a call.
[[nodiscard]] std::string records_of(const end_facts &of, const std::vector<answer> &answers);

// What another end sent, written anew; throws `failure` where it is no such text.
[[nodiscard]] std::string checked_records(const std::string &text, const std::string &from);

// One of type "notice", which has `extra`, an object as text, under the key "probe".
[[nodiscard]] std::string notice_of(const std::string &text, const std::string &extra = "");

} // namespace qpattr::tool::probe
