/* SPDX-License-Identifier: MIT */
/* A case: one function called in one wrong way, in a process of its own. */
#ifndef MISUSE_CASE_H
#define MISUSE_CASE_H

#include <stdbool.h>
#include <stddef.h>

/* What may be said of a case beforehand; printed as mark=... */
enum mark {
	MARK_NONE,
	/* Memory that was freed is read by whoever does not know it: any result of stock's is chance. */
	MARK_UNDEFINED,
	/* A descriptor that answers nothing with success: the result is chance, but a result. */
	MARK_CHANCE,
	/* The man page says that the call waits here: it has to. */
	MARK_WAITS,
};

struct misuse {
	const char *function;
	char *name;
	enum mark mark;
	/* Runs while no other case does: ports and the kernel's id numbers are the machine's. */
	bool alone;
	/* What stock lets through to the kernel leaves it damaged: run when asked for only. */
	bool harms_kernel;
	/* Sets the scene, calls the function once between attempt_begin() and attempt_end_*(). */
	void (*body)(const struct misuse *self);
	/* The body's own. */
	int a, b, c, d;
	const void *p;
};

struct misuse_list {
	struct misuse *cases;
	size_t count, room;
};

struct misuse *misuse_add(struct misuse_list *list, const char *function, void (*body)(const struct misuse *),
			  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* One a file of cases. */
void cases_of_states(struct misuse_list *list);
void cases_of_damage(struct misuse_list *list);
void cases_of_channels(struct misuse_list *list);
void cases_of_events(struct misuse_list *list);
void cases_of_addresses(struct misuse_list *list);
void cases_of_addrinfo(struct misuse_list *list);
void cases_of_endpoints(struct misuse_list *list);
void cases_of_queues(struct misuse_list *list);
void cases_of_connections(struct misuse_list *list);
void cases_of_options(struct misuse_list *list);
void cases_of_multicast(struct misuse_list *list);
void cases_of_repeats(struct misuse_list *list);
void cases_of_later(struct misuse_list *list);

#endif
