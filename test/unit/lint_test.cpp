// SPDX-License-Identifier: MIT
// Every finding of lint(): what raises it, its reason in units, and the value beside
// that raises none. A healthy connection has none at all.
#include "test/support/linted.hpp"

using namespace qpattr::test;

TEST_CASE("lint: a healthy connection has no finding", "[lint]")
{
	raises_nothing([](ibv_qp_attr &) {});
	raises_nothing([](ibv_qp_attr &) {},
		       [](surroundings &at) {
			       at.link_layer = IBV_LINK_LAYER_ETHERNET;
			       at.qp_type = IBV_QPT_RC;
			       at.active_mtu = IBV_MTU_1024;
			       at.interface_bytes = 1500;
			       at.pkey_count = 1;
			       at.gid_count = 4;
			       at.sgid = gid_kind::roce_v2;
		       });
	ibv_qp_attr zero{};
	CHECK(lint_of(zero, 0, {}).ids.empty());
}

TEST_CASE("lint: the RNR timer", "[lint]")
{
	raises("rnr-timer-655ms", warning, "min_rnr_timer", "655.36 ms", IBV_QP_MIN_RNR_TIMER,
	       [](ibv_qp_attr &a) { a.min_rnr_timer = 0; });
	ibv_qp_attr attr = healthy();
	attr.min_rnr_timer = 0;
	CHECK(lint_of(attr, all_mask, {}, "rnr-timer-655ms").reason.find("rnr_retry 7, for ever") !=
	      std::string::npos);
	CHECK(lint_of(attr, rtr_mask, {}, "rnr-timer-655ms").reason.find("rnr_retry") ==
	      std::string::npos);
	attr.rnr_retry = 6;
	CHECK(lint_of(attr, all_mask, {}, "rnr-timer-655ms").reason.find("rnr_retry") ==
	      std::string::npos);
	raises("rnr-timer-long", warning, "min_rnr_timer", "code 31 is 491.52 ms",
	       IBV_QP_MIN_RNR_TIMER, [](ibv_qp_attr &a) { a.min_rnr_timer = 31; });
	raises("rnr-timer-long", warning, "min_rnr_timer", "code 27 is 122.88 ms",
	       IBV_QP_MIN_RNR_TIMER, [](ibv_qp_attr &a) { a.min_rnr_timer = 27; });
	raises_nothing([](ibv_qp_attr &a) { a.min_rnr_timer = 26; });
	raises_nothing([](ibv_qp_attr &a) { a.min_rnr_timer = 1; });
	raises("rnr-retry-0", warning, "rnr_retry", "no receive posted", IBV_QP_RNR_RETRY,
	       [](ibv_qp_attr &a) { a.rnr_retry = 0; });
	raises_nothing([](ibv_qp_attr &a) { a.rnr_retry = 1; });
}

TEST_CASE("lint: the retry timer", "[lint]")
{
	raises("timeout-never", problem, "timeout", "for ever", IBV_QP_TIMEOUT,
	       [](ibv_qp_attr &a) { a.timeout = 0; });
	raises("retry-0", warning, "retry_cnt", "one lost packet ends the connection",
	       IBV_QP_RETRY_CNT, [](ibv_qp_attr &a) { a.retry_cnt = 0; });
	// 18 is 1.07 s, the first that is a second and more; 8 tries of it are 8.59 s.
	raises("loss-stall", warning, "timeout",
	       "timeout 18 a lost packet can stall the "
	       "connection for 1.07 s to 4.29 s",
	       IBV_QP_TIMEOUT, [](ibv_qp_attr &a) { a.timeout = 18; });
	raises_nothing([](ibv_qp_attr &a) { a.timeout = 17; });

	ibv_qp_attr attr = healthy();
	attr.timeout = 19; // what the cm gives on RoCE up to kernel 6.1
	const said slow = lint_of(attr, all_mask, {}, "dead-peer-slow");
	CHECK(slow.ids == std::set<std::string>{"loss-stall", "dead-peer-slow"});
	CHECK(slow.reason == "a dead peer is noticed only after 17.2 s to 68.7 s (8 tries of 2.15 "
			     "s, up to 4 times that)");
	CHECK(slow.how == warning);
	attr.retry_cnt = 3; // 8.59 s
	CHECK(lint_of(attr, all_mask, {}).ids == std::set<std::string>{"loss-stall"});
	attr.retry_cnt = 7;
	CHECK(lint_of(attr, all_mask & ~std::uint32_t{IBV_QP_RETRY_CNT}, {}).ids ==
	      std::set<std::string>{"loss-stall"});

	// 8 tries of 1.05 ms are 8.39 ms; of 2.10 ms, 16.8 ms.
	raises("dead-peer-hasty", warning, "timeout",
	       "fails if the network pauses for 8.39 ms to 33.6 ms (8 tries of 1.05 ms",
	       IBV_QP_RETRY_CNT, [](ibv_qp_attr &a) { a.timeout = 8; });
	raises_nothing([](ibv_qp_attr &a) { a.timeout = 9; });
}

