// SPDX-License-Identifier: MIT
#include "lib/attr/names.hpp"

#include <string>

#include "test/support/catch.hpp"

using namespace qpattr::attr;

namespace {

template <class Add> std::string said(Add add, std::uint32_t value)
{
	text_of<512> line;
	add(line, value);
	CHECK_FALSE(line.truncated());
	return line.c_str();
}

struct expected {
	std::uint32_t value;
	const char *name;
};

} // namespace

TEST_CASE("names: QP states", "[names]")
{
	const expected all[] = {{0, "RESET"}, {1, "INIT"}, {2, "RTR"}, {3, "RTS"},
				{4, "SQD"},   {5, "SQE"},  {6, "ERR"}};
	for (const expected &each : all) {
		CHECK(std::string{qp_state_name(each.value)} == each.name);
		CHECK(said(add_qp_state, each.value) == each.name);
		CHECK(qp_state_long_name(each.value));
	}
	CHECK(std::string{qp_state_long_name(2)} == "ready to receive");
	CHECK(std::string{qp_state_long_name(3)} == "ready to send");
}

TEST_CASE("names: values that no enum names are shown as hexadecimal", "[names]")
{
	for (const std::uint32_t value : {7U, 99U, 255U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
		INFO(value);
		CHECK(qp_state_name(value) == nullptr);
		CHECK(qp_state_long_name(value) == nullptr);
		CHECK(mig_state_name(value) == nullptr);
		CHECK(link_layer_name(value) == nullptr);
		CHECK(port_space_name(value) == nullptr);
	}
	CHECK(said(add_qp_state, 99) == "0x63");
	CHECK(said(add_qp_state, 0xffffffff) == "0xffffffff");
	CHECK(said(add_qp_type, 0) == "0x0");
	CHECK(said(add_qp_type, 7) == "0x7");
	CHECK(said(add_mig_state, 3) == "0x3");
	CHECK(said(add_link_layer, 3) == "0x3");
	CHECK(said(add_port_space, 0x107) == "0x107");
}

TEST_CASE("names: QP types, migration states, link layers, port spaces", "[names]")
{
	const expected types[] = {{2, "RC"},	     {3, "UC"},	      {4, "UD"},
				  {8, "RAW_PACKET"}, {9, "XRC_SEND"}, {10, "XRC_RECV"},
				  {255, "DRIVER"}};
	for (const expected &each : types)
		CHECK(said(add_qp_type, each.value) == each.name);
	const expected migrations[] = {{0, "MIGRATED"}, {1, "REARM"}, {2, "ARMED"}};
	for (const expected &each : migrations)
		CHECK(said(add_mig_state, each.value) == each.name);
	const expected layers[] = {{0, "UNSPECIFIED"}, {1, "INFINIBAND"}, {2, "ETHERNET"}};
	for (const expected &each : layers)
		CHECK(said(add_link_layer, each.value) == each.name);
	const expected spaces[] = {{0x2, "IPOIB"}, {0x106, "TCP"}, {0x111, "UDP"}, {0x13f, "IB"}};
	for (const expected &each : spaces)
		CHECK(said(add_port_space, each.value) == each.name);
}

TEST_CASE("names: every bit of the mask", "[names]")
{
	const expected bits[] = {
		{0x1, "STATE"},
		{0x2, "CUR_STATE"},
		{0x4, "EN_SQD_ASYNC_NOTIFY"},
		{0x8, "ACCESS_FLAGS"},
		{0x10, "PKEY_INDEX"},
		{0x20, "PORT"},
		{0x40, "QKEY"},
		{0x80, "AV"},
		{0x100, "PATH_MTU"},
		{0x200, "TIMEOUT"},
		{0x400, "RETRY_CNT"},
		{0x800, "RNR_RETRY"},
		{0x1000, "RQ_PSN"},
		{0x2000, "MAX_QP_RD_ATOMIC"},
		{0x4000, "ALT_PATH"},
		{0x8000, "MIN_RNR_TIMER"},
		{0x10000, "SQ_PSN"},
		{0x20000, "MAX_DEST_RD_ATOMIC"},
		{0x40000, "PATH_MIG_STATE"},
		{0x80000, "CAP"},
		{0x100000, "DEST_QPN"},
		{0x200000, "SMAC"},
		{0x400000, "ALT_SMAC"},
		{0x800000, "VID"},
		{0x1000000, "ALT_VID"},
		{0x2000000, "RATE_LIMIT"},
	};
	for (const expected &each : bits) {
		CHECK(std::string{mask_bit_name(each.value)} == each.name);
		CHECK(said(add_mask, each.value) == each.name);
	}
	CHECK(mask_reserved == (0x200000 | 0x400000 | 0x800000 | 0x1000000));
	for (unsigned bit = 26; bit < 32; ++bit)
		CHECK(mask_bit_name(1U << bit) == nullptr);
	CHECK(mask_bit_name(0) == nullptr);
	CHECK(mask_bit_name(0x3) == nullptr);
}

TEST_CASE("names: masks of several bits", "[names]")
{
	CHECK(said(add_mask, 0) == "0");
	CHECK(said(add_mask, 0x39) == "STATE|ACCESS_FLAGS|PKEY_INDEX|PORT");
	CHECK(said(add_mask, 0x71) == "STATE|PKEY_INDEX|PORT|QKEY");
	CHECK(said(add_mask, 0x129181) ==
	      "STATE|AV|PATH_MTU|RQ_PSN|MIN_RNR_TIMER|MAX_DEST_RD_ATOMIC|DEST_QPN");
	CHECK(said(add_mask, 0x12e01) ==
	      "STATE|TIMEOUT|RETRY_CNT|RNR_RETRY|MAX_QP_RD_ATOMIC|SQ_PSN");
	CHECK(said(add_mask, 0x80000001) == "STATE|0x80000000");
	CHECK(said(add_mask, 0xc4000000) == "0xc4000000");
	// No bit is lost, whatever the mask.
	CHECK(said(add_mask, 0xffffffff) ==
	      "STATE|CUR_STATE|EN_SQD_ASYNC_NOTIFY|ACCESS_FLAGS|PKEY_INDEX|PORT|QKEY|AV|PATH_MTU|"
	      "TIMEOUT|RETRY_CNT|RNR_RETRY|RQ_PSN|MAX_QP_RD_ATOMIC|ALT_PATH|MIN_RNR_TIMER|SQ_PSN|"
	      "MAX_DEST_RD_ATOMIC|PATH_MIG_STATE|CAP|DEST_QPN|SMAC|ALT_SMAC|VID|ALT_VID|RATE_LIMIT|"
	      "0xfc000000");
}

TEST_CASE("names: access flags", "[names]")
{
	const expected flags[] = {
		{0x1, "LOCAL_WRITE"},
		{0x2, "REMOTE_WRITE"},
		{0x4, "REMOTE_READ"},
		{0x8, "REMOTE_ATOMIC"},
		{0x10, "MW_BIND"},
		{0x20, "ZERO_BASED"},
		{0x40, "ON_DEMAND"},
		{0x80, "HUGETLB"},
		{0x100, "FLUSH_GLOBAL"},
		{0x200, "FLUSH_PERSISTENT"},
		{0x100000, "RELAXED_ORDERING"},
	};
	for (const expected &each : flags) {
		CHECK(std::string{access_bit_name(each.value)} == each.name);
		CHECK(said(add_access_flags, each.value) == each.name);
	}
	CHECK(said(add_access_flags, 0) == "0");
	CHECK(said(add_access_flags, 0xe) == "REMOTE_WRITE|REMOTE_READ|REMOTE_ATOMIC");
	CHECK(said(add_access_flags, 0x30e) ==
	      "REMOTE_WRITE|REMOTE_READ|REMOTE_ATOMIC|FLUSH_GLOBAL|FLUSH_PERSISTENT");
	// A bit between the named ones.
	CHECK(access_bit_name(0x400) == nullptr);
	CHECK(said(add_access_flags, 0x40000402) == "REMOTE_WRITE|0x40000400");
	CHECK(said(add_access_flags, 0x400) == "0x400");
}

TEST_CASE("names: a text without room does no harm", "[names]")
{
	text_of<8> line;
	add_mask(line, 0xffffffff);
	CHECK(std::string{line.c_str()} == "STATE|C");
	CHECK(line.truncated());
}
