// SPDX-License-Identifier: MIT
// A trace as Chrome trace events (JSON), which Perfetto's viewer opens: a track a
// connection, a span a state, and arrows between the two ends where both are there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tools/qpattr/common/connections.hpp"
#include "tools/qpattr/common/trace_file.hpp"

namespace qpattr::tool {

class perfetto_writer {
public:
	// What stands before the first event, and after the last.
	static constexpr std::string_view head = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
	static constexpr std::string_view tail = "\n]}\n";

	// Gets one event at a time, with what parts it from the one before.
	explicit perfetto_writer(std::function<void(std::string_view)> emit)
		: emit_{std::move(emit)}
	{
	}

	void take(const record &each);
	// Spans that have no end yet last until here: the end of the trace.
	void finish(std::uint64_t time_ns);

private:
	// A state that a QP was given, until the next.
	struct open_span {
		call_record call;
	};
	struct first_end {
		std::size_t number;
		std::uint64_t time_ns;
	};

	void take_call(const call_record &call);
	void process(const record_head &of);
	void name_track(std::size_t number, const call_record &call);
	void close(std::size_t number, std::uint64_t time_ns);
	void failure_at(std::size_t number, const call_record &call);
	void join_ends(std::size_t number, const call_record &call);
	void event(const std::string &json);
	[[nodiscard]] double microseconds(std::uint64_t time_ns) const;

	std::function<void(std::string_view)> emit_;
	connections connections_;
	std::map<std::pair<std::uint64_t, std::string>, std::size_t> current_; // by pid, id
	std::map<std::size_t, open_span> open_;
	std::map<std::pair<std::string, std::string>, first_end> waiting_; // by source, destination
	std::set<std::uint64_t> named_processes_;
	std::map<std::size_t, std::string> named_tracks_;
	std::optional<std::uint64_t> begin_ns_;
	std::uint64_t last_ns_ = 0;
	std::size_t arrows_ = 0;
	bool empty_ = true;
};

} // namespace qpattr::tool
