// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/client.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <qpattr/qpattr.hpp>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/probe/connection.hpp"
#include "tools/qpattr/probe/message.hpp"
#include "tools/qpattr/probe/queue.hpp"

namespace qpattr::tool::probe {
namespace {

constexpr unsigned pings = 32;
constexpr std::chrono::milliseconds resend{500}; // of a datagram that had no answer
constexpr std::chrono::milliseconds goodbye{2000};

std::uint64_t ns_since(clock::time_point begin)
{
	return static_cast<std::uint64_t>(
		std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - begin).count());
}

class caller {
public:
	caller(const place &where, const plan &how)
		: where_{where}, how_{how}, events_{opened_channel()},
		  id_{must(id::create(events_, how.udp ? RDMA_PS_UDP : RDMA_PS_TCP), where_.text)}
	{
	}

	report run()
	{
		report_.udp = how_.udp;
		resolve();
		connect();
		const end_facts facts = facts_of(id_, "client", how_.udp, queue_->number());
		report_.from = facts.src;
		report_.to = facts.dst;
		report_.client = records_of(facts, queue_->answers());
		exchange();
		for (unsigned i = 0; i < pings; ++i)
			report_.round_trips_ns.push_back(ping());
		leave();
		return std::move(report_);
	}

private:
	// The next event, which must be of that type.
	event take(rdma_cm_event_type type, const char *waiting_for)
	{
		for (;;) {
			auto got = events_.next_event(how_.timeout);
			if (!got)
				throw failure{no_event(got.why(), waiting_for)};
			event came = std::move(got).value();
			if (came.is(type))
				return came;
			// Kernels from 6.1 on send it of a connection that works, when a
			// neighbour changes its address.
			if (came.is(RDMA_CM_EVENT_UNREACHABLE) && !how_.udp &&
			    id_.attributes_for(IBV_QPS_INIT))
				continue;
			throw failure{refusal(came, where_.text, how_.udp)};
		}
	}

	std::string no_event(error why, const char *waiting_for) const
	{
		if (why.code != ETIMEDOUT)
			return fmt::format("{}: {}", why.call, std::strerror(why.code));
		return fmt::format("{} within {:.3g} s: {}", where_.text,
				   static_cast<double>(how_.timeout.count()) / 1000, waiting_for);
	}

	void resolve()
	{
		auto begin = clock::now();
		must(id_.resolve_address(*where_.get(), how_.timeout), where_.text);
		take(RDMA_CM_EVENT_ADDR_RESOLVED, "no neighbour answers there: ping it");
		report_.address_ns = ns_since(begin);
		begin = clock::now();
		must(id_.resolve_route(how_.timeout), where_.text);
		take(RDMA_CM_EVENT_ROUTE_RESOLVED, "the subnet manager tells no path");
		report_.route_ns = ns_since(begin);
	}

	void connect()
	{
		queue_.emplace(id_, how_.udp);
		queue_->move(id_, IBV_QPS_INIT);
		const auto hello = packed({});
		const auto begin = clock::now();
		must(id_.connect(parameters_of(*queue_, hello)), where_.text);
		constexpr const char *nothing =
			"no answer: look there whether net.rdma_ucm.max_backlog is 0 (qpattr doctor), "
			"and on the way whether UDP port 4791 is let through";
		event came = take(how_.udp ? RDMA_CM_EVENT_ESTABLISHED
					   : RDMA_CM_EVENT_CONNECT_RESPONSE,
				  nothing);
		insist_on_probe(came.private_data(), where_.text);
		if (!how_.udp) {
			// Now with the access flags and the P_Key of the connection.
			queue_->move(id_, IBV_QPS_INIT);
		}
		queue_->move(id_, IBV_QPS_RTR);
		queue_->move(id_, IBV_QPS_RTS);
		if (how_.udp)
			queue_->set_peer(came.datagram()->ah_attr, came.datagram()->qp_num,
					 came.datagram()->qkey);
		else
			must(id_.establish(), where_.text);
		report_.connect_ns = ns_since(begin);
	}

