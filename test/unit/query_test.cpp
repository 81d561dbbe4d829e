// SPDX-License-Identifier: MIT
// The C API (qpattr.h) as a program uses it, over a scripted kernel.
#include <qpattr/qpattr.h>

#include <cerrno>
#include <cstring>

#include "test/support/catch.hpp"
#include "test/support/fake_kernel.hpp"
#include "test/support/raw_enum.hpp"

using qpattr::test::fake_kernel;
using qpattr::test::raw_enum;

namespace {

constexpr int no_errno = 4711;

struct outputs {
	ibv_qp_attr attr;
	int mask;

	outputs()
	{
		std::memset(&attr, 0xa5, sizeof attr);
		mask = 0x5a5a5a5a;
	}
	[[nodiscard]] bool untouched() const
	{
		const outputs fresh;
		return std::memcmp(&attr, &fresh.attr, sizeof attr) == 0 && mask == fresh.mask;
	}
};

ib_uverbs_qp_attr rts_reply()
{
	ib_uverbs_qp_attr reply{};
	reply.qp_attr_mask = 0x12e01;
	reply.qp_state = 3;
	reply.timeout = 19;
	reply.retry_cnt = 7;
	reply.rnr_retry = 6;
	reply.sq_psn = 0x123456;
	reply.max_rd_atomic = 1;
	return reply;
}

} // namespace

TEST_CASE("query: answers, and leaves errno and qp_state alone", "[query]")
{
	auto &kernel = fake_kernel::get();
	kernel.reset();
	const int fd = kernel.open_file();
	const auto handle = kernel.create_id(fd);
	kernel.answer(handle, rts_reply());
	outputs out;
	const auto state_before = out.attr.qp_state;
	errno = no_errno;
	REQUIRE(qpattr_query(fd, handle, IBV_QPS_RTS, &out.attr, &out.mask) == 0);
	CHECK(errno == no_errno);
	CHECK(out.mask == 0x12e01);
	CHECK(out.attr.timeout == 19);
	CHECK(out.attr.retry_cnt == 7);
	CHECK(out.attr.rnr_retry == 6);
	CHECK(out.attr.sq_psn == 0x123456u);
	CHECK(out.attr.max_rd_atomic == 1);
	CHECK(out.attr.qp_state == state_before);
	CHECK(kernel.writes.size() == 1);
}

TEST_CASE("query: the mask is handed over raw, reserved bits too", "[query]")
{
	auto &kernel = fake_kernel::get();
	kernel.reset();
	const int fd = kernel.open_file();
	const auto handle = kernel.create_id(fd);
	auto reply = rts_reply();
	reply.qp_attr_mask = 0xffffffff;
	kernel.answer(handle, reply);
	outputs out;
	REQUIRE(qpattr_query(fd, handle, IBV_QPS_RTS, &out.attr, &out.mask) == 0);
	CHECK(out.mask == -1);
}

TEST_CASE("query: NULL outputs are EINVAL before any system call", "[query][errors]")
{
	auto &kernel = fake_kernel::get();
	kernel.reset();
	outputs out;
	errno = 0;
	CHECK(qpattr_query(fake_kernel::first_fd, 0, IBV_QPS_INIT, nullptr, &out.mask) == -1);
	CHECK(errno == EINVAL);
	errno = 0;
	CHECK(qpattr_query(fake_kernel::first_fd, 0, IBV_QPS_INIT, &out.attr, nullptr) == -1);
	CHECK(errno == EINVAL);
	CHECK(out.untouched());
	CHECK(kernel.writes.empty());
}

TEST_CASE("query: what the kernel refuses is the kernel's errno, outputs untouched",
	  "[query][errors]")
{
	auto &kernel = fake_kernel::get();
	for (const int code : {EINVAL, ENOENT, ENXIO, EACCES, ENOSYS, ENOMEM}) {
		kernel.reset();
		kernel.script({-code});
		outputs out;
		errno = 0;
		CHECK(qpattr_query(fake_kernel::first_fd, 0, IBV_QPS_RTR, &out.attr, &out.mask) ==
		      -1);
		CHECK(errno == code);
		CHECK(out.untouched());
	}
}

TEST_CASE("query: a descriptor that is not open is EBADF", "[query][errors]")
{
	outputs out;
	errno = 0;
	CHECK(qpattr_query(-1, 0, IBV_QPS_INIT, &out.attr, &out.mask) == -1);
	CHECK(errno == EBADF);
	CHECK(out.untouched());
}

TEST_CASE("query: a short write is ENODATA, outputs untouched", "[query][errors]")
{
	auto &kernel = fake_kernel::get();
	kernel.reset();
	kernel.script({8});
	outputs out;
	errno = 0;
	CHECK(qpattr_query(fake_kernel::first_fd, 0, IBV_QPS_INIT, &out.attr, &out.mask) == -1);
	CHECK(errno == ENODATA);
	CHECK(out.untouched());
}

TEST_CASE("query: a state above 6 is for the kernel to refuse", "[query][errors]")
{
	auto &kernel = fake_kernel::get();
	kernel.reset();
	const int fd = kernel.open_file();
	const auto handle = kernel.create_id(fd);
	kernel.answer(handle, rts_reply());
	outputs out;
	errno = 0;
	CHECK(qpattr_query(fd, handle, raw_enum<ibv_qp_state>(99), &out.attr, &out.mask) == -1);
	CHECK(errno == EINVAL);
	REQUIRE(kernel.writes.size() == 1);
	CHECK(kernel.writes[0][20] == 99);
}

TEST_CASE("names: every stage has one, others are 'unknown'", "[query]")
{
	CHECK(qpattr_stage_name(QPATTR_STAGE_NONE) == std::string{"none"});
	CHECK(qpattr_stage_name(QPATTR_STAGE_ARGUMENT) == std::string{"argument"});
	CHECK(qpattr_stage_name(QPATTR_STAGE_NODE) == std::string{"node"});
	CHECK(qpattr_stage_name(QPATTR_STAGE_IDENTIFY) == std::string{"identify"});
	CHECK(qpattr_stage_name(QPATTR_STAGE_ABI) == std::string{"abi"});
	CHECK(qpattr_stage_name(QPATTR_STAGE_OPEN) == std::string{"open"});
	CHECK(qpattr_stage_name(QPATTR_STAGE_COMMAND) == std::string{"command"});
	CHECK(qpattr_stage_name(raw_enum<qpattr_stage>(99)) == std::string{"unknown"});
	CHECK(qpattr_version() == std::string{QPATTR_VERSION});
}
