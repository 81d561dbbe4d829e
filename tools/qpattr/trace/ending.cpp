// SPDX-License-Identifier: MIT
#include "tools/qpattr/trace/ending.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"

namespace qpattr::tool {
namespace {

std::uint64_t now_ns()
{
	const auto since = std::chrono::system_clock::now().time_since_epoch();
	return static_cast<std::uint64_t>(
		std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

} // namespace

bool end_trace(trace_output *output, const trace_summary &sums, const session &traced)
{
	bool whole = true;
	try {
		if (output)
			output->finish(now_ns());
	} catch (const failure &why) {
		say_line(why.what());
		whole = false;
	}
	if (sums.calls() == 0)
		say_line(traced.no_calls());
	else
		say_line(sums.in_short());
	// What a process could write in part only, it counts as lost too.
	if (const std::uint64_t lost = std::max(sums.lost(), traced.unreadable())) {
		say_line(fmt::format("{} {} lost: more came at once than the memory for them "
				     "holds (QPATTR_TRACE_LIMIT), or a process was ended in the "
				     "middle of one",
				     lost, lost == 1 ? "record was" : "records were"));
		whole = false;
	}
	if (output && output->lost()) {
		say_line(fmt::format("{} {} could not be written to {}: {}", output->lost(),
				     output->lost() == 1 ? "record" : "records", output->name(),
				     std::strerror(output->error())));
		whole = false;
	}
	return whole;
}

void print_summary(const trace_summary &sums)
{
	const std::string text = "\n" + sums.table(terminal{STDERR_FILENO});
	[[maybe_unused]] const bool written = write_all(STDERR_FILENO, text);
}

} // namespace qpattr::tool
