// SPDX-License-Identifier: MIT
#include "lib/attr/fields.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "lib/attr/names.hpp"
#include "lib/attr/runs.hpp"
#include "test/support/catch.hpp"

using namespace qpattr::attr;

namespace {

const attribute &named(const char *name)
{
	const attribute *const found = find_attribute(name);
	REQUIRE(found);
	return *found;
}

std::string value(const char *name, const ibv_qp_attr &from)
{
	text_of<128> line;
	add_value(line, named(name), from);
	CHECK_FALSE(line.truncated());
	return line.c_str();
}

std::string meaning(const char *name, const ibv_qp_attr &from)
{
	text_of<256> line;
	add_meaning(line, named(name), from);
	CHECK_FALSE(line.truncated());
	return line.c_str();
}

unsigned char &byte_at(ibv_qp_attr &of, std::size_t at)
{
	return reinterpret_cast<unsigned char *>(&of)[at];
}

// A struct with a different value in every field.
ibv_qp_attr full()
{
	ibv_qp_attr out{};
	for (std::size_t i = 0; i < sizeof out; ++i)
		byte_at(out, i) = static_cast<unsigned char>(i + 1);
	return out;
}

} // namespace

TEST_CASE("fields: every byte of the struct that is no padding, exactly once", "[fields]")
{
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define QPATTR_KNOWS_PADDING 1
#endif
#endif
#ifdef QPATTR_KNOWS_PADDING
	// The compiler, not our table, says what is padding.
	ibv_qp_attr marked;
	std::memset(&marked, 0xff, sizeof marked);
	__builtin_clear_padding(&marked);
	std::vector<int> covered(sizeof marked);
	for (const attribute &each : attributes) {
		REQUIRE(each.offset + each.len <= sizeof marked);
		for (std::size_t i = 0; i < each.len; ++i)
			++covered[each.offset + i];
	}
	std::size_t bytes = 0;
	for (std::size_t i = 0; i < sizeof marked; ++i) {
		INFO("byte " << i);
		CHECK(covered[i] == (byte_at(marked, i) == 0xff ? 1 : 0));
		bytes += static_cast<std::size_t>(covered[i]);
	}
	CHECK(bytes == 135);
#else
	WARN("the compiler does not tell what is padding");
	SUCCEED();
#endif
}

TEST_CASE("fields: the rows are what is translated", "[fields]")
{
	REQUIRE(attributes.size() == fields.size());
	for (std::size_t i = 0; i < fields.size(); ++i) {
		INFO(attributes[i].name);
		CHECK(attributes[i].offset == fields[i].to);
		CHECK(attributes[i].len == fields[i].len);
		// What the kernel's reply does not have is the question and the
		// rate limit.
		const std::string name = attributes[i].name;
		CHECK(fields[i].copied == (name != "qp_state" && name != "rate_limit"));
	}
}

TEST_CASE("fields: names are those of the struct, each once", "[fields]")
{
	std::set<std::string> names;
	for (const attribute &each : attributes) {
		CHECK(names.insert(each.name).second);
		CHECK(find_attribute(each.name) == &each);
	}
	CHECK(names.size() == 50);
	CHECK(named("timeout").offset == offsetof(ibv_qp_attr, timeout));
	CHECK(named("cap.max_inline_data").offset == offsetof(ibv_qp_attr, cap.max_inline_data));
	CHECK(named("ah_attr.grh.dgid").offset == offsetof(ibv_qp_attr, ah_attr.grh.dgid));
	CHECK(named("alt_ah_attr.port_num").offset == offsetof(ibv_qp_attr, alt_ah_attr.port_num));
	CHECK(find_attribute("no_such_field") == nullptr);
	CHECK(find_attribute("") == nullptr);
	CHECK(find_attribute(nullptr) == nullptr);
}

