/* SPDX-License-Identifier: MIT */
/* What a program says about itself: a line 'ok - NAME' or 'not ok - NAME: why' for each check. */
#pragma once

/* Put before every name, as "pingpong: sync, client: ". */
void check_prefix(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns good. The why is printed if it is not, with errno as it was. */
int check(int good, const char *name, const char *why, ...) __attribute__((format(printf, 3, 4)));
/* check that a call returned 0; the process ends if not, as nothing after makes sense. */
#define MUST(call) must_((call) == 0, #call)
/* The same for a pointer that must not be NULL, whose value it has. */
#define HAVE(call) \
	({ \
		__auto_type have_ = (call); \
		must_(have_ != 0, #call); \
		have_; \
	})
void must_(int good, const char *call);
/* For main: 0 if all was good. */
int check_status(void);
