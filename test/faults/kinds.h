/* SPDX-License-Identifier: MIT */
/* Connections of this process to itself, of each kind that there is; in each every step
 * of both ends, and then all is destroyed. Status: `failed` of steps.h. */
#pragma once

/* An id of RC with a channel at either end. */
void connection(void);
/* The same of UD; a third id joins a group and leaves it, and is in another at its end. */
void datagrams(void);
/* Endpoints without channels, whose calls wait; the passive one on a thread. */
void synchronous(void);

/* The thread of synchronous(), which must be there before, and must end. */
void begin_thread(void);
void end_thread(void);
