// SPDX-License-Identifier: MIT
// For the tests of the C++ layer: its owners over the scripted connection manager,
// and the check that nothing is left of them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <qpattr/qpattr.hpp>

#include "test/support/catch.hpp"
#include "test/support/fake_rdma_cm.hpp"

namespace qpattr::test {

inline fake_rdma_cm &cm = fake_rdma_cm::get();

// What every test begins with, and what must hold at its end, after the owners
// that are declared behind it.
struct clean {
	clean() { cm.reset(); }
	~clean()
	{
		CHECK(cm.wrong == std::vector<std::string>{});
		CHECK(cm.nothing_left());
		cm.reset();
	}
};

inline qpattr::channel make_channel()
{
	auto made = qpattr::channel::create();
	REQUIRE(made);
	return std::move(made).value();
}

inline qpattr::id make_id(qpattr::channel &on, rdma_port_space space = RDMA_PS_TCP, void *context = nullptr)
{
	auto made = qpattr::id::create(on, space, context);
	REQUIRE(made);
	return std::move(made).value();
}

inline qpattr::event take(qpattr::channel &from)
{
	auto got = from.next_event();
	REQUIRE(got);
	return std::move(got).value();
}

inline qpattr::event take(qpattr::channel &from, rdma_cm_event_type type, qpattr::id_ref of)
{
	cm.put(from.native_handle(), type, of.native_handle());
	return take(from);
}

inline std::span<const std::byte> bytes(const std::string &text)
{
	return std::as_bytes(std::span{text});
}

inline std::string message(qpattr::error of)
{
	char buf[256];
	return of.message(buf);
}

} // namespace qpattr::test
