// SPDX-License-Identifier: MIT
// What `qpattr explain` says of each kind of thing, and of what it does not know.
#include "tools/qpattr/common/trace_file.hpp"
#include "tools/qpattr/explain/explain.hpp"

#include <array>
#include <cstring>
#include <sstream>

#include "test/support/catch.hpp"
#include "test/support/fake_trace.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/layout.hpp"
#include "tools/qpattr/common/nearest.hpp"
#include "tools/qpattr/explain/reply_dump.hpp"
#include "uapi/command.hpp"

using namespace qpattr::tool;

namespace {

words split(const std::string &text)
{
	std::istringstream in{text};
	words out;
	for (std::string word; in >> word;)
		out.push_back(word);
	return out;
}

page of(const std::string &said)
{
	return explain_words(split(said));
}

std::string text(const page &what)
{
	return text_of(what, terminal{-1});
}

// The text has each of these.
void has(const page &what, const std::vector<std::string> &pieces)
{
	const std::string whole = text(what);
	CAPTURE(whole);
	for (const std::string &piece : pieces) {
		CAPTURE(piece);
		CHECK(whole.find(piece) != std::string::npos);
	}
}

void has_not(const page &what, const std::string &piece)
{
	CAPTURE(piece);
	CHECK(text(what).find(piece) == std::string::npos);
}

template <class Do> void refused(Do act, const std::string &piece, int status = usage_status)
{
	try {
		act();
		FAIL("not refused: " << piece);
	} catch (const failure &why) {
		CAPTURE(why.what());
		CHECK(std::string{why.what()}.find(piece) != std::string::npos);
		CHECK(std::string{why.what()}.find('\n') == std::string::npos);
		CHECK(why.status == status);
	}
}

std::vector<unsigned char> reply_bytes(std::uint32_t mask = 0x12e01)
{
	ib_uverbs_qp_attr raw{};
	raw.qp_attr_mask = mask;
	raw.qp_state = IBV_QPS_RTS;
	raw.sq_psn = 0x838060;
	raw.rq_psn = 0x4006f6;
	raw.max_rd_atomic = 1;
	raw.timeout = 19;
	raw.retry_cnt = 7;
	raw.rnr_retry = 7;
	std::vector<unsigned char> out(sizeof raw);
	std::memcpy(out.data(), &raw, sizeof raw);
	return out;
}

std::string hex(const std::vector<unsigned char> &bytes, std::size_t from, std::size_t to,
		const char *between, const char *before = "")
{
	std::string out;
	for (std::size_t i = from; i < to && i < bytes.size(); ++i)
		out += (i == from ? "" : between) + (before + fmt::format("{:02x}", bytes[i]));
	return out;
}

} // namespace

TEST_CASE("explain: an attribute and its code", "[explain]")
{
	has(of("timeout 14"),
	    {"timeout 14 = 67.1 ms", "the transition to RTS, mask bit TIMEOUT (0x200)",
	     "after 537 ms to 2.15 s with retry_cnt 7", "(retry_cnt + 1) x T", "ACK_TIMEOUT",
	     "qpattr run --set timeout=VALUE"});
	has(of("rnr 0"), {"min_rnr_timer 0 = 655.36 ms", "rnr-timer-655ms", "after 3.93 s",
			  "to RTR", "min_rnr_timer=0.64ms"});
	has(of("rnr_retry 0"), {"never retried", "rnr-retry-0", "IBV_WC_RNR_RETRY_EXC_ERR"});
	has(of("rnr_retry 6"), {"fails 3.93 s after", "3.84 ms if it is 12"});
	has(of("rnr_retry 7"), {"retried for ever"});
	has(of("path_mtu 3"), {"1024 bytes", "MTU of 1120 bytes", "64 packets"});
	has(of("mtu 1024"), {"path_mtu 3 = 1024 bytes"});
	has(of("min_rnr_timer 0.64ms"), {"min_rnr_timer 12 = 0.64 ms"});
	has(of("min_rnr_timer 12"), {"min_rnr_timer 12 = 0.64 ms"});
	has_not(of("min_rnr_timer 12"), "warning");
	has(of("traffic_class 184"), {"DSCP 46 (EF), ECN 0", "default_roce_tos"});
	has(of("dscp 26"), {"0x68 = DSCP 26 (AF31)"});
	has(of("timeout 500ms"), {"timeout 17 = 537 ms", "timeout=500ms"});
	has(of("timeout 0"), {"timeout-never", "problem"});
	has(of("timeout 99"), {"out of range", "timeout-range"});
	has(of("dest_qp_num 0x11"), {"0x000011 = 17", "cannot be overridden"});
	has(of("dgid ::ffff:10.0.0.1"), {"IPv4 10.0.0.1"});
	has(of("responder_resources 4"), {"max_dest_rd_atomic 4"});
	has(of("timeout=14"), {"timeout 14 = 67.1 ms"});
	has(of("qp_state RTR"), {"ready to receive"});
	CHECK(of("timeout 14").data["number"] == 14);
	CHECK(of("timeout 14").data["kind"] == "attribute");
	CHECK(of("timeout 14").data["transition"] == "RTS");
}