	[[noreturn]] void gone() const
	{
		throw failure{fmt::format("the probe at {} went away in the middle: see what it says "
					  "there",
					  where_.text)};
	}

	// One question, and its answer.
	message ask_peer(message question)
	{
		question.sequence = ++sequence_;
		std::array<std::byte, 2048> bytes;
		const std::size_t len = pack(question, bytes);
		const auto deadline = clock::now() + how_.timeout;
		for (;;) {
			queue_->send(std::span{bytes}.first(len));
			const auto until = how_.udp ? std::min(deadline, clock::now() + resend) : deadline;
			if (const auto answer = answer_until(until))
				return *answer;
			if (clock::now() >= deadline)
				throw failure{fmt::format(
					"{}: connected, but no message is answered within {:.3g} s: "
					"does a firewall or the MTU on the way stop data?",
					where_.text,
					static_cast<double>(how_.timeout.count()) / 1000)};
		}
	}

	std::optional<message> answer_until(clock::time_point until)
	{
		for (;;)
			switch (queue_->wait(until, &events_)) {
			case queue::came::message:
				if (const auto got = message_in(queue_->bytes());
				    got && got->is_answer && got->sequence == sequence_)
					return got;
				break; // an answer to what was sent twice
			case queue::came::event:
				look_at_event();
				break;
			case queue::came::stop:
			case queue::came::nothing:
				return std::nullopt;
			}
	}

	void look_at_event()
	{
		const auto got = events_.next_event(std::chrono::milliseconds{0});
		if (got && (got.value().is(RDMA_CM_EVENT_DISCONNECTED) ||
			    got.value().is(RDMA_CM_EVENT_DEVICE_REMOVAL)))
			gone();
	}

	void exchange()
	{
		const pieces mine{report_.client, queue_->piece_bytes()};
		if (mine.count() > pieces_max)
			throw failure{"the report is too long for this protocol"};
		gathered_text theirs;
		for (std::uint16_t i = 0; i < std::max(mine.count(), theirs.count()); ++i) {
			message piece;
			piece.type = message_type::exchange;
			piece.index = i;
			piece.count = mine.count();
			piece.piece = mine[i];
			theirs.take(ask_peer(piece));
		}
		if (!theirs.whole())
			throw failure{fmt::format("the probe at {} sent a report with holes: use the "
						  "same qpattr at both ends",
						  where_.text)};
		report_.client_bytes = report_.client.size();
		report_.server_bytes = theirs.text().size();
		report_.server = checked_records(theirs.text(), where_.text);
	}

	std::uint64_t ping()
	{
		const auto begin = clock::now();
		static_cast<void>(ask_peer({}));
		return ns_since(begin);
	}

	// The peer has all, so whatever happens now is no failure of the probe.
	void leave()
	{
		message bye;
		bye.type = message_type::bye;
		std::array<std::byte, message_header_bytes> bytes;
		bye.sequence = ++sequence_;
		const std::size_t len = pack(bye, bytes);
		try {
			queue_->send(std::span{bytes}.first(len));
			static_cast<void>(answer_until(clock::now() + resend));
		} catch (const failure &) {
			return;
		}
		if (how_.udp || !id_.disconnect())
			return;
		const auto until = clock::now() + goodbye;
		while (clock::now() < until) {
			const auto got = events_.next_event(goodbye);
			if (!got || got.value().is(RDMA_CM_EVENT_DISCONNECTED))
				return;
		}
	}

	place where_;
	plan how_;
	channel events_;
	id id_;
	std::optional<queue> queue_;
	std::uint32_t sequence_ = 0;
	report report_;
};

} // namespace

report call(const place &where, const plan &how)
{
	return caller{where, how}.run();
}

} // namespace qpattr::tool::probe
