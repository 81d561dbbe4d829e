/* SPDX-License-Identifier: MIT */
#include "runner.h"

#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
	pid_t pid;
	int fd;
	size_t index;
	bool begun;
	int extended;
	long long deadline_ms;
	char text[1200];
	size_t used;
};

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void start(struct job *job, const struct misuse_list *list, size_t index, const struct runner_limits *limits)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC)) {
		perror("misuse: pipe");
		exit(2);
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0) {
		perror("misuse: fork");
		exit(2);
	}
	if (pid == 0) {
		close(ends[0]);
		/* Its own children, if it makes any, end with it. */
		setpgid(0, 0);
		attempt_run(&list->cases[index], ends[1]);
	}
	close(ends[1]);
	memset(job, 0, sizeof(*job));
	job->pid = pid;
	job->fd = ends[0];
	job->index = index;
	job->deadline_ms = now_ms() + limits->scene_ms;
}

/* Reads what the child says. True once the job is over; then text is its line. */
static bool hear(struct job *job, const struct runner_limits *limits)
{
	char piece[1024];
	ssize_t n = read(job->fd, piece, sizeof(piece));

	if (n <= 0) {
		snprintf(job->text, sizeof(job->text), "%sended without a word", job->begun ? "" : "scene: ");
		return true;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (!job->begun && !job->used && piece[i] == 'B') {
			job->begun = true;
			job->deadline_ms = now_ms() + limits->call_ms;
		} else if (piece[i] == '\n') {
			job->text[job->used] = 0;
			return true;
		} else if (job->used < sizeof(job->text) - 1) {
			job->text[job->used++] = piece[i];
		}
	}
	return false;
}

/* On a busy machine a call can be slow: who can run has not hung, for a while. */
static bool can_run(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *stat = fopen(path, "re");
	if (!stat)
		return false;
	if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(stat);
	return state == 'R';
}

/* A process that the kernel does not let go stays behind; it is not waited for. */
static void end(struct job *job)
{
	if (kill(-job->pid, SIGKILL))
		kill(job->pid, SIGKILL);
	close(job->fd);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	job->pid = 0;
}

static char *line_of(const struct misuse *self, const char *outcome)
{
	static const char *const marks[] = { "", " mark=undefined", " mark=chance", " mark=waits" };
	char *line;

	if (asprintf(&line, "%s / %s: %s%s", self->function, self->name, outcome, marks[self->mark]) < 0)
		abort();
	return line;
}

struct run {
	const struct misuse_list *list;
	const struct runner_limits *limits;
	struct job *jobs;
	struct pollfd *polls;
	char **lines;
	size_t next, printed, bad;
	int running;
	/* What runs wants no other beside it. */
	bool taken;
};

static void start_some(struct run *run)
{
	for (int i = 0; i < run->limits->jobs && run->next < run->list->count; i++) {
		const struct misuse *self = &run->list->cases[run->next];

		if (run->jobs[i].pid || (run->running && (self->alone || run->taken)))
			continue;
		if (self->harms_kernel && !run->limits->harmful) {
			run->lines[run->next++] = line_of(self, "not run");
			continue;
		}
		start(&run->jobs[i], run->list, run->next++, run->limits);
		run->running++;
		run->taken = self->alone;
	}
}

/* Until somebody says something, or has had time enough. */
static void wait_for_some(struct run *run)
{
	long long soonest = now_ms() + 60000;

	for (int i = 0; i < run->limits->jobs; i++) {
		const struct job *job = &run->jobs[i];

		run->polls[i] = (struct pollfd){ .fd = job->pid ? job->fd : -1, .events = POLLIN };
		if (job->pid && job->deadline_ms < soonest)
			soonest = job->deadline_ms;
	}
	long long wait_ms = soonest - now_ms();
	if (run->running)
		poll(run->polls, (nfds_t)run->limits->jobs, wait_ms > 0 ? (int)wait_ms : 0);
}

static void hear_some(struct run *run)
{
	for (int i = 0; i < run->limits->jobs; i++) {
		struct job *job = &run->jobs[i];

		if (!job->pid)
			continue;
		if (run->polls[i].revents) {
			if (!hear(job, run->limits))
				continue;
		} else if (now_ms() < job->deadline_ms) {
			continue;
		} else if (job->extended++ < 4 && can_run(job->pid)) {
			job->deadline_ms = now_ms() + run->limits->call_ms / 2;
			continue;
		} else {
			snprintf(job->text, sizeof(job->text), "%s", job->begun ? "hang" : "scene: hang");
		}
		run->bad += !strncmp(job->text, "scene", 5) || !strncmp(job->text, "afterwards", 10);
		run->lines[job->index] = line_of(&run->list->cases[job->index], job->text);
		end(job);
		run->running--;
	}
}

size_t runner_run(const struct misuse_list *list, const struct runner_limits *limits)
{
	struct run run = { .list = list, .limits = limits };

	run.lines = calloc(list->count + 1, sizeof(*run.lines));
	run.jobs = calloc((size_t)limits->jobs, sizeof(*run.jobs));
	run.polls = calloc((size_t)limits->jobs, sizeof(*run.polls));
	if (!run.lines || !run.jobs || !run.polls)
		abort();
	while (run.printed < list->count) {
		start_some(&run);
		wait_for_some(&run);
		hear_some(&run);
		for (; run.printed < list->count && run.lines[run.printed]; run.printed++) {
			puts(run.lines[run.printed]);
			free(run.lines[run.printed]);
		}
		fflush(stdout);
	}
	/* Closing the device after a misused reject takes the kernel up to 100 s, and
	 * the device cannot be removed before. */
	while (!limits->leave && waitpid(-1, NULL, 0) > 0)
		;
	free(run.lines);
	free(run.jobs);
	free(run.polls);
	return run.bad;
}