TEST_CASE("explain: an attribute alone is the table of its codes", "[explain]")
{
	const page timeout = of("timeout");
	CHECK(timeout.sections.at(0).table.rows.size() == 32);
	CHECK(timeout.sections[0].table.rows[14] == std::vector<std::string>{"14", "67.1 ms"});
	CHECK(timeout.sections[0].table.rows[0][1] == "no timeout (waits for ever)");
	CHECK(of("rnr").sections.at(0).table.rows.size() == 32);
	CHECK(of("path_mtu").sections.at(0).table.rows.size() == 5);
	CHECK(of("retry_cnt").sections.at(0).table.rows.size() == 8);
	CHECK(of("rnr_retry").sections.at(0).table.rows.at(7)[1] == "retried for ever");
	CHECK(of("rq_psn").sections.at(0).table.rows.empty());
	has(of("qp_access_flags"), {"0x4", "REMOTE_READ"});
	has(of("traffic_class"), {"184 (0xb8)  DSCP 46 (EF)", "AF31"});
	has(of("static_rate"), {"100 Gb/s"});
	// Every attribute can be explained.
	for (const auto &each : qpattr::attr::attributes)
		CHECK(of(each.name).data["attribute"] == each.name);
}

TEST_CASE("explain: a mask", "[explain]")
{
	has(of("0x129181"), {"STATE|AV|PATH_MTU|RQ_PSN|MIN_RNR_TIMER|MAX_DEST_RD_ATOMIC|DEST_QPN",
			     "RC, XRC_TGT, to RTR", "not in it", "ALT_PATH",
			     "ah_attr.*, the address of the peer", "dest_qp_num"});
	has(of("1216897"), {"RC, XRC_TGT, to RTR"});
	has(of("STATE|AV|PATH_MTU"), {"mask 0x181 ="});
	has(of("IBV_QP_STATE | IBV_QP_PORT"), {"mask 0x21 ="});
	has(of("0x39"), {"RC, UC, XRC, to INIT", "before the connection"});
	has(of("0x71"), {"UD, every state"});
	has(of("0x44000"), {"after the path has migrated", "nothing for ibv_modify_qp()"});
	has(of("0x129180"), {"no answer", "nearest", "0x129181", "lacks STATE"});
	has(of("0x129185"), {"it has EN_SQD_ASYNC_NOTIFY besides"});
	has(of("0x329181"), {"mask-reserved", "EOPNOTSUPP"});
	has(of("0"), {"mask 0x0 = 0"});
	CHECK(of("0x12e01").data["transitions"][0]["state"] == "RTS");
	CHECK(of("0x12e01").data["mask_names"].size() == 6);
}

