// SPDX-License-Identifier: MIT
// Events that a thread had taken from the kernel when it was cancelled: libc may
// act on a cancellation when the system call is already done. They are for the
// channel's next reader.
#pragma once

#include <cstdint>

namespace qpattr::cm {

struct event_record;
struct group;
struct identifier;

// What a reader had in hand, if the kernel had written it: else it is given back.
void leave_event(event_record *in_hand) noexcept;

// The first that was left on this channel, or nullptr.
[[nodiscard]] event_record *take_left_event(int fd) noexcept;

// A channel, id or group ends: its events are nobody's any more.
void forget_left_events(int fd) noexcept;
void forget_left_events(const identifier &id) noexcept;
void forget_left_events(const group &of) noexcept;

// An id moves to another channel and takes its events along: how many they were.
[[nodiscard]] std::uint32_t move_left_events(const identifier &id, int fd) noexcept;

} // namespace qpattr::cm
