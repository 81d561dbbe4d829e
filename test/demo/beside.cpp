// SPDX-License-Identifier: MIT
// Shows what the witness saw: qpattr's answers and stock's, side by side, and
// says whether they are the same.
#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <langinfo.h>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#include "test/demo/render.hpp"
#include "test/demo/transitions.hpp"
#include "test/demo/verdict.hpp"

using namespace qpattr::demo;

namespace {

constexpr const char *usage = R"(usage: beside [OPTION]... FILE

Shows the records in FILE, which libqpattr-witness.so wrote: every answer of
rdma_init_qp_attr, qpattr's beside stock librdmacm's.

  --expect RUN=N  the run must be there, with N transitions or more (may be given
                  again; N is a number)
  --lines         a line for each transition, not only for the first few
  --full          a table for each transition
  --json          one JSON object a transition, nothing else
  --help          this

Status: 0 if every answer is equal to stock's and qpattr's own, and everything
expected is there; 1 if not; 2 if FILE cannot be read or the command is wrong.
)";

struct options {
	std::vector<expectation> expected;
	bool lines = false;
	bool full = false;
	bool json = false;
	bool help = false;
	const char *file = nullptr;
	std::string wrong; // why the command is wrong
};

// "rping -q=8".
bool read_expectation(const std::string &what, expectation &out)
{
	const std::size_t sign = what.rfind('=');
	if (sign == std::string::npos || sign == 0 || sign + 1 == what.size())
		return false;
	const std::string number = what.substr(sign + 1);
	if (number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos)
		return false;
	out = {what.substr(0, sign), std::stoul(number)};
	return true;
}

options read_options(int argc, char **argv)
{
	options out;
	for (int i = 1; i < argc; ++i) {
		const std::string word = argv[i];
		if (word == "--lines") {
			out.lines = true;
		} else if (word == "--full") {
			out.full = true;
		} else if (word == "--json") {
			out.json = true;
		} else if (word == "--help" || word == "-h") {
			out.help = true;
		} else if (word == "--expect") {
			expectation next;
			if (++i == argc || !read_expectation(argv[i], next))
				out.wrong = "--expect wants RUN=N";
			else
				out.expected.push_back(next);
		} else if (word.size() > 1 && word[0] == '-') {
			out.wrong = "unknown option '" + word + "'";
		} else if (out.file) {
			out.wrong = "one FILE only";
		} else {
			out.file = argv[i];
		}
	}
	if (!out.file && !out.help && out.wrong.empty())
		out.wrong = "no FILE";
	return out;
}

look terminal_look()
{
	std::setlocale(LC_CTYPE, "");
	const char *const no_color = std::getenv("NO_COLOR");
	const char *const term = std::getenv("TERM");
	look out;
	out.colours = ::isatty(STDOUT_FILENO) && !(no_color && *no_color) && term &&
		      std::strcmp(term, "dumb") != 0;
	out.utf8 = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
	return out;
}

// What programs take part in a run: a program that was shown in full once is not
// again.
std::set<std::string> programs_of(const history &seen, const std::string &run)
{
	std::set<std::string> out;
	for (const transition &each : seen.all)
		if (each.run == run)
			out.insert(each.what.program);
	return out;
}

// Tables for these connections and for whatever is not as it should be, in the
// order of time; then lines for the others, by connection; what is too much is
// counted.
void show_run(const page &to, const history &seen, const std::string &run,
	      const std::set<std::size_t> &in_full, const options &how)
{
	constexpr std::size_t lines_max = 8;
	std::vector<const transition *> lines;
	to.rule(run);
	for (const transition &each : seen.all) {
		if (each.run != run)
			continue;
		if (how.full || !each.good() || in_full.count(each.connection))
			to.table(each);
		else
			lines.push_back(&each);
	}
	std::stable_sort(lines.begin(), lines.end(), [](const transition *a, const transition *b) {
		return a->connection < b->connection;
	});
	if (!lines.empty())
		to.say(style::plain, "");
	std::size_t said = 0;
	for (const transition *each : lines)
		if (how.lines || said++ < lines_max)
			to.line(*each);
	if (!how.lines && lines.size() > lines_max)
		to.say(style::dim, "  ... and " + std::to_string(lines.size() - lines_max) +
					   " more, equal as well (shown with --lines or --full)");
}

void show_runs(const page &to, const history &seen, const options &how)
{
	std::set<std::set<std::string>> shown;
	for (const std::string &run : seen.runs()) {
		std::set<std::size_t> in_full;
		if (shown.insert(programs_of(seen, run)).second)
			for (const std::size_t connection : seen.first_connection(run))
				in_full.insert(connection);
		show_run(to, seen, run, in_full, how);
	}
}

int verdict(const page &to, const history &seen, const std::vector<std::string> &against)
{
	to.say(style::plain, "");
	for (const std::string &each : against)
		to.say(style::bad, "  " + each);
	if (!against.empty()) {
		to.say(style::bad, "verdict: FAILED");
		return 1;
	}
	const std::string number = std::to_string(seen.all.size());
	to.say(style::good, "verdict: " + number + " transitions in " +
				    std::to_string(seen.runs().size()) +
				    " runs, every answer equal to stock's (" + number + " of " +
				    number + "), all served by qpattr");
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	const options how = read_options(argc, argv);
	if (how.help || !how.wrong.empty()) {
		if (!how.wrong.empty())
			std::fprintf(stderr, "beside: %s\n", how.wrong.c_str());
		std::fputs(usage, how.help ? stdout : stderr);
		return how.wrong.empty() ? 0 : 2;
	}
	const history seen = read_history(how.file);
	if (seen.all.empty() && !seen.trouble.empty()) {
		std::fprintf(stderr, "beside: %s\n", seen.trouble.c_str());
		return 2;
	}
	const std::vector<std::string> against = objections(seen, how.expected);
	int status = against.empty() ? 0 : 1;
	if (how.json) {
		for (const transition &each : seen.all)
			write_json(stdout, each);
		for (const std::string &each : against)
			std::fprintf(stderr, "beside: %s\n", each.c_str());
	} else {
		const page to{stdout, terminal_look()};
		show_runs(to, seen, how);
		to.summary(seen);
		status = verdict(to, seen, against);
	}
	if (std::fflush(stdout) != 0) {
		std::perror("beside");
		return 2;
	}
	return status;
}
