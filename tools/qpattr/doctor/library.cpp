// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/checks.hpp"

#include <fmt/format.h>

namespace qpattr::tool::doctor {
namespace {

std::string line_with(const std::string &text, const std::string &what)
{
	const auto at = text.find(what);
	if (at == std::string::npos)
		return "";
	const auto begin = text.rfind('\n', at);
	const auto from = begin == std::string::npos ? 0 : begin + 1;
	return text.substr(from, text.find('\n', at) - from);
}

} // namespace

void check_library(const machine &of, findings &to)
{
	const stock_library &is = of.stock;
	if (!is.error.empty()) {
		to.not_applicable("librdmacm",
				  fmt::format("no librdmacm that the dynamic linker finds ({}): "
					      "qpattr probe does without, trace and run have no "
					      "programs to serve",
					      is.error));
		return;
	}
	std::string nodes;
	for (const std::string &each : is.nodes)
		nodes += (nodes.empty() ? "" : " ") + each;
	const std::string text =
		fmt::format("{}, version {}, {}", is.path, is.version.empty() ? "not told" : is.version,
			    nodes.empty() ? "no symbol versions" : nodes);
	if (is.has_function)
		to.ok("librdmacm", text);
	else
		to.problem("librdmacm",
			   text + ": it has no rdma_init_qp_attr@RDMACM_1.2, so nothing of it can be "
				  "traced",
			   "install rdma-core 17 or later");
}

void check_interception(const machine &of, findings &to)
{
	const interception &is = of.preload;
	const char *const check = "intercept";
	if (!is.tried) {
		if (is.fix.empty())
			to.not_applicable(check, is.why_not);
		else
			to.problem(check, is.why_not, is.fix);
		return;
	}
	// Each is a line of the preload object's own, see docs/coverage.md.
	const std::string served = line_with(is.said, "is served by qpattr");
	const std::string stock = line_with(is.said, "is served by stock");
	const std::string said = is.output.substr(0, is.output.find('\n'));
	if (is.timed_out)
		to.problem(check, "the program that tries it out did not end in its time: it waits in "
				  "the kernel",
			   "look at dmesg; do not trace programs here");
	else if (!served.empty() && is.status == 0)
		to.ok(check, fmt::format("a program linked with librdmacm is served by qpattr: {}",
					 said));
	else if (!stock.empty())
		to.problem(check, fmt::format("interception works, discovery does not: {}", stock),
			   "traces have what librdmacm answers, and no overrides: tell us the "
			   "version of librdmacm");
	else if (!served.empty())
		to.warning(check,
			   fmt::format("a program linked with librdmacm is served by qpattr, but "
				       "fails: {}",
				       said),
			   "see what is said of devices and addresses");
	else if (is.said.find("cannot be preloaded") != std::string::npos)
		to.problem(check,
			   fmt::format("the dynamic linker refuses the preload object: {}",
				       line_with(is.said, "cannot be preloaded")),
			   "install qpattr for this machine's processor and C library");
	else
		to.not_applicable(check,
				  fmt::format("not to be tried out: {}",
					      said.empty() ? fmt::format("the program ended with "
									 "status {}",
									 is.status)
							   : said));
}

findings examine(const machine &of)
{
	findings out;
	for (const auto check :
	     {check_modules, check_cm_node, check_abi, check_namespaces, check_cgroup, check_memlock,
	      check_backlog, check_verbs_nodes, check_devices, check_ports, check_mtu, check_gids,
	      check_pkeys, check_addresses, check_library, check_interception})
		check(of, out);
	return out;
}

} // namespace qpattr::tool::doctor
