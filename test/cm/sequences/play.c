/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../programs/dump.h"

/* What errno is before a call: nothing that a call could set. */
enum { errno_before = 4000 };

void detail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	printf("    ");
	vprintf(format, list);
	printf("\n");
	va_end(list);
}

void dump_slot(struct slot *slot)
{
	if (slot->id && !slot->busy)
		dump_id(slot->id, slot->name);
}

static const struct operation *operation_named(const char *name)
{
	static const struct operation *const tables[] = { id_operations, connection_operations, qp_operations, event_operations };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct operation *operation = tables[i]; operation->name; operation++)
			if (!strcmp(operation->name, name))
				return operation;
	return NULL;
}

static void say_result(const struct call *call)
{
	if (call->result == -1 && call->error == errno_before)
		printf("= -1 without errno\n");
	else
		printf("%s\n", result_text(call->result, call->error).s);
}

static void *run(void *given)
{
	struct call *call = given;

	errno = errno_before;
	call->result = call->operation->make(call);
	call->error = errno;
	atomic_store(&call->done, true);
	return NULL;
}

static void ended(struct call *call)
{
	if (call->operation->after)
		call->operation->after(call);
	if (call->slot)
		dump_slot(call->slot);
	free(call);
}

/* True if it came back in time. */
static bool run_apart(struct call *call)
{
	if (pthread_create(&call->thread, NULL, run, call)) {
		printf("no thread\n");
		_exit(3);
	}
	for (int turn = 0; turn < 40 && !atomic_load(&call->done); turn++)
		usleep((useconds_t)world.quiet_us / 8);
	if (!atomic_load(&call->done))
		return false;
	pthread_join(call->thread, NULL);
	return true;
}

static struct call *read_line(int number, const char *line)
{
	struct call *call = calloc(1, sizeof(*call));
	char *rest;

	if (!call)
		abort();
	call->number = number;
	snprintf(call->line, sizeof(call->line), "%s", line);
	for (char *word = strtok_r(call->line, " ", &rest); word && call->words < WORDS; word = strtok_r(NULL, " ", &rest))
		call->word[call->words++] = word;
	if (call->words)
		call->operation = operation_named(call->word[0]);
	return call;
}

static const char *prepare(struct call *call)
{
	const struct operation *operation = call->operation;

	if (!operation)
		return "not understood";
	if (call->words <= operation->least_words)
		return "words are missing";
	if (operation->kind != ON_WORLD) {
		call->slot = slot_named(call->word[1]);
		if (!call->slot || !call->slot->id)
			return "no such id";
		if (call->slot->busy)
			return "busy";
		if (operation->kind == ON_DEVICE && !call->slot->id->verbs)
			return "avoided: no device";
	}
	return operation->prepare ? operation->prepare(call) : NULL;
}

void play(int number, const char *line)
{
	struct call *call = read_line(number, line);

	printf("%d %s: ", number, line);
	const char *left_out = prepare(call);
	if (left_out || !call->operation->make) {
		printf("%s\n", left_out ? left_out : "");
		if (!left_out && call->operation->after)
			call->operation->after(call);
		free(call);
		return;
	}
	/* Who reads this knows which call it was, if it never comes back. */
	fflush(stdout);
	bool waits = call->slot && ((call->operation->waits && call->slot->sync) || call->slot->held);
	if (!waits) {
		run(call);
	} else if (!run_apart(call)) {
		printf("waits\n");
		call->slot->busy = call;
		return;
	}
	say_result(call);
	if (call->operation->stirs)
		settle();
	ended(call);
}

void play_ended(void)
{
	for (int i = 0; i < ID_SLOTS; i++) {
		struct call *call = world.ids[i].busy;

		if (!call || !atomic_load(&call->done))
			continue;
		pthread_join(call->thread, NULL);
		world.ids[i].busy = NULL;
		printf("  then %d %s %s: ", call->number, call->word[0], call->word[1]);
		say_result(call);
		ended(call);
	}
}

/* --- the end ------------------------------------------------------------- */

static void play_text(const char *format, const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), format, name);
	play(-1, line);
	play_ended();
}

void play_end(void)
{
	settle();
	play_ended();
	for (int i = 0; i < ID_SLOTS; i++) {
		if (world.ids[i].busy)
			printf("-1 %s waits in %s\n", world.ids[i].name, world.ids[i].busy->word[0]);
		else
			dump_slot(&world.ids[i]);
	}
	for (int i = 0; i < EVENT_SLOTS; i++)
		if (world.events[i].event)
			play_text("ack %s", world.events[i].name);
	/* What came of a listener before the listener: stock's waits for it. */
	for (int i = ID_SLOTS; i-- > 0;) {
		struct slot *slot = &world.ids[i];

		if (!slot->id || slot->busy)
			continue;
		if (slot->id->qp)
			play_text("destroy_qp %s", slot->name);
		if (slot->id->srq)
			play_text("destroy_srq %s", slot->name);
		play_text("destroy %s", slot->name);
	}
	for (int i = 0; i < CHANNEL_SLOTS; i++)
		if (world.channels[i].channel)
			play_text("close %s", world.channels[i].name);
}