TEST_CASE("lint: rxe never gives up with retry_cnt 7", "[lint]")
{
	const place rxe = [](surroundings &at) { at.soft_roce = true; };
	raises(
		"dead-peer-never", warning, "retry_cnt", "never noticed", IBV_QP_RETRY_CNT,
		[](ibv_qp_attr &) {}, rxe);
	raises_nothing([](ibv_qp_attr &a) { a.retry_cnt = 6; }, rxe);
}

TEST_CASE("lint: the path MTU", "[lint]")
{
	raises("path-mtu-range", problem, "path_mtu", "path_mtu 0 is none", IBV_QP_PATH_MTU,
	       [](ibv_qp_attr &a) { a.path_mtu = ibv_mtu{}; });
	const place ethernet = [](surroundings &at) { at.interface_bytes = 1500; };
	raises(
		"path-mtu-above-link", problem, "path_mtu",
		"packets of 4096 bytes and their headers do not fit into the interface's 1500",
		IBV_QP_PATH_MTU, [](ibv_qp_attr &a) { a.path_mtu = IBV_MTU_4096; }, ethernet);
	raises_nothing([](ibv_qp_attr &) {}, ethernet);
	raises_nothing([](ibv_qp_attr &a) { a.path_mtu = IBV_MTU_4096; });
	raises(
		"path-mtu-above-port", problem, "path_mtu",
		"path MTU 2048, and the port's active MTU is 1024", IBV_QP_PATH_MTU,
		[](ibv_qp_attr &a) { a.path_mtu = IBV_MTU_2048; },
		[](surroundings &at) { at.active_mtu = IBV_MTU_1024; });
	raises(
		"path-mtu-below-port", note, "path_mtu", "path MTU 1024, and the port carries 4096",
		IBV_QP_PATH_MTU, [](ibv_qp_attr &) {},
		[](surroundings &at) { at.active_mtu = IBV_MTU_4096; });

	CHECK(mtu_of_interface(1500) == IBV_MTU_1024);
	CHECK(mtu_of_interface(1119) == IBV_MTU_512);
	CHECK(mtu_of_interface(1120) == IBV_MTU_1024);
	CHECK(mtu_of_interface(9000) == IBV_MTU_4096);
	CHECK(mtu_of_interface(351) == 0);
}

