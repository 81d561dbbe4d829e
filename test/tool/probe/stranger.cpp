// SPDX-License-Identifier: MIT
// stranger version|word|silent server|client ADDRESS PORT: what is no probe of this
// version at the other end. It greets as a probe of version 9, or with a word of its own,
// or as a probe that never says anything.
#include <qpattr/qpattr.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

#include "tools/qpattr/probe/message.hpp"

using namespace std::chrono_literals;
namespace probe = qpattr::tool::probe;

template <class T> static T must(qpattr::result<T> outcome)
{
	if (!outcome) {
		char text[256];
		std::printf("stranger: %s\n", outcome.why().message(text));
		std::exit(1);
	}
	return std::move(outcome).value();
}

static void make_qp(qpattr::id_ref id)
{
	ibv_qp_init_attr init{};
	init.qp_type = IBV_QPT_RC;
	init.cap = {1, 1, 1, 1, 0};
	must(id.create_qp(init));
}

static std::array<std::byte, probe::greeting_bytes> greeting_of(std::string_view how)
{
	probe::greeting what;
	if (how == "version")
		what.version = 9;
	auto out = probe::packed(what);
	if (how == "word")
		std::memcpy(out.data(), "PING PONG!", out.size());
	return out;
}

static void serve(qpattr::channel &channel, qpattr::address_view where, std::string_view how)
{
	qpattr::id listener = must(qpattr::id::create(channel)), connection;
	must(listener.bind(where));
	must(listener.listen());
	std::puts("listening");
	std::fflush(stdout);
	auto request = must(channel.expect(RDMA_CM_EVENT_CONNECT_REQUEST, 60s));
	connection = request.take_id();
	make_qp(connection);
	const auto said = greeting_of(how);
	must(connection.accept({.private_data = said}));
	request.ack();
	// The client says goodbye in its own way.
	static_cast<void>(channel.expect(RDMA_CM_EVENT_ESTABLISHED, 20s));
	static_cast<void>(channel.expect(RDMA_CM_EVENT_DISCONNECTED, 20s));
	static_cast<void>(connection.disconnect());
}

static void call(qpattr::channel &channel, qpattr::address_view where, std::string_view how)
{
	qpattr::id id = must(qpattr::id::create(channel));
	must(id.resolve_address(where, 5s));
	must(channel.expect(RDMA_CM_EVENT_ADDR_RESOLVED, 10s));
	must(id.resolve_route(5s));
	must(channel.expect(RDMA_CM_EVENT_ROUTE_RESOLVED, 10s));
	make_qp(id);
	const auto said = greeting_of(how);
	must(id.connect({.private_data = said}));
	auto came = must(channel.next_event(60s));
	const auto answer = probe::greeting_in(came.private_data());
	std::printf("%s, greeting %s\n", came.name(),
		    !answer						 ? "none"
		    : answer->kind == probe::greeting_kind::other_version ? "other version"
									 : "of a probe");
	if (how == "silent")
		::sleep(30); // connected, and says nothing
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return std::puts("stranger: HOW server|client ADDRESS PORT"), 2;
	const auto where = must(qpattr::address::parse(argv[3], static_cast<std::uint16_t>(std::atoi(argv[4]))));
	qpattr::channel channel = must(qpattr::channel::create());
	std::string_view{argv[2]} == "server" ? serve(channel, where, argv[1]) : call(channel, where, argv[1]);
}