TEST_CASE("explain: a state", "[explain]")
{
	has(of("RTR"),
	    {"ready to receive", "0x129181", "0x101181", "0x71", "path_mtu", "655.36 ms"});
	has(of("IBV_QPS_RTS"), {"0x12e01", "timeout"});
	has(of("init"), {"0x39", "access flags"});
	has(of("ERR"), {"EINVAL"});
}

TEST_CASE("explain: an errno, by the state", "[explain]")
{
	has(of("EINVAL RTR"), {"EINVAL (22)", "connecting", "CONNECT_RESPONSE", "disconnected",
			       "without a device", "ADDR_RESOLVED", "ibv_modify_qp()"});
	has_not(of("EINVAL RTR"), "only INIT, RTR and RTS");
	has_not(of("EINVAL INIT"), "id is  connecting");
	has(of("EINVAL ERR"), {"only INIT, RTR and RTS are answered"});
	has_not(of("EINVAL ERR"), "disconnected by");
	has(of("22 RTS"), {"EINVAL (22)", "asked for RTS"});
	has(of("RTS EINVAL"), {"asked for RTS"});
	has(of("EINVAL 99"), {"no such QP state"});
	refused([] { (void)of("EACCES 9"); }, "9 is no QP state");
	has(of("EACCES"), {"fork", "rdma_listen"});
	has(of("ENODATA RTR"), {"not /dev/infiniband/rdma_cm"});
	has(of("ENOSYS INIT"), {"neither"});
	has(of("ENXIO INIT"), {"removed"});
	has(of("ENOENT INIT"), {"destroyed"});
	has(of("EPIPE RTR"), {"write(2)"});
	CHECK(of("EINVAL RTR").data["errno"] == "EINVAL");
	CHECK(of("EINVAL RTR").data["causes"][0]["id_is"] == "connecting");
	CHECK(of("EINVAL INIT").data["causes"][0]["id_is"] == "disconnected");
}

TEST_CASE("explain: an errno of another call is docs/errors.md's", "[explain]")
{
	has(of("EADDRINUSE"), {"rdma_bind_addr", "address and port are in use", "REUSEADDR"});
	has(of("ENODEV rdma_resolve_route"), {"loopback address"});
	has(of("EINVAL rdma_get_cm_event()"), {"no place for the event"});
	has(of("EXDEV"), {"no error that"});
	refused([] { (void)of("ENODEV rdma_ack_cm_event"); }, "not known to answer ENODEV",
		failed_status);
	refused([] { (void)of("EINVAL frobnicate"); }, "no QP state");
}

TEST_CASE("explain: a completion by its number and in words", "[explain]")
{
	for (const char *said : {"completion 12", "wc 12", "status 12", "wc status 12", "retry_exc_err",
				 "transport retry counter exceeded"})
		has(of(said), {"IBV_WC_RETRY_EXC_ERR, status 12", "retry_cnt + 1 times"});
	has(of("status 2"), {"IBV_WC_LOC_QP_OP_ERR"});
	has(of("12"), {"ENOMEM", "qpattr explain IBV_WC_RETRY_EXC_ERR"});
	has_not(of("ENOMEM"), "IBV_WC");
	refused([] { (void)of("completion 99"); }, "nothing that qpattr knows", usage_status);
}

TEST_CASE("explain: ibv_modify_qp() and events by their errno", "[explain]")
{
	has(of("EINVAL ibv_modify_qp"), {"of ibv_modify_qp", "sgid_index not in the table"});
	has(of("EOPNOTSUPP ibv_modify_qp()"), {"a reserved bit"});
	has(of("EIO ibv_modify_qp"), {"the device's driver"});
	has(of("ADDR_ERROR -110"), {"ping it"});
	has(of("ADDR_ERROR -19"), {"no RDMA device"});
	has(of("ETIMEDOUT"), {"qpattr explain ADDR_ERROR -110"});
}

