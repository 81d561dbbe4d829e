// SPDX-License-Identifier: MIT
// qpattr-conformance: asks stock librdmacm and an object of ours the same about
// the same connections, and tells what differs.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <getopt.h>

#include "test/conformance/implementation.hpp"
#include "test/conformance/walk.hpp"

using namespace conformance;

namespace {

constexpr const char *usage =
	"usage: qpattr-conformance [OPTION]...\n"
	"\n"
	"Compares rdma_init_qp_attr of stock librdmacm with that of another object, at\n"
	"each stage of connections made for it. Both sides run in this process. Wants\n"
	"an RDMA device with the addresses given.\n"
	"\n"
	"  --preload FILE  the object (default: QPATTR_PRELOAD)\n"
	"  --ipv4 ADDRESS  of the device (default: QPATTR_VM_IPV4)\n"
	"  --ipv6 ADDRESS  of the device (default: QPATTR_VM_IPV6)\n"
	"\n"
	"To repeat some questions only:\n"
	"  --only TEXT     at stops whose name has this in it\n"
	"  --state N       about this QP state\n"
	"  --fill NAME     into outputs filled so: 00, ff, a5, run\n"
	"  --first WHO     asking stock or ours first\n"
	"\n"
	"Status: 0 no difference, 1 differences, 2 could not be run\n";

struct arguments {
	std::string preload, ipv4, ipv6;
	selection what;
	std::string again;
};

std::string from_environment(const char *name)
{
	const char *value = std::getenv(name);
	return value ? value : "";
}

[[noreturn]] void die(const std::string &why)
{
	std::printf("not ok - the conformance program runs: %s\n", why.c_str());
	std::exit(2);
}

arguments parse(int argc, char **argv)
{
	static const option options[] = {
		{"preload", required_argument, nullptr, 'p'},
		{"ipv4", required_argument, nullptr, '4'},
		{"ipv6", required_argument, nullptr, '6'},
		{"only", required_argument, nullptr, 'o'},
		{"state", required_argument, nullptr, 's'},
		{"fill", required_argument, nullptr, 'f'},
		{"first", required_argument, nullptr, 'w'},
		{"help", no_argument, nullptr, 'h'},
		{},
	};
	arguments out{from_environment("QPATTR_PRELOAD"), from_environment("QPATTR_VM_IPV4"),
		      from_environment("QPATTR_VM_IPV6"), {}, {}};
	for (int c; (c = ::getopt_long(argc, argv, "h", options, nullptr)) != -1;) {
		switch (c) {
		case 'p':
			out.preload = optarg;
			break;
		case '4':
			out.ipv4 = optarg;
			break;
		case '6':
			out.ipv6 = optarg;
			break;
		case 'o':
			out.what.stop = optarg;
			break;
		case 's':
			out.what.state = std::atoi(optarg);
			break;
		case 'f':
			out.what.fill = optarg;
			break;
		case 'w':
			out.what.order = std::strcmp(optarg, "ours") == 0;
			break;
		case 'h':
			std::fputs(usage, stdout);
			std::exit(0);
		default:
			std::fputs(usage, stderr);
			std::exit(2);
		}
	}
	if (optind < argc)
		die(std::string{"unexpected argument '"} + argv[optind] + "'");
	if (out.preload.empty())
		die("no object to compare: --preload");
	if (out.ipv4.empty() || out.ipv6.empty())
		die("no addresses: --ipv4 and --ipv6");
	out.again = std::string{argv[0]} + " --preload " + out.preload + " --ipv4 " + out.ipv4 +
		    " --ipv6 " + out.ipv6;
	return out;
}

int run(const arguments &given)
{
	const implementation stock = stock_implementation();
	const implementation ours = object_implementation(given.preload);
	std::printf("# stock %s\n# ours %s\n", stock.object.c_str(), ours.object.c_str());
	if (const std::string wrong = mixed_up(stock, ours, given.preload); !wrong.empty())
		die(wrong);
	std::printf("ok - stock and ours are two functions, each in its own object\n");

	report to{stock.function, ours.function, given.what, given.again};
	for (const std::string &text : {given.ipv4, given.ipv6}) {
		const address where = parse_address(text);
		walk_connection(to, where, qp_kind::librdmacm);
		walk_connection(to, where, qp_kind::own);
		walk_endings(to, where);
		walk_listeners(to, where);
		walk_datagrams(to, where);
		walk_strangers(to, where);
	}
	return to.finish();
}

} // namespace

int main(int argc, char **argv)
{
	const arguments given = parse(argc, argv);
	try {
		return run(given);
	} catch (const std::exception &e) {
		die(e.what());
	}
}
