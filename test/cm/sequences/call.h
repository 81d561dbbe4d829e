/* SPDX-License-Identifier: MIT */
/* One step: a line of words, of which the first names an operation. An operation looks
 * at its words, makes the call, here or in a thread where it may wait, and then says
 * what became of it. */
#ifndef SEQUENCES_CALL_H
#define SEQUENCES_CALL_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>

#include "world.h"

enum { WORDS = 12 };

struct operation;

struct call {
	const struct operation *operation;
	int number;
	char line[160];
	int words;
	char *word[WORDS];
	/* Of the id that the first word names, if the operation is one on an id. */
	struct slot *slot;
	/* Arguments, as the operation read them. */
	struct sockaddr_storage address[2];
	struct rdma_conn_param param;
	unsigned char data[256];
	struct ibv_qp_init_attr_ex qp;
	struct ibv_srq_init_attr srq;
	struct ibv_qp_attr attr;
	int mask;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *made;
	/* In a thread. */
	pthread_t thread;
	atomic_bool done;
	int result, error;
};

enum kind {
	ON_WORLD, /* its words name what it acts on */
	ON_ID,	  /* the first word is an id that there is, and that no call is under way on */
	ON_DEVICE, /* besides, it has a device: without one stock crashes (`misuse` has that) */
};

struct operation {
	const char *name;
	enum kind kind;
	int least_words;
	/* Reads the words. NULL, or why the step is left out. */
	const char *(*prepare)(struct call *call);
	/* The call itself; result and errno are taken. NULL: prepare has done it all. */
	int (*make)(struct call *call);
	/* After it. */
	void (*after)(struct call *call);
	/* Whether it waits for an event, on an id without a channel. */
	bool waits;
	/* Whether something happens by itself afterwards. */
	bool stirs;
};

extern const struct operation id_operations[], connection_operations[], qp_operations[], event_operations[];

/* Plays one line; prints what became of it. */
void play(int number, const char *line);
/* What is under way and has come to its end since. */
void play_ended(void);
/* Ends everything, as a program that is done would. */
void play_end(void);

/* `detail`: one more line about the step. */
void detail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dump_slot(struct slot *slot);

#endif
