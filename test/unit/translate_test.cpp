// SPDX-License-Identifier: MIT
// lib/attr/translate.hpp and runs.hpp against libibverbs' own translation.
#include "lib/attr/translate.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "test/support/catch.hpp"

// Exported by libibverbs; its declaring header is not installed.
extern "C" void ibv_copy_qp_attr_from_kern(ibv_qp_attr *dst, ib_uverbs_qp_attr *src);

using namespace qpattr;

namespace {

constexpr int replies = 20000;

template <class T> T random_bytes(std::mt19937_64 &random)
{
	T value;
	auto *bytes = reinterpret_cast<unsigned char *>(&value);
	for (std::size_t i = 0; i < sizeof value; ++i)
		bytes[i] = static_cast<unsigned char>(random());
	return value;
}

bool equal_at(const ibv_qp_attr &a, const ibv_qp_attr &b, const attr::field &f)
{
	return std::memcmp(reinterpret_cast<const char *>(&a) + f.to,
			   reinterpret_cast<const char *>(&b) + f.to, f.len) == 0;
}

} // namespace

TEST_CASE("translate: equal to libibverbs over random replies, every field", "[translate]")
{
	std::mt19937_64 random{20261129};
	for (int i = 0; i < replies; ++i) {
		auto reply = random_bytes<ib_uverbs_qp_attr>(random);
		const auto before = random_bytes<ibv_qp_attr>(random);
		ibv_qp_attr ours = before;
		ibv_qp_attr theirs = before;
		attr::translate(reply, ours);
		ibv_copy_qp_attr_from_kern(&theirs, &reply);
		for (const attr::field &f : attr::fields)
			if (!equal_at(ours, theirs, f))
				FAIL("reply " << i << ": the field at byte " << f.to << " differs");
	}
	SUCCEED();
}

TEST_CASE("translate: qp_state and rate_limit are left alone", "[translate]")
{
	std::mt19937_64 random{7};
	for (int i = 0; i < 1000; ++i) {
		const auto reply = random_bytes<ib_uverbs_qp_attr>(random);
		const auto before = random_bytes<ibv_qp_attr>(random);
		ibv_qp_attr after = before;
		attr::translate(reply, after);
		for (const attr::field &f : attr::fields)
			if (!f.copied && !equal_at(before, after, f))
				FAIL("the field at byte " << f.to << " was written");
	}
	SUCCEED();
}

TEST_CASE("translate: a reply as the kernel gives it, value by value", "[translate]")
{
	ib_uverbs_qp_attr reply{};
	reply.qp_attr_mask = 0x129181;
	reply.qp_state = 2;
	reply.path_mtu = 3;
	reply.rq_psn = 0xabcdef;
	reply.dest_qp_num = 0x11;
	reply.ah_attr.is_global = 1;
	reply.ah_attr.port_num = 1;
	reply.ah_attr.grh.hop_limit = 64;
	reply.ah_attr.grh.sgid_index = 2;
	reply.ah_attr.grh.traffic_class = 104;
	reply.ah_attr.grh.dgid[10] = 0xff;
	reply.ah_attr.grh.dgid[15] = 9;
	reply.max_dest_rd_atomic = 4;
	reply.alt_timeout = 17;

	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_ERR;
	attr.rate_limit = 77;
	attr::translate(reply, attr);
	CHECK(attr.qp_state == IBV_QPS_ERR);
	CHECK(attr.path_mtu == IBV_MTU_1024);
	CHECK(attr.rq_psn == 0xabcdefu);
	CHECK(attr.dest_qp_num == 0x11u);
	CHECK(attr.ah_attr.is_global == 1);
	CHECK(attr.ah_attr.port_num == 1);
	CHECK(attr.ah_attr.grh.hop_limit == 64);
	CHECK(attr.ah_attr.grh.sgid_index == 2);
	CHECK(attr.ah_attr.grh.traffic_class == 104);
	CHECK(attr.ah_attr.grh.dgid.raw[10] == 0xff);
	CHECK(attr.ah_attr.grh.dgid.raw[15] == 9);
	CHECK(attr.max_dest_rd_atomic == 4);
	CHECK(attr.alt_timeout == 17);
	CHECK(attr.min_rnr_timer == 0);
	CHECK(attr.rate_limit == 77u);
}

TEST_CASE("translate: nothing is read or written outside the structs", "[translate]")
{
	struct {
		unsigned char before[64];
		ibv_qp_attr attr;
		unsigned char after[64];
	} guarded;
	std::memset(&guarded, 0x5c, sizeof guarded);
	ib_uverbs_qp_attr reply;
	std::memset(&reply, 0xe1, sizeof reply);
	attr::translate(reply, guarded.attr);
	const auto untouched = [](unsigned char c) { return c == 0x5c; };
	CHECK(std::all_of(std::begin(guarded.before), std::end(guarded.before), untouched));
	CHECK(std::all_of(std::begin(guarded.after), std::end(guarded.after), untouched));
}

TEST_CASE("runs: four blocks, inside both structs, apart from each other", "[runs]")
{
	REQUIRE(attr::runs.count == 4);
	std::size_t end = 0;
	for (std::size_t i = 0; i < attr::runs.count; ++i) {
		const attr::run &r = attr::runs.runs[i];
		CHECK(r.to >= end);
		CHECK(r.to + r.len <= offsetof(ibv_qp_attr, rate_limit));
		CHECK(r.from + r.len <= sizeof(ib_uverbs_qp_attr));
		end = r.to + r.len;
	}
	CHECK(attr::runs.runs[0].to == sizeof(enum ibv_qp_state));
}

TEST_CASE("clear: a reply is zero afterwards, and only it", "[translate]")
{
	struct {
		unsigned char before[16];
		ib_uverbs_qp_attr reply;
		unsigned char after[16];
	} guarded;
	std::memset(&guarded, 0x5c, sizeof guarded);
	attr::clear(guarded.reply);
	const auto *bytes = reinterpret_cast<const unsigned char *>(&guarded.reply);
	CHECK(std::all_of(bytes, bytes + sizeof guarded.reply,
			  [](unsigned char c) { return c == 0; }));
	CHECK(guarded.before[15] == 0x5c);
	CHECK(guarded.after[0] == 0x5c);
}
