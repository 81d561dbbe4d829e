/* SPDX-License-Identifier: MIT */
#pragma once

/* Tells how many channels, ids, events and groups there is room for until ours allocates:
 * fewer than usual, if some are lost. */
void tell_room(void);
