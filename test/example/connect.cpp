// SPDX-License-Identifier: MIT
// Two processes connect, tell each other a word, and show with which attributes
// their queue pairs became ready to receive:
//     connect server 10.77.0.1 7174 &  connect client 10.77.0.1 7174
#include <qpattr/qpattr.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace std::chrono_literals;

// The value, or the end of the program with the reason.
template <class T> static T must(qpattr::result<T> outcome)
{
	if (!outcome) {
		char text[256];
		std::fprintf(stderr, "connect: %s\n", outcome.why().message(text));
		std::exit(1);
	}
	return std::move(outcome).value();
}

static qpattr::parameters saying(std::string_view word)
{
	return {.private_data = std::as_bytes(std::span{word})};
}

static void make_qp(qpattr::id_ref id)
{
	ibv_qp_init_attr init{};
	init.qp_type = IBV_QPT_RC;
	init.cap = {1, 1, 1, 1, 0};
	must(id.create_qp(init));
}

static void show(const char *who, const qpattr::event &event)
{
	char text[4096];
	must(event.id().attributes_for(IBV_QPS_RTR)).describe(text);
	const auto word = event.private_data(); // with zeros behind it
	std::printf("%s heard '%.*s'\n%s", who, static_cast<int>(word.size()),
		    reinterpret_cast<const char *>(word.data()), text);
}

static void serve(qpattr::channel &channel, qpattr::address_view where)
{
	qpattr::id listener = must(qpattr::id::create(channel)), connection;
	must(listener.bind(where));
	must(listener.listen());
	std::puts("listening");
	std::fflush(stdout);
	{
		auto request = must(channel.expect(RDMA_CM_EVENT_CONNECT_REQUEST, 60s));
		connection = request.take_id();
		make_qp(connection);
		show("server", request);
		must(connection.accept(saying("pong")));
	} // the request is acknowledged here, its id lives on
	must(channel.expect(RDMA_CM_EVENT_ESTABLISHED, 60s));
	must(channel.expect(RDMA_CM_EVENT_DISCONNECTED, 60s));
	must(connection.disconnect());
}

static void call(qpattr::channel &channel, qpattr::address_view where)
{
	qpattr::id id = must(qpattr::id::create(channel));
	must(id.resolve_address(where, 5s));
	must(channel.expect(RDMA_CM_EVENT_ADDR_RESOLVED, 10s));
	must(id.resolve_route(5s));
	must(channel.expect(RDMA_CM_EVENT_ROUTE_RESOLVED, 10s));
	make_qp(id);
	must(id.connect(saying("ping")));
	show("client", must(channel.expect(RDMA_CM_EVENT_ESTABLISHED, 60s)));
	must(id.disconnect());
	must(channel.expect(RDMA_CM_EVENT_DISCONNECTED, 60s));
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return std::fputs("connect: server|client ADDRESS PORT\n", stderr), 2;
	const auto where = must(qpattr::address::parse(argv[2], static_cast<std::uint16_t>(std::atoi(argv[3]))));
	qpattr::channel channel = must(qpattr::channel::create()); // first: it must outlive the ids
	std::string_view{argv[1]} == "server" ? serve(channel, where) : call(channel, where);
}