TEST_CASE("lint: the address on RoCE", "[lint]")
{
	raises("hop-limit-1", warning, "ah_attr.grh.hop_limit", "the first router", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.grh.hop_limit = 1; });
	raises_nothing([](ibv_qp_attr &a) { a.ah_attr.grh.hop_limit = 2; });
	raises_nothing([](ibv_qp_attr &a) { // nobody routes link-local addresses
		a.ah_attr.grh.hop_limit = 1;
		REQUIRE(::inet_pton(AF_INET6, "fe80::1", a.ah_attr.grh.dgid.raw) == 1);
	});
	raises("hop-limit-1", warning, "ah_attr.grh.hop_limit", "the first router", IBV_QP_AV,
	       [](ibv_qp_attr &a) {
		       a.ah_attr.grh.hop_limit = 0;
		       REQUIRE(::inet_pton(AF_INET6, "fd77::1", a.ah_attr.grh.dgid.raw) == 1);
	       });
	raises("traffic-class-0", note, "ah_attr.grh.traffic_class", "best-effort", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.grh.traffic_class = 2; });
	raises("congestion-marked", warning, "ah_attr.grh.traffic_class", "0x6b", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.grh.traffic_class = 0x6b; });
	raises_nothing([](ibv_qp_attr &a) { a.ah_attr.grh.traffic_class = 0x6a; });
	raises(
		"gid-not-v2", warning, "ah_attr.grh.sgid_index",
		"entry 3 of the GID table is RoCE v1", IBV_QP_AV, [](ibv_qp_attr &) {},
		[](surroundings &at) { at.sgid = gid_kind::roce_v1; });
	raises("sgid-index-0", note, "ah_attr.grh.sgid_index", "entry 0", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.grh.sgid_index = 0; });
	raises_nothing([](ibv_qp_attr &a) { a.ah_attr.grh.sgid_index = 0; },
		       [](surroundings &at) { at.sgid = gid_kind::roce_v2; });
	raises(
		"sgid-index-range", problem, "ah_attr.grh.sgid_index",
		"has 3 entries, and sgid_index is 3", IBV_QP_AV, [](ibv_qp_attr &) {},
		[](surroundings &at) { at.gid_count = 3; });
	raises(
		"no-grh-on-ethernet", problem, "ah_attr.is_global", "EINVAL", IBV_QP_AV,
		[](ibv_qp_attr &a) { a.ah_attr.is_global = 0; },
		[](surroundings &at) { at.link_layer = IBV_LINK_LAYER_ETHERNET; });
	raises("no-destination", problem, "ah_attr.dlid", "nobody", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.is_global = 0; });
	raises("no-destination", problem, "ah_attr.grh.dgid", "nobody", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.grh.dgid = {}; });
	raises("static-rate", warning, "ah_attr.static_rate", "2.5 Gb/s", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.static_rate = IBV_RATE_2_5_GBPS; });
	raises("static-rate-range", problem, "ah_attr.static_rate", "static_rate 99", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.static_rate = 99; });
}

TEST_CASE("lint: InfiniBand is not judged by RoCE's rules", "[lint]")
{
	const change infiniband = [](ibv_qp_attr &a) {
		a.ah_attr.dlid = 7;
		a.ah_attr.grh.hop_limit = 0;
		a.ah_attr.grh.traffic_class = 0;
		a.ah_attr.grh.sgid_index = 0;
		a.ah_attr.static_rate = IBV_RATE_100_GBPS;
		a.ah_attr.sl = 15;
		a.pkey_index = 2;
	};
	raises_nothing(infiniband);
	raises_nothing(infiniband,
		       [](surroundings &at) { at.link_layer = IBV_LINK_LAYER_INFINIBAND; });
	raises_nothing([&](ibv_qp_attr &a) {
		infiniband(a);
		a.ah_attr.is_global = 0;
		a.ah_attr.grh.dgid = {};
	});
}

TEST_CASE("lint: the partition", "[lint]")
{
	raises(
		"pkey-on-roce", warning, "pkey_index", "pkey_index 1", IBV_QP_PKEY_INDEX,
		[](ibv_qp_attr &a) { a.pkey_index = 1; },
		[](surroundings &at) { at.link_layer = IBV_LINK_LAYER_ETHERNET; });
	raises(
		"pkey-index-range", problem, "pkey_index", "has 128 entries, and pkey_index is 128",
		IBV_QP_PKEY_INDEX, [](ibv_qp_attr &a) { a.pkey_index = 128; },
		[](surroundings &at) { at.pkey_count = 128; });
	raises_nothing([](ibv_qp_attr &a) { a.pkey_index = 127; },
		       [](surroundings &at) { at.pkey_count = 128; });
}

