// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/server.hpp"

#include <cerrno>
#include <cstring>
#include <deque>
#include <poll.h>

#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <qpattr/qpattr.hpp>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/probe/connection.hpp"
#include "tools/qpattr/probe/message.hpp"
#include "tools/qpattr/probe/queue.hpp"

namespace qpattr::tool::probe {
namespace {

constexpr std::size_t waiting_max = 64;
constexpr std::chrono::milliseconds goodbye{2000};

// A client that is not counted.
struct no_probe : failure {
	using failure::failure;
};

} // namespace

class server::inside {
public:
	inside(const place &where, const plan &how)
		: how_{how}, events_{opened_channel()},
		  listener_{must(id::create(events_, how.udp ? RDMA_PS_UDP : RDMA_PS_TCP), where.text)}
	{
		if (const auto bound = listener_.bind(*where.get()); !bound)
			throw failure{told(port_is_taken(where) ? error{EADDRINUSE, bound.why().call}
								: bound.why(),
					   where.text)};
		must(listener_.listen(), where.text);
	}

	[[nodiscard]] std::uint16_t port() const { return listener_.local_port(); }

	void serve(const telling &to, int stop_fd)
	{
		stop_fd_ = stop_fd;
		for (unsigned served = 0; !stopped_ && (how_.count == 0 || served < how_.count);) {
			event request = next_request();
			if (stopped_)
				return;
			const std::string peer = text_of(request.id().peer_address().get());
			try {
				to.on_served(serve_one(request, peer));
				++served;
			} catch (const no_probe &why) {
				to.on_failure(fmt::format("client {}: {}", peer, why.what()));
			} catch (const failure &why) {
				to.on_failure(fmt::format("client {}: {}", peer, why.what()));
				++served;
			}
		}
	}

private:
	// The kernel says of a port that is taken what it says of an address that is not
	// here: so another port of the address is tried.
	bool port_is_taken(const place &where)
	{
		place other = where;
		set_port(other, 0);
		const auto made = id::create(events_, how_.udp ? RDMA_PS_UDP : RDMA_PS_TCP);
		return made && made.value().bind(*other.get());
	}

	// Requests that came while another client was served wait here.
	event next_request()
	{
		for (;;) {
			if (!waiting_.empty()) {
				event first = std::move(waiting_.front());
				waiting_.pop_front();
				return first;
			}
			pollfd on[] = {{events_.fd(), POLLIN, 0}, {stop_fd_, POLLIN, 0}};
			// The one wait without a limit: it is what the server is there for.
			if (::poll(on, 2, -1) < 0 && errno != EINTR)
				throw failure{fmt::format("poll: {}", std::strerror(errno))};
			if (on[1].revents) {
				stopped_ = true;
				return {};
			}
			if (on[0].revents)
				take_event({});
		}
	}

	enum class seen { nothing, disconnected, established };
	// An event of the channel: of this connection, or a request to be kept.
	seen take_event(id_ref of)
	{
		auto got = events_.next_event(std::chrono::milliseconds{0});
		if (!got)
			return seen::nothing;
		event came = std::move(got).value();
		if (came.is(RDMA_CM_EVENT_CONNECT_REQUEST)) {
			if (waiting_.size() < waiting_max) {
				waiting_.push_back(std::move(came));
			} else {
				const auto busy = packed({greeting_kind::busy});
				static_cast<void>(came.id().reject(busy));
			}
			return seen::nothing;
		}
		if (came.is(RDMA_CM_EVENT_DEVICE_REMOVAL))
			throw failure{"the RDMA device was removed"};
		if (!of || came.id() != of)
			return seen::nothing; // TIMEWAIT_EXIT and the like of one that ended
		if (came.is(RDMA_CM_EVENT_ESTABLISHED))
			return seen::established;
		if (came.is(RDMA_CM_EVENT_DISCONNECTED) || came.is(RDMA_CM_EVENT_REJECTED) ||
		    came.is(RDMA_CM_EVENT_UNREACHABLE))
			return seen::disconnected;
		return seen::nothing;
	}

