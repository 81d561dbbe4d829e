// SPDX-License-Identifier: MIT
// What a program can set that changes the answers: options, and the values that
// the two sides offer each other.
#include <cerrno>
#include <cstring>

#include <infiniband/sa.h>

#include "tools/conformance/party.hpp"

namespace conformance {
namespace {

using enum side;
using enum standing;

void set_ack_timeout(rdma_cm_id *id, std::uint8_t value)
{
	must(::rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &value, sizeof value),
	     "rdma_set_option ACK_TIMEOUT");
}

void set_tos(rdma_cm_id *id, std::uint8_t value)
{
	must(::rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &value, sizeof value),
	     "rdma_set_option TOS");
}

// The ECE that the kernel carries to the peer; the QP's own, if any, replaces it.
void set_ece(rdma_cm_id *id)
{
	ibv_ece ece{0x15b3, 0x10000000, 0};
	must(::rdma_set_local_ece(id, &ece), "rdma_set_local_ece");
}

struct option {
	const char *name;
	preparation active, passive;
};

const std::vector<option> &options()
{
	static const std::vector<option> all{
		{"ACK_TIMEOUT 0", [](rdma_cm_id *id) { set_ack_timeout(id, 0); }, {}},
		{"ACK_TIMEOUT 14", [](rdma_cm_id *id) { set_ack_timeout(id, 14); }, {}},
		{"ACK_TIMEOUT 31", [](rdma_cm_id *id) { set_ack_timeout(id, 31); }, {}},
		{"ACK_TIMEOUT 14 passive", {}, [](rdma_cm_id *id) { set_ack_timeout(id, 14); }},
		{"TOS 0", [](rdma_cm_id *id) { set_tos(id, 0); }, {}},
		{"TOS 0xb8", [](rdma_cm_id *id) { set_tos(id, 0xb8); }, {}},
		{"ECE", [](rdma_cm_id *id) { set_ece(id); }, [](rdma_cm_id *id) { set_ece(id); }},
	};
	return all;
}

// A path of the program's own in place of the kernel's lookup: what that finds,
// with another packet lifetime.
ibv_path_data path_like(const rdma_cm_id *id)
{
	if (id->route.num_paths < 1)
		throw std::runtime_error("the route has no path");
	const ibv_sa_path_rec &found = *id->route.path_rec;
	ibv_path_data out{};
	out.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
	out.path.dgid = found.dgid;
	out.path.sgid = found.sgid;
	out.path.flowlabel_hoplimit = htobe32(be32toh(found.flow_label) << 8 | 64);
	out.path.reversible_numpath = 0x80 | 1;
	out.path.pkey = found.pkey;
	out.path.mtu = static_cast<std::uint8_t>(2 << 6 | found.mtu);
	out.path.rate = static_cast<std::uint8_t>(2 << 6 | found.rate);
	out.path.packetlifetime = 2 << 6 | 10;
	return out;
}

void set_path(rdma_cm_id *id, ibv_path_data path)
{
	if (::rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path) != 0)
		throw unavailable(std::string{"rdma_set_option IB_PATH: "} + std::strerror(errno));
}

std::string established(const std::string &what)
{
	return what + ": established";
}

} // namespace

void walk_options(report &to, const place &at)
{
	if (at.by == manager::iwarp)
		throw unavailable("iWARP's answers have none of it");
	std::vector<stop> stops;
	for (const option &each : options())
		for (const side who : {active, passive})
			stops.push_back({established(each.name), who, connected});
	stops.push_back({"IB_PATH set", active, simple});
	if (!to.begin(stops, {IBV_QPT_RC, at.by}))
		return;
	for (const option &each : options()) {
		const connection made = connect(at, {each.active, each.passive, offered(), accepted()});
		to.visit(established(each.name), active, made.active.get());
		to.visit(established(each.name), passive, made.passive.get());
	}
	const channel_ptr channel = make_channel();
	const id_ptr like = resolved_id(channel, at.where, RDMA_PS_TCP, 7);
	const id_ptr id = make_id(channel, RDMA_PS_TCP);
	resolve_address(channel, id, at.where.with_port(7));
	set_path(id.get(), path_like(like.get()));
	to.visit("IB_PATH set", active, id.get());
}

void walk_values(report &to, const place &at)
{
	if (at.by == manager::iwarp)
		throw unavailable("iWARP's answers have none of it");
	struct values {
		const char *name;
		std::uint8_t reads, retries;
	};
	// The most that librdmacm takes as the device's own, and what 3 bits hold.
	static constexpr values all[] = {
		{"nothing", 0, 0},
		{"one of each", 1, 1},
		{"the most", RDMA_MAX_RESP_RES, 7},
	};
	std::vector<stop> stops;
	for (const values &each : all)
		for (const side who : {active, passive})
			stops.push_back({established(each.name), who, connected});
	if (!to.begin(stops, {IBV_QPT_RC, at.by}))
		return;
	for (const values &each : all) {
		rdma_conn_param param{};
		param.responder_resources = param.initiator_depth = each.reads;
		param.retry_count = param.rnr_retry_count = each.retries;
		const connection made = connect(at, {{}, {}, param, param});
		to.visit(established(each.name), active, made.active.get());
		to.visit(established(each.name), passive, made.passive.get());
	}
}

} // namespace conformance