TEST_CASE("lint: what the peer may read", "[lint]")
{
	raises("no-remote-read", warning, "qp_access_flags", "answers READs (16 at a time)",
	       IBV_QP_ACCESS_FLAGS, [](ibv_qp_attr &a) { a.qp_access_flags = 2; });
	raises_nothing([](ibv_qp_attr &a) { a.qp_access_flags = 2; },
		       [](surroundings &at) { at.qp_type = IBV_QPT_XRC_SEND; });
	raises("no-reads-answered", note, "max_dest_rd_atomic", "refused",
	       IBV_QP_MAX_DEST_RD_ATOMIC, [](ibv_qp_attr &a) { a.max_dest_rd_atomic = 0; });
	raises("no-reads-answered", note, "max_dest_rd_atomic", "refused",
	       IBV_QP_MAX_DEST_RD_ATOMIC, [](ibv_qp_attr &a) {
		       a.max_dest_rd_atomic = 0;
		       a.qp_access_flags = 2; // as the connection manager gives them then
	       });
	raises_nothing([](ibv_qp_attr &a) { a.max_dest_rd_atomic = 1; });
	raises("no-reads-sent", note, "max_rd_atomic", "no READ", IBV_QP_MAX_QP_RD_ATOMIC,
	       [](ibv_qp_attr &a) { a.max_rd_atomic = 0; });
	raises("read-depth-1", note, "max_rd_atomic", "one round trip each",
	       IBV_QP_MAX_QP_RD_ATOMIC, [](ibv_qp_attr &a) { a.max_rd_atomic = 1; });
	raises_nothing([](ibv_qp_attr &a) { a.max_rd_atomic = 2; });
}

TEST_CASE("lint: values that the wire has no room for", "[lint]")
{
	raises("timeout-range", problem, "timeout", "timeout is 32; at most 31", IBV_QP_TIMEOUT,
	       [](ibv_qp_attr &a) { a.timeout = 32; });
	raises("rnr-timer-range", problem, "min_rnr_timer", "at most 31", IBV_QP_MIN_RNR_TIMER,
	       [](ibv_qp_attr &a) { a.min_rnr_timer = 32; });
	raises("retry-range", problem, "retry_cnt", "at most 7", IBV_QP_RETRY_CNT,
	       [](ibv_qp_attr &a) { a.retry_cnt = 8; });
	raises("rnr-retry-range", problem, "rnr_retry", "at most 7", IBV_QP_RNR_RETRY,
	       [](ibv_qp_attr &a) { a.rnr_retry = 8; });
	raises("psn-range", problem, "rq_psn", "16777216", IBV_QP_RQ_PSN,
	       [](ibv_qp_attr &a) { a.rq_psn = 0x1000000; });
	raises("psn-range", problem, "sq_psn", "16777216", IBV_QP_SQ_PSN,
	       [](ibv_qp_attr &a) { a.sq_psn = 0x1000000; });
	raises("qpn-range", problem, "dest_qp_num", "16777215", IBV_QP_DEST_QPN,
	       [](ibv_qp_attr &a) { a.dest_qp_num = 0x1000000; });
	raises("peer-qp-special", problem, "dest_qp_num", "dest_qp_num is 1", IBV_QP_DEST_QPN,
	       [](ibv_qp_attr &a) { a.dest_qp_num = 1; });
	raises("flow-label-range", problem, "ah_attr.grh.flow_label", "1048575", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.grh.flow_label = 0x100000; });
	raises("service-level-range", problem, "ah_attr.sl", "at most 7", IBV_QP_AV,
	       [](ibv_qp_attr &a) { a.ah_attr.sl = 8; });
	raises("port-0", problem, "port_num", "no such port", IBV_QP_PORT,
	       [](ibv_qp_attr &a) { a.port_num = 0; });
	raises_nothing([](ibv_qp_attr &a) {
		a.timeout = 16;
		a.rq_psn = a.sq_psn = 0xffffff;
		a.dest_qp_num = 0xffffff;
		a.ah_attr.grh.flow_label = 0xfffff;
		a.ah_attr.sl = 7;
	});
}

