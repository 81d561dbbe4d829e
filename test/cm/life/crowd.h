/* SPDX-License-Identifier: MIT */
/* Sixteen threads of one process that connect to it, each so many times in turn. */
#pragma once

enum { crowd_threads = 16 };

/* On a pair of channels each. Connections that came to their end. */
long crowd_on_own_channels(int each);
/* All on one channel, of which four more threads read the events. Connections that came
 * to their end; the program ends, as by MUST, where a call fails, where an event comes
 * that nobody awaits, or none for a minute. */
long crowd_on_one_channel(int each);
