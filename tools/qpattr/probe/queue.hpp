// SPDX-License-Identifier: MIT
// A QP of the probe's own with all that belongs to it, moved by the attributes that the
// connection manager's kernel delivers. Nothing waits without a limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <infiniband/verbs.h>
#include <qpattr/qpattr.hpp>

#include "tools/qpattr/probe/record.hpp"

namespace qpattr::tool::probe {

using clock = std::chrono::steady_clock;

class queue {
public:
	// Of a device that the id has; in the state RESET. Throws `failure`.
	queue(const id_ref &id, bool udp);
	~queue();
	queue(const queue &) = delete;
	queue &operator=(const queue &) = delete;

	[[nodiscard]] std::uint32_t number() const { return qp_->qp_num; }
	[[nodiscard]] const ibv_device_attr &limits() const { return limits_; }
	[[nodiscard]] const std::vector<answer> &answers() const { return answers_; }

	// Asks the kernel and moves the QP; the answer is kept. After INIT it receives.
	void move(const id_ref &id, ibv_qp_state state);

	// To whom datagrams go.
	void set_peer(const ibv_ah_attr &address, std::uint32_t qp_num, std::uint32_t qkey);

	// A piece of a message that certainly fits.
	[[nodiscard]] std::size_t piece_bytes() const;

	// Throws `failure` where the QP is broken.
	void send(std::span<const std::byte> bytes);

	enum class came { message, event, stop, nothing };
	// A message; an event of the channel (where it is readable); that `stop_fd` is
	// readable (-1: none); or nothing within the time. Throws as send().
	[[nodiscard]] came wait(clock::time_point until, const channel *events, int stop_fd = -1);
	// The message that came; valid until the next wait.
	[[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
	// Until all that was sent is out, or the time.
	void finish_sending(clock::time_point until);
	// Whence a datagram came becomes the peer.
	void answer_to_sender(std::uint32_t qkey);

private:
	static constexpr std::size_t slots = 8;
	static constexpr std::size_t grh_bytes = 40;
	static constexpr std::size_t slot_bytes = grh_bytes + 2048;

	void post_receive(std::size_t slot);
	// Takes what is complete; true where a message was.
	bool take_complete();
	void done(const ibv_wc &what);

	bool udp_;
	unsigned port_;
	std::vector<answer> answers_;
	ibv_device_attr limits_{};
	std::unique_ptr<ibv_pd, int (*)(ibv_pd *)> pd_;
	std::unique_ptr<ibv_comp_channel, int (*)(ibv_comp_channel *)> wakes_;
	std::unique_ptr<ibv_cq, int (*)(ibv_cq *)> cq_;
	std::vector<std::byte> memory_;
	std::unique_ptr<ibv_mr, int (*)(ibv_mr *)> mr_;
	std::unique_ptr<ibv_qp, int (*)(ibv_qp *)> qp_;
	std::unique_ptr<ibv_ah, int (*)(ibv_ah *)> ah_;
	std::uint32_t peer_qp_ = 0, peer_qkey_ = 0;
	std::size_t sending_ = 0, next_send_ = 0; // sends not complete; the next one's slot
	std::optional<std::size_t> held_;	  // receive slot that bytes_ is of
	ibv_wc last_{};				  // of the message that came
	std::span<const std::byte> bytes_;
};

} // namespace qpattr::tool::probe
