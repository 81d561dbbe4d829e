// SPDX-License-Identifier: MIT
// A trace: read, shown as text, as a sum, as Chrome trace events, and explained.
#include <nlohmann/json.hpp>

#include "test/fuzz/shown.hpp"
#include "tools/qpattr/common/trace_file.hpp"
#include "tools/qpattr/common/trace_text.hpp"
#include "tools/qpattr/explain/explain.hpp"
#include "tools/qpattr/trace/perfetto.hpp"
#include "tools/qpattr/trace/summary.hpp"

using namespace qpattr;

namespace {

void show(const tool::trace &all)
{
	const tool::terminal plain{-1};
	tool::text_writer writer{plain};
	tool::trace_summary sums;
	std::string events{tool::perfetto_writer::head};
	tool::perfetto_writer tracks{[&](std::string_view event) { events += event; }};
	for (const tool::record &each : all.records) {
		fuzz::must_be_printable(writer.lines_of(each));
		sums.take(each);
		tracks.take(each);
	}
	fuzz::must_be_printable(sums.in_short());
	fuzz::must_be_printable(sums.table(plain));
	tracks.finish(1);
	events += tool::perfetto_writer::tail;
	fuzz::must(nlohmann::json::accept(events), "the events are JSON");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text = fuzz::text_of(data, size);
	try {
		show(tool::parse_trace(text, "t"));
		fuzz::must_be_shown(tool::explain_trace(text, "t"));
	} catch (const tool::failure &why) {
		fuzz::must_be_a_line(why);
	}
	return 0;
}