TEST_CASE("lint: the mask itself", "[lint]")
{
	const ibv_qp_attr attr = healthy();
	const said reserved = lint_of(attr, all_mask | 1 << 21, {}, "mask-reserved");
	CHECK(reserved.ids == std::set<std::string>{"mask-reserved"});
	CHECK(reserved.reason.find("SMAC") != std::string::npos);
	CHECK(reserved.how == problem);

	ibv_qp_attr early{};
	early.qp_state = IBV_QPS_RTR;
	early.port_num = 1;
	const said found = lint_of(early, init_mask, {}, "asked-too-early");
	CHECK(found.ids == std::set<std::string>{"asked-too-early"});
	CHECK(found.reason.find("asked for RTR") != std::string::npos);
	early.qp_state = IBV_QPS_INIT;
	CHECK(lint_of(early, init_mask, {}).ids.empty());
	early.qp_state = IBV_QPS_RTR;
	CHECK(lint_of(early, 0x71, {}).ids.empty()); // UD: always the same answer
	CHECK(lint_of(early, 0x29, {}).ids.empty()); // iWARP
}

TEST_CASE("lint: transitions are put together, the later one counts", "[lint]")
{
	gathered all;
	ibv_qp_attr attr = healthy();
	attr.qp_access_flags = 0; // before rdma_connect()
	all.add(attr, init_mask);
	attr.qp_access_flags = 0xe;
	attr.timeout = 0; // not in this mask
	all.add(attr, init_mask);
	attr.timeout = 16;
	all.add(attr, rtr_mask);
	CHECK(all.mask == (init_mask | rtr_mask));
	CHECK(all.attr.timeout == 0);
	all.add(attr, rts_mask);
	CHECK(all.mask == all_mask);
	CHECK(all.attr.qp_access_flags == 0xe);
	CHECK(equal_fields(all.attr, healthy()));
}

TEST_CASE("lint: the worst comes first", "[lint]")
{
	ibv_qp_attr attr = healthy();
	attr.max_rd_atomic = 1;
	attr.ah_attr.grh.traffic_class = 0;
	attr.min_rnr_timer = 0;
	attr.ah_attr.static_rate = 99;
	findings found;
	lint(attr, all_mask, {}, found);
	REQUIRE(found.size() == 4);
	CHECK(found[0].id == std::string{"static-rate-range"});
	CHECK(found[1].id == std::string{"rnr-timer-655ms"});
	CHECK(found[2].id == std::string{"traffic-class-0"});
	CHECK(found[3].id == std::string{"read-depth-1"});
}

TEST_CASE("lint: more findings than there is room for", "[lint]")
{
	findings full;
	for (std::size_t i = 0; i < findings::capacity; ++i)
		full.add("kept", severity::note, nullptr, "");
	full.add("dropped", severity::problem, nullptr, "");
	CHECK(full.size() == findings::capacity);
	CHECK(full.find("kept"));
	CHECK_FALSE(full.find("dropped"));
}

TEST_CASE("waits: the worst case", "[lint]")
{
	CHECK(dead_peer_wait(14, 7).least_ns == std::uint64_t{4096} * 16384 * 8);
	CHECK(dead_peer_wait(14, 7).most_ns == std::uint64_t{4096} * 16384 * 32);
	CHECK(dead_peer_wait(0, 7).endless());
	CHECK(dead_peer_wait(14, 8).endless());
	CHECK(rnr_wait(0, 6).least_ns == 6 * std::uint64_t{655360} * 1000);
	CHECK(rnr_wait(0, 7).endless());
	const auto text_for = [](const time_span &span) {
		text_of<64> line;
		add_span(line, span);
		return std::string{line.c_str()};
	};
	CHECK(text_for(dead_peer_wait(14, 7)) == "537 ms to 2.15 s");
	CHECK(text_for(rnr_wait(12, 3)) == "1.92 ms");
	CHECK(text_for(rnr_wait(12, 7)) == "for ever");
	CHECK(text_for(rnr_wait(0, 0)) == "no time");
	CHECK(rnr_wait(32, 1).endless());
	CHECK(loss_wait(0).endless());
	CHECK(loss_wait(32).endless());
}
