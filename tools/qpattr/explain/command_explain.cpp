// SPDX-License-Identifier: MIT
// qpattr explain: what a person has in hand.
#include <cerrno>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/qpattr/commands.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/trace_file.hpp"
#include "tools/qpattr/explain/explain.hpp"
#include "tools/qpattr/explain/reply_dump.hpp"

namespace qpattr::tool {
namespace {

constexpr const char *footer =
	"Examples:\n"
	"  qpattr explain timeout              the table of its codes\n"
	"  qpattr explain min_rnr_timer 0      a code; rnr 0 is as good\n"
	"  qpattr explain timeout 500ms        the code that a time becomes\n"
	"  qpattr explain 0x129181             a mask: whose transition, what is in it\n"
	"  qpattr explain RTR                  a state: what is asked, where it comes from\n"
	"  qpattr explain EINVAL RTR           an errno, by the state that was asked for\n"
	"  qpattr explain EINVAL rdma_accept   an errno of another call\n"
	"  qpattr explain REJECTED 28          an event and its status\n"
	"  qpattr explain trace.jsonl          a trace: every connection, with findings\n"
	"  xxd reply.bin | qpattr explain -    the 144 bytes of a reply, in any dump\n";

struct wanted {
	words said;
	bool json = false;
};

bool is_file(const std::string &path)
{
	struct stat found;
	return path == "-" || (::stat(path.c_str(), &found) == 0 && !S_ISDIR(found.st_mode));
}

bool is_directory(const std::string &path)
{
	struct stat found;
	return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

page explain_file(const std::string &path)
{
	std::string text = read_whole(path, harmless(path), failed_status);
	if (constexpr const char *mark = "\xef\xbb\xbf"; text.starts_with(mark)) // of an editor
		text.erase(0, std::strlen(mark));
	const std::string shown = path == "-" ? "standard input" : path;
	const std::size_t begin = text.find_first_not_of(" \t\r\n");
	if (begin == std::string::npos)
		throw failure{fmt::format("{} is empty: a trace or the bytes of a reply is wanted",
					  harmless(shown))};
	if (text[begin] == '{' || other_format(text))
		return explain_trace(text, shown);
	try {
		return explain_reply(bytes_of_dump(text));
	} catch (const failure &why) {
		throw failure{fmt::format("{}: {}", harmless(shown), why.what()), why.status};
	}
}

page explain_any(const words &said)
{
	// A name that is also a file's is the name's: `./timeout` means the file.
	if (said.size() == 1 && is_file(said[0]) && !attribute_named(said[0]))
		return explain_file(said[0]);
	std::string whole;
	for (const std::string &each : said)
		whole += (whole.empty() ? "" : " ") + each;
	if (looks_like_dump(whole))
		return explain_reply(bytes_of_dump(whole));
	if (said.size() == 1 && is_directory(said[0]) && !attribute_named(said[0]))
		throw failure{fmt::format("{} is a directory: name a trace in it", harmless(said[0])),
			      usage_status};
	if (said.size() == 1 && said[0].find('/') != std::string::npos)
		throw failure{fmt::format("cannot read {}: {}", harmless(said[0]),
					  std::strerror(errno ? errno : ENOENT)),
			      usage_status};
	return explain_words(said);
}

} // namespace

void add_explain(CLI::App &app, int &status)
{
	auto in = std::make_shared<wanted>();
	CLI::App *const command = app.add_subcommand(
		"explain", "What an attribute, a mask, an errno, a trace or a reply says, what\n"
			   "follows, and what to do about it.");
	command->footer(footer);
	command->add_option("what", in->said, "Words, a file, or - for standard input")
		->required()
		->allow_extra_args();
	command->add_flag("--json", in->json, "One JSON object, for programs");
	// "-110" is a status and "-" is standard input, no options.
	command->prefix_command(false);
	command->callback([in, &status] {
		const page out = explain_any(in->said);
		print(out, in->json);
		status = 0;
	});
}

} // namespace qpattr::tool
