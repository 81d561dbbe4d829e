// SPDX-License-Identifier: MIT
// conformance-cell: one cell, in a process of its own, as JSON Lines. Started by
// qpattr-conformance, which looks first at what has to be there.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>

#include "tools/conformance/cell.hpp"
#include "tools/conformance/implementation.hpp"

using namespace conformance;

namespace {

struct arguments {
	std::string preload, address, kind, label, removable, again;
	bool probe = false;
	selection what;
};

const kind &kind_named(const std::string &name)
{
	for (const kind &each : all_kinds())
		if (each.name == name)
			return each;
	throw std::runtime_error("no cell is called '" + name + "'");
}

manager manager_of(ibv_context *device)
{
	return device->device->transport_type == IBV_TRANSPORT_IWARP ? manager::iwarp
								     : manager::infiniband;
}

// What an address leads to.
nlohmann::json look_at(const address &where)
{
	// Without any device there is no channel.
	const channel_ptr channel{::rdma_create_event_channel()};
	if (!channel)
		return {{"why", "rdma_create_event_channel: " + errno_name(errno)}};
	const id_ptr id = make_id(channel, RDMA_PS_TCP);
	if (::rdma_bind_addr(id.get(), where.in(RDMA_PS_TCP).get()) != 0)
		return {{"why", "rdma_bind_addr: " + errno_name(errno)}};
	if (!id->verbs)
		return {{"why", "it is on no RDMA device"}};
	return {{"device", ::ibv_get_device_name(id->verbs->device)},
		{"port", id->port_num},
		{"manager", manager_name(manager_of(id->verbs))}};
}

int walk(const arguments &given)
{
	const implementation stock = stock_implementation();
	const implementation ours = object_implementation(given.preload);
	report to{given.kind + "/" + given.label, stock.function, ours.function, given.what,
		  given.again};
	if (const std::string wrong = mixed_up(stock, ours, given.preload); !wrong.empty())
		return to.broken_off(wrong);
	try {
		place at{parse_address(given.address), manager::infiniband, given.removable};
		{
			const channel_ptr channel = make_channel();
			const id_ptr id = make_bound_id(channel, RDMA_PS_TCP, at.where);
			if (!id->verbs)
				return to.broken_off(given.address + " is on no RDMA device");
			at.by = manager_of(id->verbs);
		}
		kind_named(given.kind).walk(to, at);
		return to.finish();
	} catch (const report::enough &) {
		return to.finish();
	} catch (const unavailable &why) {
		return to.not_here(why.what());
	} catch (const std::exception &why) {
		return to.broken_off(why.what());
	}
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app{"One cell of qpattr-conformance, as JSON Lines"};
	arguments given;
	bool list = false;
	app.add_flag("--list", list, "the kinds of cells, one a line");
	app.add_flag("--probe", given.probe, "what the address leads to");
	app.add_option("--kind", given.kind, "of cell");
	app.add_option("--label", given.label, "of the address");
	app.add_option("--address", given.address, "of a device");
	app.add_option("--preload", given.preload, "the object that is compared with stock");
	app.add_option("--may-remove", given.removable, "a device");
	app.add_option("--again", given.again, "command that repeats the cell");
	app.add_option("--only", given.what.stop, "at stops whose name has this in it");
	app.add_option("--state", given.what.state, "about this QP state");
	app.add_option("--fill", given.what.fill, "into outputs filled so");
	app.add_option_function<std::string>(
		"--first", [&](const std::string &who) { given.what.order = who == "ours"; },
		"whom to ask first");
	CLI11_PARSE(app, argc, argv);
	// A cell that nobody hears any more ends with who started it, however that ended.
	(void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
	try {
		if (list) {
			for (const kind &each : all_kinds())
				std::printf("%s\t%s%s\t%s\n", each.name, each.once ? "once" : "",
					    each.slow ? " slow" : "", each.what);
			return 0;
		}
		if (given.probe) {
			std::printf("%s\n", look_at(parse_address(given.address)).dump().c_str());
			return 0;
		}
		return walk(given);
	} catch (const std::exception &why) {
		std::fprintf(stderr, "%s\n", why.what());
		return 2;
	}
}
