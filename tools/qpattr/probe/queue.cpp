// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/queue.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <thread>

#include <fmt/format.h>

#include "lib/attr/names.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/probe/message.hpp"

namespace qpattr::tool::probe {
namespace {

// Answers of a healthy peer come sooner than a sleeper is woken.
constexpr std::chrono::microseconds spin{50};
constexpr std::uint64_t receive_bit = 1 << 16; // in wr_id, beside the slot

template <class Owner> void insist(const Owner &made, const char *what)
{
	if (made)
		return;
	const int code = errno;
	throw failure{fmt::format("{}: {}{}", what, std::strerror(code),
				  code == ENOMEM ? ": raise the limit of locked memory, ulimit -l "
						   "(see qpattr doctor)"
						 : "")};
}

std::string state_name(ibv_qp_state state)
{
	attr::text_of<16> text;
	attr::add_qp_state(text, static_cast<std::uint32_t>(state));
	return text.c_str();
}

} // namespace

queue::queue(const id_ref &id, bool udp)
	: udp_{udp}, port_{id.port_num()}, pd_{::ibv_alloc_pd(id.verbs()), ::ibv_dealloc_pd},
	  wakes_{::ibv_create_comp_channel(id.verbs()), ::ibv_destroy_comp_channel},
	  cq_{nullptr, ::ibv_destroy_cq}, memory_(2 * slots * slot_bytes),
	  mr_{nullptr, ::ibv_dereg_mr}, qp_{nullptr, ::ibv_destroy_qp}, ah_{nullptr, ::ibv_destroy_ah}
{
	insist(pd_, "ibv_alloc_pd");
	insist(wakes_, "ibv_create_comp_channel");
	// One that blocks would be waited for without end.
	const int flags = ::fcntl(wakes_->fd, F_GETFL);
	if (flags < 0 || ::fcntl(wakes_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
		throw failure{fmt::format("the completion channel cannot be told not to block: {}",
					  std::strerror(errno))};
	cq_.reset(::ibv_create_cq(id.verbs(), 2 * slots, nullptr, wakes_.get(), 0));
	insist(cq_, "ibv_create_cq");
	constexpr int access = IBV_ACCESS_LOCAL_WRITE; // a macro compares it with another enum's
	mr_.reset(::ibv_reg_mr(pd_.get(), memory_.data(), memory_.size(), access));
	insist(mr_, "ibv_reg_mr");
	ibv_qp_init_attr wanted{};
	wanted.send_cq = wanted.recv_cq = cq_.get();
	wanted.cap.max_send_wr = wanted.cap.max_recv_wr = slots;
	wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
	wanted.qp_type = udp ? IBV_QPT_UD : IBV_QPT_RC;
	wanted.sq_sig_all = 1;
	qp_.reset(::ibv_create_qp(pd_.get(), &wanted));
	insist(qp_, "ibv_create_qp");
	if (::ibv_query_device(id.verbs(), &limits_) != 0)
		throw failure{"ibv_query_device: the device does not answer (see qpattr doctor)"};
}

queue::~queue()
{
	// An event of the completion channel that was not taken holds its queue for ever.
	ibv_cq *of = nullptr;
	void *context = nullptr;
	while (wakes_ && ::ibv_get_cq_event(wakes_.get(), &of, &context) == 0)
		::ibv_ack_cq_events(of, 1);
}

void queue::move(const id_ref &id, ibv_qp_state state)
{
	answer got = ask(id, state);
	answers_.push_back(got);
	if (got.why)
		throw failure{fmt::format("the kernel does not tell the attributes for {}: {}",
					  state_name(state), std::strerror(got.why.code))};
	attributes with = got.got;
	// The answer for datagrams is INIT's for each state; verbs want less of them.
	if (udp_ && state != IBV_QPS_INIT)
		with.mask = IBV_QP_STATE | (state == IBV_QPS_RTS ? IBV_QP_SQ_PSN : 0);
	if (const auto moved = with.apply(qp_.get()); !moved)
		throw failure{fmt::format("the device refuses the attributes for {}: {}; see what "
					  "`qpattr doctor` says of the port and its MTU",
					  state_name(state), std::strerror(moved.why().code))};
	const bool first = answers_.size() == 1;
	if (state == IBV_QPS_INIT && first)
		for (std::size_t slot = 0; slot < slots; ++slot)
			post_receive(slot);
}

void queue::set_peer(const ibv_ah_attr &address, std::uint32_t qp_num, std::uint32_t qkey)
{
	ibv_ah_attr with = address; // verbs take it as not const
	ah_.reset(::ibv_create_ah(pd_.get(), &with));
	insist(ah_, "ibv_create_ah");
	peer_qp_ = qp_num;
	peer_qkey_ = qkey;
}

// Datagrams are limited by the path, of which 256 bytes is the least.
std::size_t queue::piece_bytes() const
{
	return (udp_ ? 256 : slot_bytes - grh_bytes) - message_header_bytes;
}

void queue::post_receive(std::size_t slot)
{
	ibv_sge where{reinterpret_cast<std::uintptr_t>(memory_.data() + slot * slot_bytes),
		      slot_bytes, mr_->lkey};
	ibv_recv_wr wr{};
	wr.wr_id = receive_bit | slot;
	wr.sg_list = &where;
	wr.num_sge = 1;
	ibv_recv_wr *bad = nullptr;
	if (const int refused = ::ibv_post_recv(qp_.get(), &wr, &bad))
		throw failure{fmt::format("ibv_post_recv: {}", std::strerror(refused))};
}

void queue::send(std::span<const std::byte> bytes)
{
	if (sending_ == slots)
		throw failure{"the peer does not answer: no message of ours is acknowledged"};
	std::byte *const at = memory_.data() + (slots + next_send_) * slot_bytes;
	std::memcpy(at, bytes.data(), bytes.size());
	ibv_sge what{reinterpret_cast<std::uintptr_t>(at), static_cast<std::uint32_t>(bytes.size()),
		     mr_->lkey};
	ibv_send_wr wr{};
	wr.wr_id = next_send_;
	wr.sg_list = &what;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	if (udp_) {
		wr.wr.ud.ah = ah_.get();
		wr.wr.ud.remote_qpn = peer_qp_;
		wr.wr.ud.remote_qkey = peer_qkey_;
	}
	ibv_send_wr *bad = nullptr;
	if (const int refused = ::ibv_post_send(qp_.get(), &wr, &bad))
		throw failure{fmt::format("ibv_post_send: {}", std::strerror(refused))};
	++sending_;
	next_send_ = (next_send_ + 1) % slots;
}

void queue::done(const ibv_wc &what)
{
	if (what.status == IBV_WC_SUCCESS)
		return;
	const bool gone = what.status == IBV_WC_RETRY_EXC_ERR || what.status == IBV_WC_WR_FLUSH_ERR;
	throw failure{fmt::format("a message failed: {}{}", ::ibv_wc_status_str(what.status),
				  gone ? ": the peer is gone, or its packets do not arrive (path "
					 "MTU, firewall)"
				       : "")};
}

bool queue::take_complete()
{
	ibv_wc what{};
	while (::ibv_poll_cq(cq_.get(), 1, &what) > 0) {
		if (!(what.wr_id & receive_bit)) {
			--sending_;
			done(what);
			continue;
		}
		done(what);
		const std::size_t slot = what.wr_id & ~receive_bit;
		const std::size_t grh = udp_ ? grh_bytes : 0;
		if (what.byte_len < grh) {
			post_receive(slot);
			continue;
		}
		held_ = slot;
		last_ = what;
		bytes_ = {memory_.data() + slot * slot_bytes + grh, what.byte_len - grh};
		return true;
	}
	return false;
}

queue::came queue::wait(clock::time_point until, const channel *events, int stop_fd)
{
	if (held_) {
		post_receive(*held_);
		held_.reset();
		bytes_ = {};
	}
	const clock::time_point sleep_at = clock::now() + spin;
	bool armed = false;
	for (;;) {
		if (take_complete())
			return came::message;
		if (clock::now() < sleep_at)
			continue;
		if (!armed) {
			// Between the look and the arming one may have come.
			armed = ::ibv_req_notify_cq(cq_.get(), 0) == 0;
			continue;
		}
		const auto left =
			std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
		if (left.count() <= 0)
			return came::nothing;
		pollfd on[] = {{wakes_->fd, POLLIN, 0},
			       {events ? events->fd() : -1, POLLIN, 0},
			       {stop_fd, POLLIN, 0}};
		if (::poll(on, 3, static_cast<int>(left.count())) < 0 && errno != EINTR)
			throw failure{fmt::format("poll: {}", std::strerror(errno))};
		if (on[0].revents) {
			ibv_cq *of = nullptr;
			void *context = nullptr;
			if (::ibv_get_cq_event(wakes_.get(), &of, &context) == 0)
				::ibv_ack_cq_events(of, 1);
			armed = false;
			continue; // a message goes before its sender's end
		}
		if (on[1].revents)
			return take_complete() ? came::message : came::event;
		if (on[2].revents)
			return came::stop;
	}
}

void queue::finish_sending(clock::time_point until)
{
	while (sending_ && clock::now() < until) {
		if (take_complete()) {
			post_receive(*held_); // said too late
			held_.reset();
		}
		std::this_thread::yield();
	}
}

void queue::answer_to_sender(std::uint32_t qkey)
{
	auto *const grh = reinterpret_cast<ibv_grh *>(memory_.data() + *held_ * slot_bytes);
	if (!ah_ || peer_qp_ != last_.src_qp) {
		ah_.reset(::ibv_create_ah_from_wc(pd_.get(), &last_, grh,
						  static_cast<std::uint8_t>(port_)));
		insist(ah_, "ibv_create_ah_from_wc");
	}
	peer_qp_ = last_.src_qp;
	peer_qkey_ = qkey;
}

} // namespace qpattr::tool::probe
