// SPDX-License-Identifier: MIT
// What is said when a trace ends.
#pragma once

#include "tools/qpattr/trace/output.hpp"
#include "tools/qpattr/trace/session.hpp"
#include "tools/qpattr/trace/summary.hpp"

namespace qpattr::tool {

// Ends the output, if there is one, and says in a line or two what came and what was lost. False: the
// trace is not whole.
[[nodiscard]] bool end_trace(trace_output *output, const trace_summary &sums,
			     const session &traced);

// Tables, on standard error.
void print_summary(const trace_summary &sums);

} // namespace qpattr::tool
