// SPDX-License-Identifier: MIT
// lib/ucma/command.hpp: what is written for a command, and what becomes of the
// kernel's answer.
#include "lib/ucma/command.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include "test/support/catch.hpp"
#include "test/support/fake_kernel.hpp"

using namespace qpattr;
using test::fake_kernel;

namespace {

std::uint64_t number_at(const std::vector<unsigned char> &bytes, std::size_t at, std::size_t len)
{
	std::uint64_t value = 0;
	for (std::size_t i = len; i-- > 0;)
		value = value << 8 | bytes[at + i];
	return value;
}

} // namespace

TEST_CASE("command: INIT_QP_ATTR is these 24 bytes", "[command]")
{
	auto &kernel = fake_kernel::get();
	kernel.reset();
	kernel.script({24});
	uapi::init_qp_attr::reply reply;
	ucma::frame<uapi::init_qp_attr> command{&reply};
	command.body.id = 0x01020304;
	command.body.qp_state = 2;
	REQUIRE(ucma::send(fake_kernel::first_fd, command).ok());
	REQUIRE(kernel.writes.size() == 1);
	const auto &bytes = kernel.writes[0];
	REQUIRE(bytes.size() == 24);
	CHECK(number_at(bytes, 0, 4) == 11);
	CHECK(number_at(bytes, 4, 2) == 16);
	CHECK(number_at(bytes, 6, 2) == 144);
	CHECK(number_at(bytes, 8, 8) == reinterpret_cast<std::uintptr_t>(&reply));
	CHECK(number_at(bytes, 16, 4) == 0x01020304);
	CHECK(number_at(bytes, 20, 4) == 2);
}

TEST_CASE("command: one without a reply says 0 bytes for it", "[command]")
{
	auto &kernel = fake_kernel::get();
	kernel.reset();
	kernel.script({16});
	ucma::frame<uapi::listen> command;
	command.body.id = 5;
	command.body.backlog = 10;
	REQUIRE(ucma::send(fake_kernel::first_fd, command).ok());
	const auto &bytes = kernel.writes.at(0);
	REQUIRE(bytes.size() == 16);
	CHECK(number_at(bytes, 0, 4) == 7);
	CHECK(number_at(bytes, 4, 2) == 8);
	CHECK(number_at(bytes, 6, 2) == 0);
	CHECK(number_at(bytes, 8, 4) == 5);
	CHECK(number_at(bytes, 12, 4) == 10);
}

TEST_CASE("command: header and structure lie in one piece, for every command", "[command]")
{
	// The kernel takes each segment of a writev for a command of its own and
	// reads the structure right behind the 8 bytes of the header.
	CHECK(offsetof(ucma::frame<uapi::create_id>, body) == 8);
	CHECK(offsetof(ucma::frame<uapi::disconnect>, body) == 8);
	CHECK(offsetof(ucma::frame<uapi::reject>, body) == 8);
	CHECK(offsetof(ucma::frame<uapi::connect>, body) == 8);
	CHECK(sizeof(ucma::frame<uapi::connect>) == 8 + 288);
	CHECK(sizeof(ucma::frame<uapi::disconnect>) == 8 + 4);
}

TEST_CASE("command: the kernel's errno is handed on", "[command]")
{
	auto &kernel = fake_kernel::get();
	for (const int code : {EACCES, EINVAL, ENOENT, ENXIO, ENOSPC, EFAULT, ENOSYS, EBADF}) {
		kernel.reset();
		kernel.script({-code});
		uapi::init_qp_attr::reply reply;
		const ucma::frame<uapi::init_qp_attr> command{&reply};
		const auto sent = ucma::send(fake_kernel::first_fd, command);
		REQUIRE_FALSE(sent.ok());
		CHECK(sent.why().code == code);
		CHECK(sent.why().stage == QPATTR_STAGE_COMMAND);
	}
}

TEST_CASE("command: a short or a long write is ENODATA", "[command]")
{
	auto &kernel = fake_kernel::get();
	for (const long written : {0L, 1L, 8L, 23L, 25L}) {
		kernel.reset();
		kernel.script({written});
		uapi::init_qp_attr::reply reply;
		const ucma::frame<uapi::init_qp_attr> command{&reply};
		const auto sent = ucma::send(fake_kernel::first_fd, command);
		REQUIRE_FALSE(sent.ok());
		CHECK(sent.why().code == ENODATA);
	}
}

TEST_CASE("command: a real descriptor that is closed is EBADF", "[command]")
{
	uapi::init_qp_attr::reply reply;
	const ucma::frame<uapi::init_qp_attr> command{&reply};
	CHECK(ucma::send(-1, command).why().code == EBADF);
}