TEST_CASE("explain: a dump with every byte, whatever its column of letters shows", "[explain]")
{
	const auto letter = [](unsigned char byte) { return byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.'; };
	for (unsigned first = 0; first < 256; first += 16) {
		// Each letter at each end of the column, too.
		for (unsigned turned = 0; turned < 16; ++turned) {
			std::vector<unsigned char> bytes;
			std::string letters, pairs, fours;
			for (unsigned i = 0; i < 16; ++i) {
				bytes.push_back(static_cast<unsigned char>(first + (i + turned) % 16));
				letters += letter(bytes.back());
				pairs += fmt::format(" {:02x}", bytes.back());
				fours += fmt::format("{}{:02x}", i % 2 ? "" : " ", bytes.back());
			}
			CAPTURE(letters);
			CHECK(bytes_of_dump("00000000 " + pairs + "  |" + letters + "|\n00000010\n") == bytes);
			CHECK(bytes_of_dump("00000000:" + fours + "  " + letters + "\n") == bytes);
		}
	}
}

TEST_CASE("explain: what a later call made good is told", "[explain]")
{
	fake::end early = fake::connection().first;
	const std::string whole = fake::trace_of({early});
	// RTR asked before the connection: INIT's answer, and the same connection went on.
	const auto replaced = [](std::string in, const std::string &from, const std::string &to) {
		REQUIRE(in.find(from) != std::string::npos);
		return in.replace(in.find(from), from.size(), to);
	};
	std::string lines = replaced(whole, R"("asked":"INIT")", R"("asked":"RTR")");
	lines = replaced(lines, R"("qp_state":{"value":"INIT","number":1)",
			 R"("qp_state":{"value":"RTR","number":2)");
	has(explain_trace(lines, "t"), {"asked-too-early"});
	has_not(explain_trace(whole, "t"), "asked-too-early");
	has_not(explain_trace(whole, "t"), "never-connected");
	const std::size_t second = whole.find("\n", whole.find("\"asked\":\"INIT\""));
	has(explain_trace(whole.substr(0, second + 1), "t"), {"never-connected", "qpattr probe"});
}

TEST_CASE("explain: a trace of another format is named", "[explain]")
{
	refused([] { (void)parse_trace("06:02:48.961968  rping 171  RTR\n", "t"); },
		"t is a trace for people: trace again with --format json", failed_status);
	refused([] { (void)parse_trace("{\"displayTimeUnit\":\"ns\"", "t"); },
		"t is a trace for Perfetto", failed_status);
}

TEST_CASE("explain: events and completions", "[explain]")
{
	has(of("REJECTED 28"), {"rdma_reject()", "event 8"});
	has(of("RDMA_CM_EVENT_REJECTED 8"), {"nobody listens"});
	has(of("UNREACHABLE -110"), {"ETIMEDOUT"});
	has(of("connect_request"), {"event 4"});
	has(of("TIMEWAIT_EXIT"), {"event 15"});
	has(of("IBV_WC_RETRY_EXC_ERR"), {"retry_cnt + 1 times", "path_mtu"});
	refused([] { (void)of("REJECTED why"); }, "a number");
}

TEST_CASE("explain: unknown things have one line, with the nearest name", "[explain]")
{
	refused([] { (void)of("timout 3"); }, "did you mean timeout?");
	refused([] { (void)of("min_rnr_tmier"); }, "did you mean min_rnr_timer?");
	refused([] { (void)of("EINVLA RTR"); }, "did you mean EINVAL?");
	refused([] { (void)of("RJECTED"); }, "did you mean REJECTED?");
	refused([] { (void)of("qwertyuiop"); }, "is nothing that qpattr knows, and no file");
	refused([] { (void)of("timeout fast"); }, "timeout");
	refused([] { (void)of("mtu 1500"); }, "path_mtu");
	refused([] { (void)of("retry_cnt 256"); }, "at most 255");
	refused([] { (void)of("dgid here"); }, "IPv6 address");
	refused([] { (void)of(""); }, "nothing to explain");
	refused([] { (void)of("0x123456789"); }, "is nothing");
	CHECK(nearest("timeuot", {"timeout", "time"}) == "timeout");
	CHECK(nearest("xyz", {"timeout"}).empty());
	CHECK(distance("abc", "acb") == 1);
	CHECK(distance("", "abc") == 3);
	CHECK(distance("ABC", "abc") == 0);
}

TEST_CASE("explain: a reply of 144 bytes", "[explain]")
{
	const page out = explain_reply(reply_bytes());
	has(out, {"INIT_QP_ATTR for RTS", "0x12e01", "timeout", "2.15 s", "17.2 s to 68.7 s",
		  "dead-peer-slow", "outside the mask", "rq_psn", "where the values come from"});
	CHECK(out.data["attributes"]["timeout"]["number"] == 19);
	CHECK(out.data["attributes"].contains("rq_psn") == false);
	has(explain_reply(reply_bytes(0x80000001)), {"no QP that is known"});
	has(explain_reply(reply_bytes(0x39)), {"before the connection"});

	auto bytes = reply_bytes();
	bytes.pop_back();
	refused([&] { (void)explain_reply(bytes); },
		"has 144 bytes, and these are 143: something is cut");
	bytes.resize(200);
	refused([&] { (void)explain_reply(bytes); }, "these are 200: there is something behind");
	bytes.resize(24);
	refused([&] { (void)explain_reply(bytes); }, "the whole command");
}

TEST_CASE("explain: a reply of a machine with the other order of bytes", "[explain]")
{
	ib_uverbs_qp_attr here{}, there{};
	const auto number = [](std::uint32_t &one, std::uint32_t &other, std::uint32_t value) {
		one = value;
		other = __builtin_bswap32(value);
	};
	const auto half = [](std::uint16_t &one, std::uint16_t &other, std::uint16_t value) {
		one = value;
		other = __builtin_bswap16(value);
	};
	// All that a mask can have, and what is of one byte.
	number(here.qp_attr_mask, there.qp_attr_mask, 0x1fffff);
	number(here.qp_state, there.qp_state, IBV_QPS_RTR);
	number(here.cur_qp_state, there.cur_qp_state, IBV_QPS_INIT);
	number(here.path_mtu, there.path_mtu, IBV_MTU_1024);
	number(here.path_mig_state, there.path_mig_state, IBV_MIG_REARM);
	number(here.qkey, there.qkey, 0x11223344);
	number(here.rq_psn, there.rq_psn, 0x4006f6);
	number(here.sq_psn, there.sq_psn, 0x838060);
	number(here.dest_qp_num, there.dest_qp_num, 0x11);
	number(here.qp_access_flags, there.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	number(here.max_send_wr, there.max_send_wr, 10);
	number(here.max_recv_wr, there.max_recv_wr, 20);
	number(here.max_send_sge, there.max_send_sge, 30);
	number(here.max_recv_sge, there.max_recv_sge, 40);
	number(here.max_inline_data, there.max_inline_data, 50);
	number(here.ah_attr.grh.flow_label, there.ah_attr.grh.flow_label, 0x12345);
	number(here.alt_ah_attr.grh.flow_label, there.alt_ah_attr.grh.flow_label, 0x54321);
	half(here.ah_attr.dlid, there.ah_attr.dlid, 0x1234);
	half(here.alt_ah_attr.dlid, there.alt_ah_attr.dlid, 0x4321);
	half(here.pkey_index, there.pkey_index, 2);
	half(here.alt_pkey_index, there.alt_pkey_index, 3);
	here.ah_attr.grh.dgid[15] = there.ah_attr.grh.dgid[15] = 9;
	here.timeout = there.timeout = 19;
	const auto explained = [](const ib_uverbs_qp_attr &raw) {
		std::vector<unsigned char> bytes(sizeof raw);
		std::memcpy(bytes.data(), &raw, sizeof raw);
		return explain_reply(bytes);
	};
	const page ours = explained(here), theirs = explained(there);
	CHECK(theirs.data == ours.data);
	CHECK(ours.data["attributes"]["cap.max_inline_data"]["number"] == 50);
	has(theirs, {"byte order", "-endian machine", "INIT_QP_ATTR for RTR"});
	CHECK(ours.sections[0].facts.size() + 1 == theirs.sections[0].facts.size());
}

TEST_CASE("explain: dumps of every kind are the same bytes", "[explain]")
{
	const auto bytes = reply_bytes();
	std::string canonical, xxd, plain, od, gdb, squeezed;
	for (std::size_t at = 0; at < bytes.size(); at += 16) {
		canonical +=
			fmt::format("{:08x}  {}  {}  |................|\n", at,
				    hex(bytes, at, at + 8, " "), hex(bytes, at + 8, at + 16, " "));
		xxd += fmt::format("{:08x}:", at);
		for (std::size_t i = at; i < at + 16; i += 2)
			xxd += " " + hex(bytes, i, i + 2, "");
		xxd += "  ...a b..: 12....\n";
		plain += hex(bytes, at, at + 16, "") + "\n";
		od += fmt::format("{:07o} {}\n", at, hex(bytes, at, at + 16, " "));
		gdb += fmt::format("0x7ffe{:04x} <reply+{}>:\t{}\n", at, at,
				   hex(bytes, at, at + 16, "\t", "0x"));
		const bool same = at && std::equal(bytes.begin() + static_cast<long>(at),
						   bytes.begin() + static_cast<long>(at) + 16,
						   bytes.begin() + static_cast<long>(at) - 16);
		if (!same)
			squeezed += fmt::format("{:08x}  {}\n", at, hex(bytes, at, at + 16, " "));
		else if (squeezed.size() < 2 || squeezed.substr(squeezed.size() - 2) != "*\n")
			squeezed += "*\n";
	}
	REQUIRE(squeezed.find("*\n") != std::string::npos);
	canonical += "00000090\n";
	squeezed += "00000090\n";
	od += "0000220\n";
	CHECK(bytes_of_dump(canonical) == bytes);
	CHECK(bytes_of_dump(squeezed) == bytes);
	CHECK(bytes_of_dump(xxd) == bytes);
	CHECK(bytes_of_dump(plain) == bytes);
	CHECK(bytes_of_dump(od) == bytes);
	CHECK(bytes_of_dump(gdb) == bytes);
	CHECK(bytes_of_dump(hex(bytes, 0, 144, "")) == bytes);
	CHECK(bytes_of_dump(hex(bytes, 0, 144, ", ", "0x")) == bytes);
	CHECK(bytes_of_dump("\"" + hex(bytes, 0, 144, "", "\\x") + "\"") == bytes);
	CHECK(bytes_of_dump("write(3, \"" + hex(bytes, 0, 144, "", "\\x") + "\", 144) = 144") ==
	      bytes);
	CHECK(bytes_of_dump("\\1\\22\\0\\0A\\n\\\"") ==
	      std::vector<unsigned char>{1, 18, 0, 0, 'A', '\n', '"'});
	CHECK(bytes_of_dump({reinterpret_cast<const char *>(bytes.data()), bytes.size()}) == bytes);
	CHECK(looks_like_dump(canonical));
	CHECK_FALSE(looks_like_dump("timeout 14"));
	CHECK_FALSE(looks_like_dump("0x129181"));
	CHECK_FALSE(looks_like_dump("EACCES"));
	refused([] { (void)bytes_of_dump("00 01\nzz 02\n"); }, "line 2");
	refused([] { (void)bytes_of_dump("\\"); }, "line 1");
}

TEST_CASE("explain: a trace", "[explain]")
{
	auto [client, server] = fake::connection();
	client.attr.min_rnr_timer = 0;
	client.attr.timeout = 19;
	client.overrides = {{{"rule", 2}, {"attribute", "timeout"}, {"before", 16}, {"after", 19}}};
	server.fails = "RTS";
	const page out = explain_trace(fake::trace_of({client, server}), "t.jsonl");
	has(out,
	    {"t.jsonl: 7 calls about 2 connection ends", "1. prog 100, active side",
	     "2. prog 200, passive side", "10.0.0.1:40000", "RC QP 17 on mlx5_0 port 1",
	     "INIT, INIT, RTR, RTS\n", "RTS failed: EINVAL", "is noticed after 17.2 s to 68.7 s",
	     "rnr-timer-655ms", "dead-peer-slow", "qpattr explain EINVAL RTS",
	     fmt::format("16 {} 19, by rule 2", arrow()), "where the values come from"});
	CHECK(out.data["connections"].size() == 2);
	CHECK(out.data["connections"][0]["side"] == "active");
	CHECK(out.data["connections"][1]["side"] == "passive");

	// A hundred that are alike are one section.
	std::vector<fake::end> many;
	for (unsigned i = 0; i < 100; ++i) {
		fake::end each = fake::connection().first;
		each.id = fmt::format("{:#x}", 0x1000 + i);
		each.src = fmt::format("10.0.0.1:{}", 40000 + i);
		each.qp_num = 17 + i;
		each.attr.sq_psn = 1000 + i;
		many.push_back(each);
	}
	const page storm = explain_trace(fake::trace_of(many), "t");
	CHECK(storm.sections.size() == 3); // the head, one, where from
	has(storm, {"the same for", "2 to 100"});
	CHECK(storm.data["connections"].size() == 100);

	// rxe's own rule is applied by the device's name.
	fake::end soft = fake::connection().first;
	soft.device = "rxe0";
	has(explain_trace(fake::trace_of({soft}), "t"),
	    {"dead-peer-never", "is never noticed: rxe"});
	has_not(explain_trace(fake::trace_of({fake::connection().first}), "t"), "dead-peer");
}

TEST_CASE("explain: traces that are broken", "[explain]")
{
	const std::string whole = fake::trace_of({fake::connection().first});
	has(explain_trace(whole.substr(0, whole.size() - 20), "t"), {"trace-cut", "line 4"});
	refused([&] { (void)explain_trace("{\"qpattr\":2}\n", "t"); },
		"t:1: the trace is of schema version 2", failed_status);
	refused([&] { (void)explain_trace("{nonsense\n" + whole, "t"); }, "t:1:", failed_status);
	std::string gid = whole;
	gid.replace(gid.find("::ffff:10.0.0.2"), 15, "not a GID at al");
	refused([&] { (void)explain_trace(gid, "t"); }, "is no GID", failed_status);
	std::string large = whole;
	const std::string small = "\"number\":16,\"meaning\":\"268 ms\"";
	REQUIRE(large.find(small) != std::string::npos);
	std::string none = large;
	none.replace(none.find(small), small.size(), "\"meaning\":\"268 ms\"");
	refused([&] { (void)explain_trace(none, "t"); }, "t:4: timeout has no number", failed_status);
	large.replace(large.find(small), small.size(), "\"number\":300");
	refused([&] { (void)explain_trace(large, "t"); }, "t:4: timeout: the number 300 does not fit into 8 bits",
		failed_status);
}

TEST_CASE("explain: JSON has what the text has", "[explain]")
{
	const auto out = json_of(of("rnr 0"));
	CHECK(out["qpattr"] == 1);
	CHECK(out["kind"] == "attribute");
	CHECK(out["number"] == 0);
	CHECK(out["sections"][0]["findings"][0]["id"] == "rnr-timer-655ms");
	CHECK(out["sections"][0]["findings"][0]["severity"] == "warning");
	CHECK(out["sections"][0]["findings"][0]["attribute"] == "min_rnr_timer");
	CHECK(out["sections"][0]["facts"][0]["label"] == "is");
	CHECK(listed({1}) == "1");
	CHECK(listed({1, 2}) == "1, 2");
	CHECK(listed({2, 3, 4, 7, 9, 10}) == "2 to 4, 7, 9, 10");
}