	report serve_one(event &request, const std::string &peer)
	{
		const auto said = greeting_in(request.private_data());
		if (!said || said->version != protocol_version) {
			const auto other = packed({greeting_kind::other_version});
			static_cast<void>(request.id().reject(other));
			throw no_probe{said ? fmt::format("it speaks version {} of the protocol, this "
							 "probe {}: use the same qpattr at both ends",
							 said->version, protocol_version)
					   : std::string{"it is no qpattr probe, and was rejected"}};
		}
		id connection = request.take_id();
		queue own{connection, how_.udp};
		own.move(connection, IBV_QPS_INIT);
		own.move(connection, IBV_QPS_RTR);
		own.move(connection, IBV_QPS_RTS);
		const auto hello = packed({});
		parameters with = parameters_of(own, hello);
		if (!how_.udp) {
			// No more than the client asked for.
			const parameters asked = request.parameters();
			with.responder_resources =
				std::min(with.responder_resources, asked.responder_resources);
			with.initiator_depth = std::min(with.initiator_depth, asked.initiator_depth);
		}
		if (const auto accepted = connection.accept(with); !accepted)
			throw failure{accepted.why().code == EINVAL
					      ? std::string{"it gave up before it was its turn"}
					      : told(accepted.why(), peer)};
		request.ack();

		report out;
		out.udp = how_.udp;
		const end_facts facts = facts_of(connection, "server", how_.udp, own.number());
		out.from = facts.dst;
		out.to = facts.src;
		out.server = records_of(facts, own.answers());
		converse(connection, own, out, peer);
		if (!how_.udp)
			static_cast<void>(connection.disconnect());
		return out;
	}

	// Answers what the client asks until it says goodbye.
	void converse(const id_ref &connection, queue &own, report &out, const std::string &peer)
	{
		const pieces mine{out.server, own.piece_bytes()};
		const std::uint32_t qkey = own.answers().front().got.attr.qkey;
		gathered_text theirs;
		bool said_goodbye = false;
		auto until = clock::now() + how_.timeout;
		for (;;) {
			const auto came = own.wait(until, &events_, stopped_ ? -1 : stop_fd_);
			if (came == queue::came::stop) {
				stopped_ = true; // after this client
				continue;
			}
			if (came == queue::came::nothing || came == queue::came::event) {
				const bool gone = came == queue::came::event &&
						  take_event(connection) == seen::disconnected;
				if (came == queue::came::event && !gone)
					continue;
				if (said_goodbye)
					break;
				throw failure{gone ? "it went away in the middle"
						   : "it says nothing any more"};
			}
			const auto asked = message_in(own.bytes());
			if (!asked || asked->is_answer)
				continue;
			if (asked->type == message_type::exchange)
				theirs.take(*asked);
			answer(own, *asked, mine, qkey);
			until = clock::now() + how_.timeout;
			if (asked->type != message_type::bye)
				continue;
			said_goodbye = true;
			until = clock::now() + goodbye;
			// Of datagrams nothing tells that the peer has gone.
			if (how_.udp) {
				own.finish_sending(until);
				break;
			}
		}
		if (!theirs.whole())
			throw failure{"it left before its report was whole"};
		out.client_bytes = theirs.text().size();
		out.server_bytes = out.server.size();
		out.client = checked_records(theirs.text(), peer);
	}

	void answer(queue &own, const message &asked, const pieces &mine, std::uint32_t qkey)
	{
		message reply = asked;
		reply.is_answer = true;
		reply.count = mine.count();
		reply.piece = asked.type == message_type::exchange ? mine[asked.index]
								  : std::string_view{};
		std::array<std::byte, 2048> bytes;
		const std::size_t len = pack(reply, bytes);
		if (how_.udp)
			own.answer_to_sender(qkey);
		own.send(std::span{bytes}.first(len));
	}

	plan how_;
	channel events_;
	id listener_;
	std::deque<event> waiting_; // end before the listener
	int stop_fd_ = -1;
	bool stopped_ = false;
};

server::server(const place &where, const plan &how) : inside_{std::make_unique<inside>(where, how)}
{
}
server::~server() = default;

std::uint16_t server::port() const
{
	return inside_->port();
}

void server::serve(const telling &to, int stop_fd)
{
	inside_->serve(to, stop_fd);
}

} // namespace qpattr::tool::probe