TEST_CASE("fields: each has the mask bit that ibv_modify_qp() asks for", "[fields]")
{
	CHECK(named("qp_state").mask_bit == 0x1);
	CHECK(named("cur_qp_state").mask_bit == 0x2);
	CHECK(named("en_sqd_async_notify").mask_bit == 0x4);
	CHECK(named("qp_access_flags").mask_bit == 0x8);
	CHECK(named("pkey_index").mask_bit == 0x10);
	CHECK(named("port_num").mask_bit == 0x20);
	CHECK(named("qkey").mask_bit == 0x40);
	CHECK(named("path_mtu").mask_bit == 0x100);
	CHECK(named("timeout").mask_bit == 0x200);
	CHECK(named("retry_cnt").mask_bit == 0x400);
	CHECK(named("rnr_retry").mask_bit == 0x800);
	CHECK(named("rq_psn").mask_bit == 0x1000);
	CHECK(named("max_rd_atomic").mask_bit == 0x2000);
	CHECK(named("min_rnr_timer").mask_bit == 0x8000);
	CHECK(named("sq_psn").mask_bit == 0x10000);
	CHECK(named("max_dest_rd_atomic").mask_bit == 0x20000);
	CHECK(named("path_mig_state").mask_bit == 0x40000);
	CHECK(named("dest_qp_num").mask_bit == 0x100000);
	CHECK(named("rate_limit").mask_bit == 0x2000000);
	CHECK(named("sq_draining").mask_bit == 0);
	for (const attribute &each : attributes) {
		const std::string name = each.name;
		INFO(name);
		if (name.rfind("cap.", 0) == 0)
			CHECK(each.mask_bit == 0x80000);
		if (name.rfind("ah_attr.", 0) == 0)
			CHECK(each.mask_bit == 0x80);
		if (name.rfind("alt_", 0) == 0)
			CHECK(each.mask_bit == 0x4000);
		CHECK((each.mask_bit == 0 || mask_bit_name(each.mask_bit) != nullptr));
		CHECK((each.mask_bit & mask_reserved) == 0);
	}
	CHECK(in_mask(named("timeout"), 0x12e01));
	CHECK_FALSE(in_mask(named("timeout"), 0x129181));
	CHECK_FALSE(in_mask(named("sq_draining"), 0xffffffff));
}

TEST_CASE("fields: values and meanings of a RoCE connection", "[fields]")
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.rq_psn = 0x00abcd;
	attr.dest_qp_num = 17;
	attr.qp_access_flags = 0xe;
	attr.qkey = 0x01234567;
	attr.path_mig_state = IBV_MIG_REARM;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	attr.pkey_index = 2;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = 1;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.grh.traffic_class = 104;
	attr.ah_attr.grh.flow_label = 0xab12;
	attr.ah_attr.dlid = 0x11;
	REQUIRE(::inet_pton(AF_INET6, "::ffff:10.0.0.1", attr.ah_attr.grh.dgid.raw) == 1);

	struct {
		const char *name;
		const char *value;
		const char *meaning;
	} const all[] = {
		{"qp_state", "RTR", "ready to receive"},
		{"cur_qp_state", "RESET", "reset"},
		{"path_mtu", "3", "1024 bytes"},
		{"path_mig_state", "REARM", ""},
		{"qkey", "0x01234567", "the rdma connection manager's own"},
		{"rq_psn", "0x00abcd", "43981"},
		{"dest_qp_num", "0x000011", "17"},
		{"qp_access_flags", "0x0e", "REMOTE_WRITE|REMOTE_READ|REMOTE_ATOMIC"},
		{"cap.max_send_wr", "0", ""},
		{"ah_attr.grh.dgid", "::ffff:10.0.0.1", "IPv4 10.0.0.1"},
		{"ah_attr.grh.flow_label", "0x0ab12", ""},
		{"ah_attr.grh.sgid_index", "1", "entry 1 of the port's GID table"},
		{"ah_attr.grh.hop_limit", "64", "64 hops"},
		{"ah_attr.grh.traffic_class", "0x68", "DSCP 26 (AF31), ECN 0"},
		{"ah_attr.dlid", "0x0011", ""},
		{"ah_attr.static_rate", "0", "the port's rate"},
		{"ah_attr.is_global", "1", "with a global route (GRH)"},
		{"alt_ah_attr.is_global", "0", "without a global route"},
		{"alt_ah_attr.grh.dgid", "::", "not set"},
		{"pkey_index", "2", "entry 2 of the port's P_Key table"},
		{"sq_draining", "0", "no"},
		{"max_rd_atomic", "1", "1 READ or ATOMIC at a time"},
		{"max_dest_rd_atomic", "0", "no READ or ATOMIC"},
		{"min_rnr_timer", "0", "655.36 ms"},
		{"timeout", "14", "67.1 ms"},
		{"alt_timeout", "0", "no timeout (waits for ever)"},
		{"retry_cnt", "7", "7 retries"},
		{"rnr_retry", "7", "retried for ever"},
		{"rate_limit", "0", "no limit"},
	};
	for (const auto &each : all) {
		INFO(each.name);
		CHECK(value(each.name, attr) == each.value);
		CHECK(meaning(each.name, attr) == each.meaning);
	}
}

TEST_CASE("fields: values beyond their range are shown whole and called so", "[fields]")
{
	ibv_qp_attr attr;
	std::memset(&attr, 0xff, sizeof attr);
	const std::uint32_t no_state = 99;
	std::memcpy(&attr.qp_state, &no_state, sizeof no_state);
	CHECK(value("qp_state", attr) == "0x63");
	CHECK(meaning("qp_state", attr) == "not a QP state (0 to 6)");
	CHECK(value("path_mtu", attr) == "4294967295");
	CHECK(meaning("path_mtu", attr) == "not a path MTU (1 to 5)");
	CHECK(value("path_mig_state", attr) == "0xffffffff");
	CHECK(value("rq_psn", attr) == "0xffffffff");
	CHECK(meaning("rq_psn", attr) == "out of range (24 bits)");
	CHECK(meaning("timeout", attr) == "out of range (0 to 31)");
	CHECK(meaning("rnr_retry", attr) == "out of range (0 to 7)");
	CHECK(meaning("ah_attr.grh.flow_label", attr) == "out of range (20 bits)");
	CHECK(meaning("qp_access_flags", attr).find("0xffeffc00") != std::string::npos);
	// Every row can be written, whatever the bytes.
	for (const attribute &each : attributes) {
		CHECK_FALSE(value(each.name, attr).empty());
		meaning(each.name, attr);
	}
}

TEST_CASE("fields: numbers and GIDs are read from their place", "[fields]")
{
	ibv_qp_attr attr{};
	attr.alt_timeout = 31;
	attr.pkey_index = 0x1234;
	attr.rate_limit = 0xdeadbeef;
	attr.alt_ah_attr.grh.dgid.raw[15] = 9;
	CHECK(value_number(named("alt_timeout"), attr) == 31);
	CHECK(value_number(named("pkey_index"), attr) == 0x1234);
	CHECK(value_number(named("rate_limit"), attr) == 0xdeadbeef);
	CHECK(value_number(named("alt_ah_attr.grh.dgid"), attr) == 0);
	CHECK(value_gid(named("alt_ah_attr.grh.dgid"), attr).raw[15] == 9);
	CHECK(value_gid(named("pkey_index"), attr).raw[0] == 0);
	CHECK_FALSE(is_zero(named("alt_ah_attr.grh.dgid"), attr));
	CHECK(is_zero(named("ah_attr.grh.dgid"), attr));
	CHECK(is_zero(named("timeout"), attr));
}

TEST_CASE("fields: a difference in any byte of a field is found and named", "[fields]")
{
	const ibv_qp_attr a = full();
	CHECK(equal_fields(a, a));
	CHECK(first_difference(a, a) == nullptr);
	for (const attribute &each : attributes)
		for (std::size_t i = 0; i < each.len; ++i) {
			ibv_qp_attr b = a;
			byte_at(b, each.offset + i) ^= 0x80;
			INFO(each.name << ", byte " << i);
			CHECK_FALSE(equal_fields(a, b));
			CHECK(first_difference(a, b) == &each);
			CHECK_FALSE(equal_field(each, a, b));
		}
}

TEST_CASE("fields: the first of several differences is the one named", "[fields]")
{
	const ibv_qp_attr a = full();
	ibv_qp_attr b = a;
	b.timeout ^= 1;
	b.qkey ^= 1;
	b.rate_limit ^= 1;
	CHECK(first_difference(a, b) == &named("qkey"));
}

#ifdef QPATTR_KNOWS_PADDING
TEST_CASE("fields: padding makes no difference", "[fields]")
{
	ibv_qp_attr marked;
	std::memset(&marked, 0xff, sizeof marked);
	__builtin_clear_padding(&marked);
	const ibv_qp_attr a = full();
	ibv_qp_attr b = a;
	std::size_t paddings = 0;
	for (std::size_t i = 0; i < sizeof b; ++i)
		if (byte_at(marked, i) == 0) {
			byte_at(b, i) ^= 0xff;
			++paddings;
		}
	CHECK(paddings == sizeof(ibv_qp_attr) - 135);
	CHECK(equal_fields(a, b));
}
#endif
